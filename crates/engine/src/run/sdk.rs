// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs hooks that are functions in other programs, connected through an SDK.
//!
//! Such a program is an [`SdkClient`]: it opens a stream, receives calls on the stream and replies in any order. This
//! module does not depend on the stream's transport. The daemon uses gRPC.
//!
//! A client that is slow, disconnected or sends invalid replies affects only its own hooks. Each of these hooks fails
//! as its settings say. Only calls that need an answer from the client wait for it.

mod client;
mod messages;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tenterhook_event::{Decision, Event, HookCall, Origin};
use tenterhook_harness::dialect::a3s::{self, A3sSessionContext};
use tenterhook_harness::dialect::{InterpretedOutput, InvalidOutput};
use tokio::time::Instant;

pub use client::{
    MAX_PENDING_CALLS, MAX_QUEUED_EVENTS, RECONNECT_GRACE, RejectedReply, SdkClient, SdkStream,
};
pub use messages::{CancelReason, HandlerError, SdkCall, SdkMessage, SdkReply};
pub use tenterhook_harness::dialect::a3s::{A3sAction, A3sAnswer};

use super::RunFailure;
use crate::{BoxFuture, Hook};

/// A hook that is a function in another program.
#[derive(Clone)]
pub struct SdkHook {
    /// Connected program that answers the calls.
    pub client: Arc<SdkClient>,
    /// Session data and the audit log for the hook.
    pub context: Arc<dyn HookContext>,
}

/// Provides session data and the audit log for SDK hooks. The embedding program implements this trait.
pub trait HookContext: Send + Sync {
    /// Returns the data about the event's session that becomes part of the payload.
    fn session(&self, event: &Event) -> A3sSessionContext {
        let _ = event;
        A3sSessionContext::default()
    }

    /// Returns whether notes of this kind are recorded.
    fn records(&self, kind: HookAuditKind) -> bool {
        let _ = kind;
        false
    }

    /// Records a note. The hook call waits for it.
    fn record_note<'a>(&'a self, note: HookAuditNote<'a>) -> BoxFuture<'a, ()> {
        let _ = note;
        Box::pin(std::future::ready(()))
    }
}

/// A [`HookContext`] without session data and without an audit log.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHookContext;

impl HookContext for NoHookContext {}

/// What an audit note about a hook reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookAuditKind {
    /// The hook was called.
    Started,
    /// The hook answered.
    Completed,
    /// The hook denied the call.
    Blocked,
    /// The hook changed the call or added context.
    Modified,
    /// The hook failed.
    Failed,
}

/// One audit note about a hook.
#[derive(Debug)]
pub struct HookAuditNote<'a> {
    /// Kind of the note.
    pub kind: HookAuditKind,
    /// Hook that the note is about.
    pub hook: &'a Hook,
    /// Name of the program that the hook belongs to.
    pub client: &'a str,
    /// The event for which the hook was called.
    pub event: &'a Event,
    /// Id of the call.
    pub call_id: u64,
    /// Reason given by the hook, or the error.
    pub reason: Option<&'a str>,
    /// Time since the start of the call.
    pub took: Duration,
}

pub(super) async fn run(
    sdk_hook: &SdkHook,
    hook: &Hook,
    call: &HookCall,
    by: Origin,
    timeout: Duration,
    attempt: u32,
) -> Result<InterpretedOutput, RunFailure> {
    let SdkHook { client, context } = sdk_hook;
    let began = Instant::now();
    let session = context.session(&call.event);
    let sdk_call = SdkCall::new(hook, call, &session, Some(began + timeout), attempt);
    let call_id = sdk_call.call_id;
    let note = |kind, reason| {
        let took = began.elapsed();
        HookAuditNote { kind, hook, client: client.name(), event: &call.event, call_id, reason, took }
    };
    if context.records(HookAuditKind::Started) {
        context.record_note(note(HookAuditKind::Started, None)).await;
    }
    let replied = client.call(sdk_call, timeout).await;
    let answer = replied.and_then(|reply| {
        a3s::interpret_answer(&call.event, by, reply).map_err(|InvalidOutput(why)| {
            client.refuse_reply(call_id, &why);
            RunFailure::Failed(why)
        })
    });
    for kind in outcome_events(&answer).into_iter().flatten().filter(|kind| context.records(*kind)) {
        let reason = match &answer {
            Ok(answer) => answer.finding.reason.as_deref(),
            Err(RunFailure::Failed(why) | RunFailure::Unreachable(why)) => Some(why.as_str()),
            Err(RunFailure::TimedOut) => Some("no answer in time"),
        };
        context.record_note(note(kind, reason)).await;
    }
    answer
}

/// Notifies an observer. The result does not affect the call.
pub(super) fn observe(sdk_hook: &SdkHook, hook: &Hook, call: &HookCall) {
    let session = sdk_hook.context.session(&call.event);
    sdk_hook.client.notify(SdkCall::new(hook, call, &session, None, 1));
}

/// Returns the audit notes to record for the result of a call.
fn outcome_events(answer: &Result<InterpretedOutput, RunFailure>) -> [Option<HookAuditKind>; 3] {
    match answer {
        Err(_) => [Some(HookAuditKind::Failed), None, None],
        Ok(answer) => {
            let finding = &answer.finding;
            let changes = !finding.modifications.is_empty() || finding.context.is_some();
            let blocks = finding.decision == Decision::Deny;
            [
                Some(HookAuditKind::Completed),
                changes.then_some(HookAuditKind::Modified),
                blocks.then_some(HookAuditKind::Blocked),
            ]
        }
    }
}

impl fmt::Debug for SdkHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SdkHook").field("client", &self.client.name()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
