// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The seams of the road: who judges, and who records.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;
use tenterhook_event::{Decided, Event, Finding, Step, Touch};

/// A future on the heap, so that traits can have async functions and still be objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What the rules said about one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgement {
    /// What each matching rule found.
    pub findings: Vec<Finding>,
    /// Which rules matched, for the trace.
    pub steps: Vec<Step>,
    /// What was observed of the machine to judge by, an object, if anything: it is recorded, so that the
    /// event can be judged again by what was there.
    pub observed: Option<Value>,
    /// What the call does to files, for whoever looks on; absent if no rule had to know.
    pub touched: Option<Vec<Touch>>,
}

/// Judges an event by rules. The same event, rules and observations give the same findings.
pub trait Judge: Send + Sync {
    /// What the rules say about this event.
    fn judge(&self, event: &Event) -> Judgement;
}

/// Remembers what was decided.
pub trait Recorder: Send + Sync {
    /// Returns once the record would survive.
    fn record<'a>(&'a self, decided: Decided<'a>) -> BoxFuture<'a, Result<(), RecordError>>;
}

/// The record could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RecordError(pub String);

/// No rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJudge;

/// No memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRecorder;

impl<J: Judge + ?Sized> Judge for std::sync::Arc<J> {
    fn judge(&self, event: &Event) -> Judgement {
        (**self).judge(event)
    }
}

impl Judge for NoJudge {
    fn judge(&self, _event: &Event) -> Judgement {
        Judgement::default()
    }
}

impl Recorder for NoRecorder {
    fn record<'a>(&'a self, _decided: Decided<'a>) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
