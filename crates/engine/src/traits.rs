// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The traits that an embedding program implements: [`Judge`] evaluates rules and [`Recorder`] stores decisions.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;
use tenterhook_event::{DecidedCall, Event, Finding, PathEffect, TraceEntry};

/// A boxed future. Traits whose functions return it can be used as trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The result of evaluating the rules on one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RuleJudgement {
    /// The finding of each rule that matched.
    pub findings: Vec<Finding>,
    /// Trace entries of the rules that matched.
    pub steps: Vec<TraceEntry>,
    /// Facts about the machine that the rules used, as a JSON object. They are recorded, so that the event can be
    /// evaluated again under the same conditions.
    pub observed: Option<Value>,
    /// Effects of the call on files, for observers; `None` if no rule needed them.
    pub file_effects: Option<Vec<PathEffect>>,
}

/// Evaluates rules on events. The same event, rules and observed facts always give the same findings.
///
/// ```
/// use tenterhook_engine::{Engine, Judge, RuleJudgement};
/// use tenterhook_event::{Decision, Event, Finding, Origin};
///
/// struct NoSudo;
///
/// impl Judge for NoSudo {
///     fn judge(&self, event: &Event) -> RuleJudgement {
///         let command = event.tool.as_ref().map(|tool| tool.gist());
///         let findings = match command.filter(|command| command.starts_with("sudo ")) {
///             Some(_) => vec![Finding::decided(Origin::rule("no-sudo"), Decision::Deny, "sudo is not allowed")],
///             None => Vec::new(),
///         };
///         RuleJudgement { findings, ..RuleJudgement::default() }
///     }
/// }
///
/// let engine = Engine::builder().judge(NoSudo).build()?;
/// # Ok::<(), tenterhook_engine::RegisterError>(())
/// ```
pub trait Judge: Send + Sync {
    /// Evaluates all rules on this event.
    fn judge(&self, event: &Event) -> RuleJudgement;

    /// Evaluates all rules on an event of a call that a user account of this machine makes. A judge that reads files
    /// for other accounts must read them with the rights of that account.
    fn judge_for_account(&self, event: &Event, account: u32) -> RuleJudgement {
        let _ = account;
        self.judge(event)
    }
}

/// Stores decisions, for example in a ledger. If a decision cannot be recorded, the engine denies the call, provided
/// the call can still be prevented.
pub trait Recorder: Send + Sync {
    /// Stores a decision. The future completes once the record is durable.
    fn record<'a>(&'a self, decided: DecidedCall<'a>) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Returns the recorder for callers without a runtime, if it can record on the calling thread.
    fn blocking(&self) -> Option<&dyn BlockingRecorder> {
        None
    }
}

/// Stores decisions on the calling thread, without a runtime.
pub trait BlockingRecorder {
    /// Stores a decision. Returns once the record is durable.
    fn record_now(&self, decided: &DecidedCall<'_>) -> Result<(), RecordError>;
}

/// The error of a decision that could not be recorded.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RecordError(pub String);

/// A [`Judge`] without rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJudge;

/// A [`Recorder`] that stores nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRecorder;

impl<J: Judge + ?Sized> Judge for std::sync::Arc<J> {
    fn judge(&self, event: &Event) -> RuleJudgement {
        (**self).judge(event)
    }

    fn judge_for_account(&self, event: &Event, account: u32) -> RuleJudgement {
        (**self).judge_for_account(event, account)
    }
}

impl Judge for NoJudge {
    fn judge(&self, _event: &Event) -> RuleJudgement {
        RuleJudgement::default()
    }
}

impl Recorder for NoRecorder {
    fn record<'a>(&'a self, _decided: DecidedCall<'a>) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn blocking(&self) -> Option<&dyn BlockingRecorder> {
        Some(self)
    }
}

impl BlockingRecorder for NoRecorder {
    fn record_now(&self, _decided: &DecidedCall<'_>) -> Result<(), RecordError> {
        Ok(())
    }
}
