// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs hooks that are Rust closures.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tenterhook_event::Event;
use tenterhook_harness::dialect::InterpretedOutput;

use super::RunFailure;
use crate::BoxFuture;

type HookClosure = dyn Fn(Arc<Event>) -> BoxFuture<'static, InterpretedOutput> + Send + Sync;

pub(super) async fn run(
    f: &HookClosure,
    event: Arc<Event>,
    timeout: Duration,
) -> Result<InterpretedOutput, RunFailure> {
    // A panic in a closure is a failure of that hook and must not end the process.
    let called = std::panic::catch_unwind(AssertUnwindSafe(|| f(event)));
    let Ok(future) = called else { return Err(panic_failure()) };
    match tokio::time::timeout(timeout, AssertUnwindSafe(future).catch_unwind()).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(_)) => Err(panic_failure()),
        Err(_) => Err(RunFailure::TimedOut),
    }
}

/// Runs the closure in the background; a panic ends only its own task.
pub(super) fn observe(f: &Arc<HookClosure>, event: Arc<Event>, timeout: Duration) {
    let f = Arc::clone(f);
    tokio::spawn(async move { run(f.as_ref(), event, timeout).await });
}

fn panic_failure() -> RunFailure {
    RunFailure::Failed("the hook panicked".to_owned())
}
