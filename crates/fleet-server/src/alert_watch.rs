// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Periodic work: machines that have been silent for too long, and nonces that have expired.

use std::time::Duration;

use tokio::sync::watch;

use crate::ingest::wait_for_stop;
use crate::store::Store;

/// Runs until the server stops. Every copy of the server does the same work; the database keeps one alert.
pub(crate) async fn run_alert_watch(
    store: Store,
    tenants: Vec<String>,
    silent_after: Duration,
    mut stop: watch::Receiver<bool>,
) {
    let interval = (silent_after / 4).clamp(Duration::from_millis(500), Duration::from_mins(1));
    loop {
        tokio::select! {
            () = wait_for_stop(&mut stop) => return,
            () = tokio::time::sleep(interval) => {}
        }
        for tenant in &tenants {
            match store.watch_silent_machines(tenant, silent_after).await {
                Ok(0) => {}
                Ok(count) => tracing::warn!(tenant, count, "machines are silent"),
                Err(error) => tracing::warn!(%error, "silent machines cannot be found"),
            }
        }
        if let Err(error) = store.remove_old_nonces().await {
            tracing::warn!(%error, "expired nonces cannot be removed");
        }
    }
}
