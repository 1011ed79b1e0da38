// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::{Map, Value};
use tenterhook_event::FORMAT_VERSION;

use super::{
    DecisionRow, array_field, field, number_field, optional_text, pretty_lines, text_field, text_lines,
};

/// A decision with its complete record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DecisionDetail {
    pub(crate) line: DecisionRow,
    /// Id of the event.
    pub(crate) id: String,
    /// Short name of a call that was stopped; empty for other decisions.
    pub(crate) name: String,
    pub(crate) native_event: String,
    pub(crate) recorded: String,
    pub(crate) origin: String,
    pub(crate) generation: String,
    pub(crate) signer: String,
    pub(crate) hash: String,
    /// The normalized event as JSON.
    pub(crate) normalized: Vec<String>,
    /// The event as it was recorded, to evaluate it again. It is never shown.
    pub(crate) event: Value,
    /// The complete call or message with its line breaks.
    pub(crate) whole: Vec<String>,
    /// Rules and hooks that took part, in order.
    pub(crate) trace: Vec<TraceRow>,
    pub(crate) reason: Vec<String>,
    pub(crate) nudge: Vec<String>,
    /// Changes made by hooks and rules, each with a heading.
    pub(crate) changed: Vec<(&'static str, Vec<String>)>,
    pub(crate) erased: bool,
    /// Whether this decision did not reach the harness. The hook then decided by itself, and another record of the
    /// event contains that decision.
    pub(crate) undelivered: bool,
}

/// A hook or rule that took part in a decision.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TraceRow {
    pub(crate) by: String,
    pub(crate) status: String,
    pub(crate) decision: String,
    pub(crate) note: String,
    pub(crate) took_us: Option<u64>,
}

/// Fields of the normalized event, in display order.
const NORMALIZED_FIELDS: &[&str] = &[
    "source",
    "event",
    "id",
    "ts",
    "harness_session_id",
    "turn_id",
    "tool_use_id",
    "tool",
    "agent",
    "cwd",
    "project",
    "detail",
];

/// Payload keys of changes made by hooks and rules, with their headings.
const CHANGE_HEADINGS: &[(&str, &str)] = &[
    ("tool_input", "Rewritten input"),
    ("modifications", "Changes"),
    ("context", "Context for the agent"),
    ("messages", "Messages to the user"),
];

impl DecisionDetail {
    pub(crate) fn parse(record: &Value) -> Option<Self> {
        let line = DecisionRow::from_record(record)?;
        let (fields, payload) = (field(record, "leaf"), field(record, "payload"));
        let changed = CHANGE_HEADINGS.iter().filter_map(|(key, name)| {
            let value = field(payload, key);
            let nothing = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            (!nothing).then(|| (*name, pretty_lines(value)))
        });
        let event = normalized_event(fields, payload);
        Some(Self {
            whole: whole_call(&line, payload),
            line,
            id: text_field(fields, "id"),
            name: text_field(record, "name"),
            native_event: text_field(fields, "native_event"),
            recorded: text_field(fields, "recorded"),
            origin: text_field(fields, "origin"),
            generation: text_field(fields, "generation"),
            signer: text_field(fields, "signer"),
            hash: text_field(record, "hash"),
            normalized: pretty_lines(&event),
            event: evaluable_event(event, fields),
            trace: array_field(fields, "trace").iter().map(TraceRow::parse).collect(),
            reason: text_lines(fields, "reason"),
            nudge: text_lines(fields, "nudge"),
            changed: changed.collect(),
            erased: field(record, "erased") == true
                || number_field(field(fields, "payload"), "bytes") > 0 && payload.is_null(),
            undelivered: field(record, "undelivered") == true,
        })
    }
}

impl TraceRow {
    fn parse(step: &Value) -> Self {
        Self {
            by: text_field(step, "by"),
            status: text_field(step, "status"),
            decision: optional_text(step, "decision")
                .filter(|decision| decision != "none")
                .unwrap_or_default(),
            note: text_field(step, "note"),
            took_us: field(step, "took_us").as_u64(),
        }
    }
}

/// Returns the complete call: its command or path if it has one, all its arguments otherwise.
fn whole_call(line: &DecisionRow, payload: &Value) -> Vec<String> {
    let args = field(payload, "args");
    let text = ["command", "file_path", "path", "url"].into_iter().find(|key| field(args, key).is_string());
    match text {
        Some(key) => text_lines(args, key),
        None if args.is_null() => vec![line.gist.clone()],
        None => pretty_lines(args),
    }
}

/// Adds the fields that the evaluation of an event needs.
fn evaluable_event(mut event: Value, fields: &Value) -> Value {
    if let Some(event) = event.as_object_mut() {
        event.insert("v".to_owned(), Value::from(FORMAT_VERSION));
        event.insert("native_event".to_owned(), field(fields, "native_event").clone());
        event.retain(|_, value| !value.is_null());
    }
    event
}

/// Rebuilds the evaluated event from the record and its payload.
fn normalized_event(fields: &Value, payload: &Value) -> Value {
    let mut normal = Map::new();
    for key in NORMALIZED_FIELDS {
        let value = if *key == "detail" { field(payload, key) } else { field(fields, key) };
        if !value.is_null() {
            normal.insert((*key).to_owned(), value.clone());
        }
    }
    if let Some(tool) = normal.get_mut("tool").and_then(Value::as_object_mut) {
        tool.insert("args".to_owned(), field(payload, "args").clone());
    }
    Value::Object(normal)
}
