// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A leaf as an event again: only what sessions need of it, because there are many.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_api::MissingContent;
use tenterhook_event::{
    Agent, Decision, Detail, Event, EventId, EventKind, Flow, Mcp, SessionCheck, Timestamp, ToolCall,
    ToolClass, TranscriptUsage,
};
use tenterhook_facts::Seen;
use tenterhook_ledger::{Glance, Record, Stored};

use super::happened::DecidedEvent;

/// An event of the past.
#[derive(Debug, Clone)]
pub struct RecordedEvent {
    pub(super) seq: u64,
    pub(super) event: Event,
    decision: Decision,
    stops: bool,
    rule: Option<String>,
    reason: Option<String>,
    nudge: Option<String>,
    input: Option<Value>,
    seen: Option<Seen>,
    gone: Option<MissingContent>,
}

#[derive(Deserialize)]
struct Leaf<'a> {
    id: EventId,
    ts: Timestamp,
    source: String,
    event: EventKind,
    #[serde(borrow)]
    native_event: Cow<'a, str>,
    harness_session_id: Option<String>,
    session_check: Option<SessionCheck>,
    tool_use_id: Option<String>,
    turn_id: Option<String>,
    tool: Option<Tool>,
    #[serde(default)]
    agent: Agent,
    cwd: Option<String>,
    project: Option<String>,
    #[serde(default)]
    verdict: Decision,
    #[serde(default)]
    flow: Flow,
    reason: Option<String>,
    policy_rule_id: Option<String>,
    #[serde(borrow, default)]
    trace: Vec<TraceStep<'a>>,
    nudge: Option<String>,
    facts: Option<Value>,
    payload: Option<Mark>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    class: ToolClass,
}

#[derive(Deserialize)]
struct Mark {
    stored: Stored,
}

#[derive(Deserialize, Default)]
struct Payload {
    #[serde(default)]
    args: Value,
    #[serde(default)]
    detail: Part,
    tool_input: Option<Value>,
}

/// The details that sessions look at; requests to models are large, and nobody looks at them.
#[derive(Deserialize, Default)]
struct Part {
    prompt: Option<String>,
    cause: Option<String>,
    error: Option<String>,
    tool_output: Option<Value>,
    model_response: Option<Value>,
    duration_ms: Option<u64>,
    usage: Option<TranscriptUsage>,
}

#[derive(Deserialize)]
struct TraceStep<'a> {
    #[serde(borrow, default)]
    by: Cow<'a, str>,
    #[serde(default)]
    decision: Decision,
}

