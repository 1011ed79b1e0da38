// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Closes TCP connections that do not authenticate in time, even if they send data.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time for a connection to send a request with the token or a browser session.
const UNADMITTED_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether a request on this connection was admitted.
#[derive(Debug, Clone, Default)]
pub(super) struct Admission(Arc<AtomicBool>);

impl Admission {
    /// Keeps the connection open: a request was admitted.
    pub(super) fn grant(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Returns when the time is over and no request was admitted.
    pub(super) async fn wait_expired(&self) {
        tokio::time::sleep(UNADMITTED_TIMEOUT).await;
        if self.0.load(Ordering::Acquire) {
            std::future::pending::<()>().await;
        }
    }
}
