// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Closes TCP connections that do not authenticate in time, even if they keep sending data.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Maximum time for a connection to send a request with the token or a browser session.
const UNADMITTED_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether a request on this connection has been admitted.
#[derive(Debug, Clone, Default)]
pub(super) struct Admission(Arc<AtomicBool>);

impl Admission {
    /// Marks the connection as admitted, so that it stays open.
    pub(super) fn grant(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Returns once the time is over and no request has been admitted.
    pub(super) async fn wait_expired(&self) {
        tokio::time::sleep(UNADMITTED_TIMEOUT).await;
        if self.0.load(Ordering::Acquire) {
            std::future::pending::<()>().await;
        }
    }
}