/// The hook that decided, written `hook:<id>`.
fn deciding_hook(trace: &[TraceStep<'_>], verdict: Decision) -> Option<String> {
    let decides = |step: &&TraceStep<'_>| step.decision == verdict && step.by.starts_with("hook:");
    trace.iter().find(decides).filter(|_| verdict != Decision::None).map(|step| step.by.clone().into_owned())
}

impl RecordedEvent {
    /// Reads a leaf. What cannot be read is for `ledger verify` to name.
    pub fn read(glance: Glance<'_>) -> Option<Self> {
        let leaf: Leaf<'_> = serde_json::from_str(std::str::from_utf8(glance.bytes).ok()?).ok()?;
        let gone = match &leaf.payload {
            Some(_) if glance.erased => Some(MissingContent::Erased),
            Some(Mark { stored: Stored::Hash }) => Some(MissingContent::TooLarge),
            _ => None,
        };
        let payload = match glance.payload {
            Some(bytes) if tells(leaf.event) || is_listed(leaf.verdict) => {
                serde_json::from_slice(bytes).ok()?
            }
            _ => Payload::default(),
        };
        let Payload { args, detail, tool_input } = payload;
        let mut event = Event::new(leaf.id, leaf.ts, "", leaf.event, "");
        event.source = leaf.source;
        event.native_event = leaf.native_event.into_owned();
        event.harness_session_id = leaf.harness_session_id;
        event.session_check = leaf.session_check;
        event.tool_use_id = leaf.tool_use_id;
        event.turn_id = leaf.turn_id;
        event.cwd = leaf.cwd;
        event.project = leaf.project;
        event.agent = leaf.agent;
        event.tool = leaf.tool.map(|Tool { name, class }| {
            // Empty arguments are not recorded.
            let args = if args.is_null() && gone.is_none() { json!({}) } else { args };
            let mcp = if class == ToolClass::Mcp { Mcp::from_tool_name(&name) } else { None };
            ToolCall { name, class, args, mcp }
        });
        let Part { prompt, cause, error, tool_output, model_response, duration_ms, usage } = detail;
        event.detail = Detail {
            prompt,
            cause,
            error,
            tool_output,
            model_response,
            duration_ms,
            usage,
            ..Detail::default()
        };
        let seen = leaf.facts.and_then(|facts| serde_json::from_value(facts).ok());
        let denied = leaf.verdict == Decision::Deny;
        let stop = match leaf.flow {
            Flow::Go => None,
            Flow::Stop { reason } => Some(reason.unwrap_or_default()),
        };
        let hook = || deciding_hook(&leaf.trace, leaf.verdict);
        let rule = leaf.policy_rule_id.or_else(hook);
        Some(Self {
            seq: glance.seq,
            event,
            decision: leaf.verdict,
            stops: stop.is_some(),
            rule,
            reason: if denied { leaf.reason } else { stop },
            nudge: leaf.nudge.filter(|_| denied),
            input: tool_input,
            seen,
            gone,
        })
    }

    /// The same of a leaf that was read whole.
    pub fn of(record: &Record) -> Option<Self> {
        let payload = record.payload.as_ref();
        Self::read(Glance {
            seq: record.seq,
            bytes: record.bytes.as_deref()?,
            payload: payload.and_then(|payload| payload.bytes.as_deref()),
            erased: payload.is_some_and(|payload| payload.salt.is_none()),
        })
    }

    /// A copy of an event that was decided just now.
    pub(super) fn copy(happened: &DecidedEvent<'_>) -> Self {
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(ToOwned::to_owned);
        Self {
            seq: happened.seq,
            event: happened.event.clone(),
            decision: happened.decision,
            stops: happened.stops,
            rule: owned(&happened.rule),
            reason: owned(&happened.reason),
            nudge: owned(&happened.nudge),
            input: happened.input.cloned(),
            seen: happened.seen.cloned(),
            gone: happened.gone,
        }
    }

    /// The same, of which the content is not recorded.
    pub fn without_content(happened: &DecidedEvent<'_>, gone: MissingContent) -> Self {
        let mut past = Self::copy(happened);
        past.event.detail = Detail::default();
        if let Some(tool) = &mut past.event.tool {
            tool.args = Value::Null;
        }
        Self { input: None, gone: Some(gone), ..past }
    }

    /// As sessions see it.
    pub fn happened(&self) -> DecidedEvent<'_> {
        DecidedEvent {
            seq: self.seq,
            event: &self.event,
            decision: self.decision,
            stops: self.stops,
            rule: self.rule.as_deref().map(Cow::Borrowed),
            reason: self.reason.as_deref().map(Cow::Borrowed),
            nudge: self.nudge.as_deref().map(Cow::Borrowed),
            input: self.input.as_ref(),
            touched: None,
            seen: self.seen.as_ref(),
            gone: self.gone,
        }
    }
}

/// Whether a session lists a call with such a verdict, and so shows what it was.
fn is_listed(verdict: Decision) -> bool {
    matches!(verdict, Decision::Deny | Decision::Ask)
}

/// Whether what was said and done at such an event changes a session.
fn tells(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Prompt
            | EventKind::PreTool
            | EventKind::PostTool
            | EventKind::ToolError
            | EventKind::PermissionRequest
            | EventKind::PermissionDenied
            | EventKind::PostModel
            | EventKind::SessionStart
            | EventKind::SessionEnd
            | EventKind::Stop
            | EventKind::SubagentStop
    )
}
