// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines permission modes, and asks the user for permission.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tenterhook_event::{Decision, EventKind, Outcome, ToolCall as Tool, ToolClass};

use crate::activity::AgentActivity;
use crate::event_draft::EventDraft;
use crate::provider::ModelToolCall;
use crate::session::AgentSession;
use crate::{CancelToken, TurnError};

/// What the agent may do without asking the user. If a hook or rule decides `ask`, the user is asked in every mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PermissionMode {
    /// Reading is allowed; every change needs permission.
    #[default]
    Default,
    /// Reading and file changes are allowed; other actions need permission.
    AcceptEdits,
    /// Reading is allowed; every change is denied.
    Plan,
    /// Everything is allowed, subject to hooks and rules.
    BypassPermissions,
    /// Reading is allowed; actions that need permission are denied without asking.
    DontAsk,
}

/// Every mode with its name on the command line.
const MODES: &[(PermissionMode, &str)] = &[
    (PermissionMode::Default, "default"),
    (PermissionMode::AcceptEdits, "acceptEdits"),
    (PermissionMode::Plan, "plan"),
    (PermissionMode::BypassPermissions, "bypassPermissions"),
    (PermissionMode::DontAsk, "dontAsk"),
];

/// Asks the user for permission.
pub trait PermissionPrompt: Send + Sync {
    /// Asks the user. The future is dropped when the turn is cancelled.
    fn ask<'a>(&'a self, question: &'a PermissionQuestion) -> BoxFuture<'a, PermissionAnswer>;
}

/// A request for permission to run a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionQuestion {
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the call.
    pub args: Value,
    /// Reason given by the hook or rule that decided `ask`.
    pub reason: Option<String>,
}

/// The user's answer to a permission question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionAnswer {
    /// The tool may run.
    Yes,
    /// The tool may not run.
    No {
        /// Reason, if the user gave one.
        reason: Option<String>,
    },
    /// No user is available to answer.
    Unavailable,
}

/// Answers every question with [`PermissionAnswer::Unavailable`], for runs without a user.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPermissionPrompt;

impl PermissionPrompt for NoPermissionPrompt {
    fn ask<'a>(&'a self, _: &'a PermissionQuestion) -> BoxFuture<'a, PermissionAnswer> {
        Box::pin(std::future::ready(PermissionAnswer::Unavailable))
    }
}

/// Result of requesting permission for a tool call.
pub(crate) enum PermissionResult {
    /// The tool may run. Contains new arguments if a hook changed them.
    Yes(Option<Value>),
    No(String),
}

// === impl PermissionMode ===

impl PermissionMode {
    /// Returns the name of the mode on the command line.
    pub fn name(self) -> &'static str {
        MODES.iter().find(|(mode, _)| *mode == self).map_or("default", |(_, name)| name)
    }

    /// Looks up a mode by name.
    pub fn from_name(name: &str) -> Option<Self> {
        MODES.iter().find(|(_, known)| *known == name).map(|(mode, _)| *mode)
    }

    /// Returns the names of all modes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        MODES.iter().map(|(_, name)| *name)
    }

    /// Returns what this mode requires before a tool runs, for calls that no hook or rule decided.
    fn need_for(self, class: ToolClass) -> PermissionNeed {
        let reads = matches!(class, ToolClass::Read | ToolClass::Search | ToolClass::Todo | ToolClass::Agent);
        let edits = matches!(class, ToolClass::Write | ToolClass::Edit | ToolClass::Patch);
        match self {
            _ if reads => PermissionNeed::Nothing,
            Self::BypassPermissions => PermissionNeed::Nothing,
            Self::AcceptEdits if edits => PermissionNeed::Nothing,
            Self::Plan => {
                PermissionNeed::Refusal("plan mode allows no changes; describe what you would do instead")
            }
            Self::DontAsk => PermissionNeed::Refusal(
                "this call needs permission, but permission mode `dontAsk` does not ask the user",
            ),
            Self::Default | Self::AcceptEdits => PermissionNeed::PermissionQuestion,
        }
    }
}

