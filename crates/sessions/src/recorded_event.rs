// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses ledger records into events. Only the fields that sessions need are parsed, because ledgers are large.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_api::MissingContent;
use tenterhook_event::{
    AgentIdentity, Decision, Event, EventDetail, EventId, EventKind, Flow, McpToolId, SessionCheck,
    Timestamp, ToolCall, ToolClass, TranscriptUsage,
};
use tenterhook_facts::LinkMap;
use tenterhook_ledger::{DecisionRef, PayloadStorage, StoredRecord};

use super::decided_event::DecidedEvent;

/// An event read from the ledger, or a copy of a live one.
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
    seen: Option<LinkMap>,
    gone: Option<MissingContent>,
}

#[derive(Deserialize)]
struct RecordFields<'a> {
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
    tool: Option<RecordedTool>,
    #[serde(default)]
    agent: AgentIdentity,
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
    payload: Option<RecordedPayloadMark>,
}

#[derive(Deserialize)]
struct RecordedTool {
    name: String,
    class: ToolClass,
}

#[derive(Deserialize)]
struct RecordedPayloadMark {
    stored: PayloadStorage,
}

#[derive(Deserialize, Default)]
struct RecordedPayload {
    #[serde(default)]
    args: Value,
    #[serde(default)]
    detail: RecordedDetail,
    tool_input: Option<Value>,
}

/// The event details that sessions need. Model requests are large and not needed.
#[derive(Deserialize, Default)]
struct RecordedDetail {
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

/// The hook that decided, as `hook:<id>`.
fn deciding_hook(trace: &[TraceStep<'_>], verdict: Decision) -> Option<String> {
    let decides = |step: &&TraceStep<'_>| step.decision == verdict && step.by.starts_with("hook:");
    trace.iter().find(decides).filter(|_| verdict != Decision::None).map(|step| step.by.clone().into_owned())
}

impl RecordedEvent {
    /// Parses a record. Returns `None` if it is invalid; `ledger verify` reports invalid records.
    pub fn read(glance: DecisionRef<'_>) -> Option<Self> {
        let fields: RecordFields<'_> = serde_json::from_str(std::str::from_utf8(glance.bytes).ok()?).ok()?;
        let gone = match &fields.payload {
            Some(_) if glance.erased => Some(MissingContent::Erased),
            Some(RecordedPayloadMark { stored: PayloadStorage::Hash }) => Some(MissingContent::TooLarge),
            _ => None,
        };
        let payload = match glance.payload {
            Some(bytes) if has_relevant_content(fields.event) || is_listed(fields.verdict) => {
                serde_json::from_slice(bytes).ok()?
            }
            _ => RecordedPayload::default(),
        };
        let RecordedPayload { args, detail, tool_input } = payload;
        let mut event = Event::new(fields.id, fields.ts, "", fields.event, "");
        event.source = fields.source;
        event.native_event = fields.native_event.into_owned();
        event.harness_session_id = fields.harness_session_id;
        event.session_check = fields.session_check;
        event.tool_use_id = fields.tool_use_id;
        event.turn_id = fields.turn_id;
        event.cwd = fields.cwd;
        event.project = fields.project;
        event.agent = fields.agent;
        event.tool = fields.tool.map(|RecordedTool { name, class }| {
            // Empty arguments are not recorded.
            let args = if args.is_null() && gone.is_none() { json!({}) } else { args };
            let mcp = if class == ToolClass::Mcp { McpToolId::from_tool_name(&name) } else { None };
            ToolCall { name, class, args, mcp }
        });
        let RecordedDetail { prompt, cause, error, tool_output, model_response, duration_ms, usage } = detail;
        event.detail = EventDetail {
            prompt,
            cause,
            error,
            tool_output,
            model_response,
            duration_ms,
            usage,
            ..EventDetail::default()
        };
        let seen = fields.facts.and_then(|facts| serde_json::from_value(facts).ok());
        let denied = fields.verdict == Decision::Deny;
        let stop = match fields.flow {
            Flow::Go => None,
            Flow::Stop { reason } => Some(reason.unwrap_or_default()),
        };
        let hook = || deciding_hook(&fields.trace, fields.verdict);
        let rule = fields.policy_rule_id.or_else(hook);
        Some(Self {
            seq: glance.seq,
            event,
            decision: fields.verdict,
            stops: stop.is_some(),
            rule,
            reason: if denied { fields.reason } else { stop },
            nudge: fields.nudge.filter(|_| denied),
            input: tool_input,
            seen,
            gone,
        })
    }

    /// Parses a record that was read with its payload.
    pub fn from_record(record: &StoredRecord) -> Option<Self> {
        let payload = record.payload.as_ref();
        Self::read(DecisionRef {
            seq: record.seq,
            bytes: record.bytes.as_deref()?,
            payload: payload.and_then(|payload| payload.bytes.as_deref()),
            erased: payload.is_some_and(|payload| payload.salt.is_none()),
        })
    }

    /// Copies a live event.
    pub(super) fn from_decided(decided: &DecidedEvent<'_>) -> Self {
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(ToOwned::to_owned);
        Self {
            seq: decided.seq,
            event: decided.event.clone(),
            decision: decided.decision,
            stops: decided.stops,
            rule: owned(&decided.rule),
            reason: owned(&decided.reason),
            nudge: owned(&decided.nudge),
            input: decided.input.cloned(),
            seen: decided.seen.cloned(),
            gone: decided.gone,
        }
    }

    /// Copies a live event without its content, for records that do not contain it.
    pub fn without_content(decided: &DecidedEvent<'_>, gone: MissingContent) -> Self {
        let mut recorded = Self::from_decided(decided);
        recorded.event.detail = EventDetail::default();
        if let Some(tool) = &mut recorded.event.tool {
            tool.args = Value::Null;
        }
        Self { input: None, gone: Some(gone), ..recorded }
    }

    /// Borrows the event for the projection.
    pub fn as_decided(&self) -> DecidedEvent<'_> {
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

/// Whether sessions list calls with this verdict, which requires their content.
fn is_listed(verdict: Decision) -> bool {
    matches!(verdict, Decision::Deny | Decision::Ask)
}

/// Whether the content of this kind of event matters to sessions.
fn has_relevant_content(kind: EventKind) -> bool {
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
