// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook that is a Rust closure.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tenterhook_event::{Event, Finding};

use super::Failure;
use crate::BoxFuture;

pub(super) async fn run(
    f: &(dyn Fn(Arc<Event>) -> BoxFuture<'static, Finding> + Send + Sync),
    event: Arc<Event>,
    timeout: Duration,
) -> Result<Finding, Failure> {
    // A panic in somebody's closure is that hook's failure, never the end of the guard.
    let called = std::panic::catch_unwind(AssertUnwindSafe(|| f(event)));
    let Ok(future) = called else { return Err(panicked()) };
    match tokio::time::timeout(timeout, AssertUnwindSafe(future).catch_unwind()).await {
        Ok(Ok(finding)) => Ok(finding),
        Ok(Err(_)) => Err(panicked()),
        Err(_) => Err(Failure::TimedOut),
    }
}

fn panicked() -> Failure {
    Failure::Failed("it panicked".to_owned())
}
