// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reports checkpoints that did not reach a sink, and witness cosignatures that could not be stored.

use std::sync::Arc;
use std::time::Duration;

use tenterhook_api::{LiveEvent, LiveWarning};
use tenterhook_guard::SinkErrors;

use crate::daemon::Daemon;

/// Interval at which the ledger's reports are read.
const REPORT_INTERVAL: Duration = Duration::from_secs(5);

/// Logs new sink errors and publishes them in the live stream.
pub(crate) async fn watch(daemon: Arc<Daemon>) {
    let mut reported = SinkErrors::default();
    loop {
        for message in reported.take_new(daemon.ledger.sink_reports()) {
            tracing::warn!("{message}");
            daemon.observers.live.publish(|| {
                LiveEvent::Warning(LiveWarning { what: message.clone(), ..LiveWarning::default() })
            });
        }
        tokio::time::sleep(REPORT_INTERVAL).await;
    }
}
