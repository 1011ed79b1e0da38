// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook that is a Rust closure.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tenterhook_event::{Call, Event};
use tenterhook_harness::dialect::Heard;

use super::Failure;
use crate::BoxFuture;

type Closure = dyn Fn(Arc<Event>) -> BoxFuture<'static, Heard> + Send + Sync;

pub(super) async fn run(f: &Closure, call: &Call, timeout: Duration) -> Result<Heard, Failure> {
    let event = Arc::new(call.event.clone());
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
pub(super) fn observe(f: &Arc<Closure>, call: &Call, timeout: Duration) {
    let (f, call) = (Arc::clone(f), call.clone());
    tokio::spawn(async move { run(f.as_ref(), &call, timeout).await });
}

fn panicked() -> Failure {
    Failure::Failed("it panicked".to_owned())
}
