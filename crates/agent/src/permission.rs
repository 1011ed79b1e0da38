// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the agent may do without asking, and how it asks.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tenterhook_event::{Decision, EventKind, Outcome, ToolCall as Tool, ToolClass};

use crate::provider::ToolCall;
use crate::session::Session;
use crate::tell::Told;
use crate::watch::Moment;
use crate::{Cancel, Ended};

/// What the agent may do without asking. What a hook or rule asks about is asked about in every mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PermissionMode {
    /// Looking is free; whatever changes something is asked about.
    #[default]
    Default,
    /// Files may be changed as well.
    AcceptEdits,
    /// Looking is free; nothing is changed.
    Plan,
    /// Everything, as far as hooks and rules let it.
    BypassPermissions,
    /// Nobody is there to ask: what would be asked about is not done.
    DontAsk,
}

/// Every mode, with what a person types.
const MODES: &[(PermissionMode, &str)] = &[
    (PermissionMode::Default, "default"),
    (PermissionMode::AcceptEdits, "acceptEdits"),
    (PermissionMode::Plan, "plan"),
    (PermissionMode::BypassPermissions, "bypassPermissions"),
    (PermissionMode::DontAsk, "dontAsk"),
];

/// Says yes or no for a person.
pub trait Ask: Send + Sync {
    /// Asks. It is dropped when the person says stop.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

/// May this tool run?
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The tool.
    pub tool: String,
    /// With what.
    pub args: Value,
    /// Why it is asked, if somebody said.
    pub reason: Option<String>,
}

/// What a person says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It may.
    Yes,
    /// It may not.
    No {
        /// Why, if they said.
        reason: Option<String>,
    },
    /// Nobody is there.
    Nobody,
}

/// Nobody is there.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyAnswers;

impl Ask for NobodyAnswers {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Answer::Nobody))
    }
}

/// What stands at the end.
pub(crate) enum Permitted {
    /// It may run, perhaps with other arguments.
    Yes(Option<Value>),
    No(String),
}

// === impl PermissionMode ===

impl PermissionMode {
    /// What a person types.
    pub fn name(self) -> &'static str {
        MODES.iter().find(|(mode, _)| *mode == self).map_or("default", |(_, name)| name)
    }

    /// The mode of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        MODES.iter().find(|(_, known)| *known == name).map(|(mode, _)| *mode)
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        MODES.iter().map(|(_, name)| *name)
    }

    /// What this mode makes of a tool that nobody objected to.
    fn of(self, class: ToolClass) -> Wanted {
        let looks = matches!(class, ToolClass::Read | ToolClass::Search | ToolClass::Todo | ToolClass::Agent);
        let edits = matches!(class, ToolClass::Write | ToolClass::Edit | ToolClass::Patch);
        match self {
            _ if looks => Wanted::Nothing,
            Self::BypassPermissions => Wanted::Nothing,
            Self::AcceptEdits if edits => Wanted::Nothing,
            Self::Plan => Wanted::Refusal("in plan mode nothing is changed; say what you would do"),
            Self::DontAsk => Wanted::Refusal("it would have to be asked about, and nobody is to be asked"),
            Self::Default | Self::AcceptEdits => Wanted::Question,
        }
    }
}

