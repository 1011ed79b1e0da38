// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs work until it is done or a signal ends it.

use tenterhook_event::{HookCall, Outcome};
use tenterhook_guard::CallPipeline;
use tokio::signal::unix::{SignalKind, signal};

use crate::error::CommandError;

/// Runs one call through the pipeline. A runtime is built only if a hook has to run.
pub fn fire_until_signal(road: &CallPipeline, call: &HookCall) -> Result<Outcome, CommandError> {
    if let Some(outcome) = road.fire_now(call) {
        return Ok(outcome);
    }
    run_until_signal(async { Ok(road.fire(call).await) })
}

/// Runs work until it is done or a signal arrives. A signal also ends the processes that the work started. Running
/// hooks that only observe (`async`) are not awaited.
pub fn run_until_signal<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        let signals = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        let [Ok(mut term), Ok(mut int), Ok(mut hup)] = signals.map(signal) else { return work.await };
        tokio::select! {
            result = work => result,
            _ = term.recv() => Err(interrupted_error()),
            _ = int.recv() => Err(interrupted_error()),
            _ = hup.recv() => Err(interrupted_error()),
        }
    });
    runtime.shutdown_background();
    result
}

fn interrupted_error() -> CommandError {
    CommandError::user("interrupted by a signal before the reply was ready")
}
