// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::Value;
use tenterhook_event::{Decision, ToolCall, ToolClass};

use super::{field, number_field, optional_text, text_field, time_ms};
use crate::plain;

/// The main fields of a decision.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DecisionRow {
    pub(crate) seq: u64,
    pub(crate) ts: u64,
    pub(crate) harness: String,
    pub(crate) session: String,
    pub(crate) event: String,
    pub(crate) tool: String,
    /// Short form of the call or message.
    pub(crate) gist: String,
    pub(crate) verdict: Decision,
    pub(crate) rule: String,
    pub(crate) took_us: u64,
}

impl DecisionRow {
    /// Parses a live event, or a line of the ledger.
    pub(crate) fn from_event(event: &Value) -> Option<Self> {
        let tool = field(event, "tool");
        Some(Self {
            seq: field(event, "seq").as_u64()?,
            ts: time_ms(event, "ts"),
            harness: text_field(event, "harness"),
            session: text_field(event, "session"),
            event: text_field(event, "event"),
            tool: text_field(tool, "name"),
            gist: optional_text(tool, "gist").or_else(|| optional_text(event, "prompt")).unwrap_or_default(),
            verdict: parse_verdict(event),
            rule: optional_text(event, "by").unwrap_or_else(|| text_field(event, "rule")),
            took_us: number_field(event, "took_us"),
        })
    }

    /// Parses a ledger record.
    pub(crate) fn from_record(record: &Value) -> Option<Self> {
        let (fields, payload) = (field(record, "leaf"), field(record, "payload"));
        if field(fields, "kind") != "decision" {
            return None;
        }
        let detail = field(payload, "detail");
        let texts = ["prompt", "response", "message", "error", "cause"];
        let texts = || texts.iter().find_map(|key| optional_text(detail, key));
        let gist = field(fields, "tool").as_object().map(|_| tool_gist(fields, payload));
        Some(Self {
            seq: field(record, "seq").as_u64()?,
            ts: time_ms(fields, "ts"),
            harness: text_field(fields, "source"),
            session: text_field(fields, "harness_session_id"),
            event: text_field(fields, "event"),
            tool: text_field(field(fields, "tool"), "name"),
            gist: gist.or_else(texts).unwrap_or_default(),
            verdict: parse_verdict(fields),
            rule: optional_text(fields, "policy_rule_id")
                .or_else(|| deciding_hook(fields))
                .unwrap_or_default(),
            took_us: number_field(fields, "took_us"),
        })
    }
}

/// Returns the hook that decided, as `hook:<id>`.
fn deciding_hook(fields: &Value) -> Option<String> {
    let verdict = optional_text(fields, "verdict").filter(|verdict| verdict != "none")?;
    let steps = field(fields, "trace").as_array()?;
    let step = steps
        .iter()
        .find(|step| text_field(step, "decision") == verdict && text_field(step, "by").starts_with("hook:"));
    step.map(|step| text_field(step, "by"))
}

pub(super) fn parse_verdict(value: &Value) -> Decision {
    serde_json::from_value(field(value, "verdict").clone()).unwrap_or_default()
}

/// Returns the short form of a tool call.
fn tool_gist(fields: &Value, payload: &Value) -> String {
    let args = field(payload, "args");
    if args.is_null() {
        return "(no content)".to_owned();
    }
    let tool = field(fields, "tool");
    let mut call = ToolCall::new(field(tool, "name").as_str().unwrap_or_default(), args.clone());
    if let Some(class) = field(tool, "class").as_str().and_then(ToolClass::from_name) {
        call.class = class;
    }
    plain::single_line(&call.gist().chars().take(500).collect::<String>())
}
