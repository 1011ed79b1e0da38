// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook that is a Rust closure.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tenterhook_event::Event;
use tenterhook_harness::dialect::Heard;

use super::Failure;
use crate::BoxFuture;

type Closure = dyn Fn(Arc<Event>) -> BoxFuture<'static, Heard> + Send + Sync;

pub(super) async fn run(f: &Closure, event: Arc<Event>, timeout: Duration) -> Result<Heard, Failure> {
    // A panic in somebody's closure is that hook's failure, never the end of the guard.
    let called = std::panic::catch_unwind(AssertUnwindSafe(|| f(event)));
    let Ok(future) = called else { return Err(panicked()) };
    match tokio::time::timeout(timeout, AssertUnwindSafe(future).catch_unwind()).await {
        Ok(Ok(heard)) => Ok(heard),
        Ok(Err(_)) => Err(panicked()),
        Err(_) => Err(Failure::TimedOut),
    }
}

/// Runs it beside the road; a panic ends only its own task.
pub(super) fn observe(f: &Arc<Closure>, event: Arc<Event>, timeout: Duration) {
    let f = Arc::clone(f);
    tokio::spawn(async move { run(f.as_ref(), event, timeout).await });
}

fn panicked() -> Failure {
    Failure::Failed("it panicked".to_owned())
}