/// What a mode wants before a tool runs.
enum Wanted {
    Nothing,
    Question,
    Refusal(&'static str),
}

/// What speaks against something that is no tool call. A person is asked where that is what was decided.
pub(crate) async fn objection(
    session: &Session,
    outcome: &Outcome,
    what: &str,
    cancel: &Cancel,
) -> Result<Option<String>, Ended> {
    let reason = || outcome.reason_with_nudge().unwrap_or_else(|| "a hook said no".to_owned());
    match outcome.decision {
        Decision::None | Decision::Allow => Ok(None),
        Decision::Deny | Decision::Defer => Ok(Some(reason())),
        Decision::Ask if session.agent.settings.mode == PermissionMode::DontAsk => Ok(Some(reason())),
        Decision::Ask => {
            let question = Question { tool: what.to_owned(), args: Value::Null, reason: outcome.reason() };
            let answer = cancel.or(session.agent.ask.ask(&question)).await.ok_or(Ended::Cancelled)?;
            Ok((answer != Answer::Yes).then(reason))
        }
    }
}

/// Gets permission for a call that hooks and rules have seen, if it takes any.
pub(crate) async fn permit(
    session: &Session,
    call: &ToolCall,
    judged: &Outcome,
    cancel: &Cancel,
) -> Result<Permitted, Ended> {
    let mode = session.agent.settings.mode;
    let class = Tool::new(&call.name, call.args.clone()).class;
    let wanted = match judged.decision {
        Decision::Allow => Wanted::Nothing,
        Decision::Ask if mode == PermissionMode::DontAsk => mode.of(ToolClass::Shell),
        Decision::Ask => Wanted::Question,
        _ => mode.of(class),
    };
    let reason = judged.reason().filter(|_| judged.decision == Decision::Ask);
    match wanted {
        Wanted::Nothing => Ok(Permitted::Yes(None)),
        Wanted::Refusal(why) => denied(session, call, why.to_owned(), cancel).await,
        Wanted::Question => question(session, call, reason, cancel).await,
    }
}

async fn question(
    session: &Session,
    call: &ToolCall,
    reason: Option<String>,
    cancel: &Cancel,
) -> Result<Permitted, Ended> {
    let told = Told::about(EventKind::PermissionRequest, call, around(session, reason.as_deref()));
    let outcome = session.tell(told, cancel).await?;
    session.remember(&outcome);
    let changed = outcome.tool_input.clone();
    let args = changed.clone().unwrap_or_else(|| call.args.clone());
    let said = |fallback: &str| outcome.reason_with_nudge().unwrap_or_else(|| fallback.to_owned());
    match outcome.decision {
        Decision::Allow => {
            return granted(session, call, args, changed, said("a hook said yes"), cancel).await;
        }
        Decision::Deny | Decision::Defer => {
            return denied(session, call, said("a hook said no"), cancel).await;
        }
        Decision::None | Decision::Ask => {}
    }
    let reason = outcome.reason().or(reason);
    session.notify(&format!("permission is needed for {}", call.name), "permission_prompt", cancel).await?;
    let question = Question { tool: call.name.clone(), args: args.clone(), reason };
    match cancel.or(session.agent.ask.ask(&question)).await.ok_or(Ended::Cancelled)? {
        Answer::Yes => granted(session, call, args, changed, "a person said yes".to_owned(), cancel).await,
        Answer::No { reason } => {
            let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            denied(session, call, format!("a person said no{why}"), cancel).await
        }
        Answer::Nobody => {
            let why = question.reason.map(|reason| format!("{reason} ")).unwrap_or_default();
            denied(session, call, format!("{why}A person has to say yes, and nobody is there."), cancel).await
        }
    }
}

async fn granted(
    session: &Session,
    call: &ToolCall,
    args: Value,
    changed: Option<Value>,
    why: String,
    cancel: &Cancel,
) -> Result<Permitted, Ended> {
    let now = ToolCall { args, ..call.clone() };
    let told = Told::about(EventKind::PermissionGranted, &now, around(session, Some(&why)));
    let outcome = session.tell(told, cancel).await?;
    session.remember(&outcome);
    match objection(session, &outcome, &now.name, cancel).await? {
        Some(why) => denied(session, call, why, cancel).await,
        None => Ok(Permitted::Yes(changed)),
    }
}

async fn denied(
    session: &Session,
    call: &ToolCall,
    why: String,
    cancel: &Cancel,
) -> Result<Permitted, Ended> {
    let told = Told::about(EventKind::PermissionDenied, call, around(session, Some(&why)));
    let outcome = session.tell(told, cancel).await?;
    session.remember(&outcome);
    Ok(Permitted::No(why))
}

fn around(session: &Session, reason: Option<&str>) -> Value {
    let mut fields = json!({"context": session.context()});
    if let (Some(fields), Some(reason)) = (fields.as_object_mut(), reason) {
        fields.insert("reason".to_owned(), json!(reason));
    }
    fields
}

impl Session {
    /// Tells the person something.
    pub(crate) async fn notify(&self, text: &str, kind: &str, cancel: &Cancel) -> Result<(), Ended> {
        let told = Told::new(EventKind::Notification, json!({"message": text, "type": kind}));
        let outcome = self.tell(told, cancel).await?;
        self.remember(&outcome);
        if !outcome.suppress_output {
            self.watch(Moment::Notification { text: text.to_owned() });
        }
        Ok(())
    }
}
