// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Work that ends when somebody tells us to.

use tenterhook_event::{Call, Outcome};
use tenterhook_guard::Road;
use tokio::signal::unix::{SignalKind, signal};

use crate::error::CommandError;

/// Takes one call down the road.
pub(crate) fn fire(road: &Road, call: &Call) -> Result<Outcome, CommandError> {
    until_told_to_end(async { Ok(road.fire(call).await) })
}

/// Runs to the end, or until somebody ends us: then what was started is ended too. Observers that
/// are still under way are not waited for.
pub(crate) fn until_told_to_end<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        let signals = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        let [Ok(mut term), Ok(mut int), Ok(mut hup)] = signals.map(signal) else { return work.await };
        tokio::select! {
            result = work => result,
            _ = term.recv() => Err(ended()),
            _ = int.recv() => Err(ended()),
            _ = hup.recv() => Err(ended()),
        }
    });
    runtime.shutdown_background();
    result
}

fn ended() -> CommandError {
    CommandError::user("ended by a signal before there was an answer")
}