/// What a mode requires before a tool runs.
enum PermissionNeed {
    Nothing,
    PermissionQuestion,
    Refusal(&'static str),
}

/// Returns the reason if an outcome prevents a step other than a tool call. If the decision is `ask`, the user is
/// asked first.
pub(crate) async fn check_objection(
    session: &AgentSession,
    outcome: &Outcome,
    what: &str,
    cancel: &CancelToken,
) -> Result<Option<String>, TurnError> {
    let reason = || outcome.reason_with_nudge().unwrap_or_else(|| "denied by a hook".to_owned());
    match outcome.decision {
        Decision::None | Decision::Allow => Ok(None),
        Decision::Deny | Decision::Defer => Ok(Some(reason())),
        Decision::Ask if session.agent.settings.mode == PermissionMode::DontAsk => Ok(Some(reason())),
        Decision::Ask => {
            let question =
                PermissionQuestion { tool: what.to_owned(), args: Value::Null, reason: outcome.reason() };
            let answer = cancel
                .or(session.agent.permission_prompt.ask(&question))
                .await
                .ok_or(TurnError::Cancelled)?;
            Ok((answer != PermissionAnswer::Yes).then(reason))
        }
    }
}

/// Requests permission for a call after hooks and rules have been evaluated, if the mode or the decision requires it.
pub(crate) async fn request_permission(
    session: &AgentSession,
    call: &ModelToolCall,
    judged: &Outcome,
    cancel: &CancelToken,
) -> Result<PermissionResult, TurnError> {
    let mode = session.agent.settings.mode;
    let class = Tool::new(&call.name, call.args.clone()).class;
    let wanted = match judged.decision {
        Decision::Allow => PermissionNeed::Nothing,
        Decision::Ask if mode == PermissionMode::DontAsk => mode.need_for(ToolClass::Shell),
        Decision::Ask => PermissionNeed::PermissionQuestion,
        _ => mode.need_for(class),
    };
    let reason = judged.reason().filter(|_| judged.decision == Decision::Ask);
    match wanted {
        PermissionNeed::Nothing => Ok(PermissionResult::Yes(None)),
        PermissionNeed::Refusal(why) => report_denied(session, call, why.to_owned(), cancel).await,
        PermissionNeed::PermissionQuestion => ask_for_permission(session, call, reason, cancel).await,
    }
}

async fn ask_for_permission(
    session: &AgentSession,
    call: &ModelToolCall,
    reason: Option<String>,
    cancel: &CancelToken,
) -> Result<PermissionResult, TurnError> {
    let draft =
        EventDraft::about(EventKind::PermissionRequest, call, context_fields(session, reason.as_deref()));
    let outcome = session.fire(draft, cancel).await?;
    session.queue_context(&outcome);
    let changed = outcome.tool_input.clone();
    let args = changed.clone().unwrap_or_else(|| call.args.clone());
    let said = |fallback: &str| outcome.reason_with_nudge().unwrap_or_else(|| fallback.to_owned());
    match outcome.decision {
        Decision::Allow => {
            return report_granted(session, call, args, changed, said("allowed by a hook"), cancel).await;
        }
        Decision::Deny | Decision::Defer => {
            return report_denied(session, call, said("denied by a hook"), cancel).await;
        }
        Decision::None | Decision::Ask => {}
    }
    let reason = outcome.reason().or(reason);
    session.notify(&format!("permission needed for {}", call.name), "permission_prompt", cancel).await?;
    let question = PermissionQuestion { tool: call.name.clone(), args: args.clone(), reason };
    match cancel.or(session.agent.permission_prompt.ask(&question)).await.ok_or(TurnError::Cancelled)? {
        PermissionAnswer::Yes => {
            report_granted(session, call, args, changed, "allowed by the user".to_owned(), cancel).await
        }
        PermissionAnswer::No { reason } => {
            let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            report_denied(session, call, format!("denied by the user{why}"), cancel).await
        }
        PermissionAnswer::Unavailable => {
            let why = question.reason.map(|reason| format!("{reason}; ")).unwrap_or_default();
            report_denied(
                session,
                call,
                format!("{why}this call needs permission, and no user is available to give it"),
                cancel,
            )
            .await
        }
    }
}

async fn report_granted(
    session: &AgentSession,
    call: &ModelToolCall,
    args: Value,
    changed: Option<Value>,
    why: String,
    cancel: &CancelToken,
) -> Result<PermissionResult, TurnError> {
    let now = ModelToolCall { args, ..call.clone() };
    let draft = EventDraft::about(EventKind::PermissionGranted, &now, context_fields(session, Some(&why)));
    let outcome = session.fire(draft, cancel).await?;
    session.queue_context(&outcome);
    match check_objection(session, &outcome, &now.name, cancel).await? {
        Some(why) => report_denied(session, call, why, cancel).await,
        None => Ok(PermissionResult::Yes(changed)),
    }
}

async fn report_denied(
    session: &AgentSession,
    call: &ModelToolCall,
    why: String,
    cancel: &CancelToken,
) -> Result<PermissionResult, TurnError> {
    let draft = EventDraft::about(EventKind::PermissionDenied, call, context_fields(session, Some(&why)));
    let outcome = session.fire(draft, cancel).await?;
    session.queue_context(&outcome);
    Ok(PermissionResult::No(why))
}

fn context_fields(session: &AgentSession, reason: Option<&str>) -> Value {
    let mut fields = json!({"context": session.context_json()});
    if let (Some(fields), Some(reason)) = (fields.as_object_mut(), reason) {
        fields.insert("reason".to_owned(), json!(reason));
    }
    fields
}

impl AgentSession {
    /// Fires a notification event and shows the text to the user.
    pub(crate) async fn notify(&self, text: &str, kind: &str, cancel: &CancelToken) -> Result<(), TurnError> {
        let draft = EventDraft::new(EventKind::Notification, json!({"message": text, "type": kind}));
        let outcome = self.fire(draft, cancel).await?;
        self.queue_context(&outcome);
        if !outcome.suppress_output {
            self.report(AgentActivity::Notification { text: text.to_owned() });
        }
        Ok(())
    }
}
