// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Connections over TCP that have not shown who they are yet: they are closed after a while, even if they send data.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a connection may stay open without a request that showed the token or a browser session.
const UNADMITTED_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether a request on this connection was admitted.
#[derive(Debug, Clone, Default)]
pub(super) struct Admission(Arc<AtomicBool>);

impl Admission {
    /// A request was admitted: the connection may stay.
    pub(super) fn grant(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Returns when the connection has had its time without being admitted.
    pub(super) async fn expired(&self) {
        tokio::time::sleep(UNADMITTED_TIMEOUT).await;
        if self.0.load(Ordering::Acquire) {
            std::future::pending::<()>().await;
        }
    }
}
