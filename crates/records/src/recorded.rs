// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses ledger records into events and outcomes.

use serde_json::Value;
use tenterhook_api::LedgerRecord;
use tenterhook_event::{
    Attributed, Decision, Event, EventId, EventKind, Flow, Origin, Outcome, Timestamp, ToolCall, ToolClass,
    TraceEntry,
};
use tenterhook_ledger::{Filter, LeafKind, ReadError, Reader, SETTINGS_CHANGE, StoredRecord};
use tenterhook_paths::LinkMap;

use crate::id_reference::short_name;
use tenterhook_error::Failure;

/// A recorded decision with its event and outcome. Erased and redacted content is missing.
pub struct RecordedDecision {
    /// Envelope of the record.
    pub leaf: Value,
    /// The recorded event.
    pub event: Event,
    /// The recorded outcome.
    pub outcome: Outcome,
    /// Duration of the decision, in microseconds.
    pub took_us: u64,
    /// Symlinks at the time of the decision.
    pub seen: LinkMap,
}

impl RecordedDecision {
    /// Parses a record of kind `decision`.
    pub fn from_record(record: &StoredRecord) -> Result<Self, Failure> {
        Self::from_record_of_kind(record, &["decision"])
    }

    /// Parses a record of kind `decision`, or of kind `seen` from an imported transcript.
    pub fn from_decision_or_seen(record: &StoredRecord) -> Result<Self, Failure> {
        Self::from_record_of_kind(record, &["decision", "seen"])
    }

    fn from_record_of_kind(record: &StoredRecord, kinds: &[&str]) -> Result<Self, Failure> {
        let seq = record.seq;
        let Some(bytes) = &record.bytes else {
            return Err(Failure::user(format!("record {seq} was pruned; only its hash is left")));
        };
        let unreadable = |why: &str| {
            Failure::internal(format!("cannot parse record {seq}: {why}"))
                .hint("run `tenterhook ledger verify` to check for tampering")
        };
        let leaf: Value = serde_json::from_slice(bytes).map_err(|error| unreadable(&error.to_string()))?;
        let kind = leaf.field("kind").as_str().unwrap_or_default();
        if !kinds.contains(&kind) {
            return Err(Failure::user(format!("record {seq} is of kind `{kind}`, not a decision"))
                .hint(format!("run `tenterhook ledger show {seq}` to show it")));
        }
        let event = parse_event(&leaf, &payload(record)).ok_or_else(|| unreadable("invalid event"))?;
        let outcome =
            parse_outcome(&leaf, &payload(record)).map_err(|error| unreadable(&error.to_string()))?;
        let took_us = leaf.field("took_us").as_u64().unwrap_or_default();
        let seen = parse_symlinks(leaf.field("facts"));
        Ok(Self { leaf, event, outcome, took_us, seen })
    }
}

/// Parses the recorded symlinks. If a record had too many of them, it contains only a `cut` mark.
fn parse_symlinks(facts: &Value) -> LinkMap {
    if facts.is_null() {
        return LinkMap::default();
    }
    serde_json::from_value(facts.clone()).unwrap_or_else(|_| LinkMap { cut: true, ..LinkMap::default() })
}

/// Envelope of a record; null if the record was pruned or is invalid.
pub fn envelope(record: &StoredRecord) -> Value {
    record.bytes.as_deref().and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
}

/// Whether the payload of a record was erased.
pub fn is_erased(record: &StoredRecord) -> bool {
    record.payload.as_ref().is_some_and(|payload| payload.salt.is_none())
}

/// Converts a record to the API type.
pub fn ledger_record(record: &StoredRecord) -> LedgerRecord {
    let leaf = envelope(record);
    LedgerRecord {
        seq: record.seq,
        name: short_name(&leaf),
        hash: record.hash.to_string(),
        leaf,
        payload: payload(record),
        erased: is_erased(record),
        pruned: record.bytes.is_none(),
        undelivered: record.undelivered,
    }
}

/// Payload of a record; null if it is missing.
pub fn payload(record: &StoredRecord) -> Value {
    let bytes = record.payload.as_ref().and_then(|payload| payload.bytes.as_deref());
    bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
}

/// Id of the rule that decided a record, or `hook:<id>`; `None` if neither decided.
pub fn decided_by(leaf: &Value) -> Option<String> {
    if let Some(rule) = leaf.field("policy_rule_id").as_str() {
        return Some(rule.to_owned());
    }
    let verdict = leaf.field("verdict").as_str().filter(|verdict| *verdict != "none")?;
    let steps = leaf.field("trace").as_array()?;
    let by = |step: &Value| {
        let decided = step.field("decision").as_str() == Some(verdict);
        step.field("by").as_str().filter(|by| decided && by.starts_with("hook:")).map(ToOwned::to_owned)
    };
    steps.iter().find_map(by)
}

/// Id of the rule that decided an outcome, or `hook:<id>`; `None` if neither decided.
pub fn outcome_decided_by(outcome: &Outcome) -> Option<String> {
    match outcome.decided_by()? {
        Origin::Rule(id) => Some(id.to_string()),
        by @ Origin::Hook(_) => Some(by.to_string()),
        Origin::Engine => None,
    }
}

/// Tool call of a record.
pub fn tool(leaf: &Value, payload: &Value) -> Option<ToolCall> {
    let name = leaf.field("tool").field("name").as_str()?;
    let mut tool = ToolCall::new(name, payload.field("args").clone());
    if let Some(class) = leaf.field("tool").field("class").as_str().and_then(ToolClass::from_name) {
        tool.class = class;
    }
    Some(tool)
}

fn parse_event(leaf: &Value, payload: &Value) -> Option<Event> {
    let text = |key: &str| leaf.field(key).as_str().map(ToOwned::to_owned);
    let id: EventId = leaf.field("id").as_str()?.parse().ok()?;
    let ts: Timestamp = leaf.field("ts").as_str()?.parse().ok()?;
    let kind: EventKind = serde_json::from_value(leaf.field("event").clone()).ok()?;
    let mut event =
        Event::new(id, ts, leaf.field("source").as_str()?, kind, leaf.field("native_event").as_str()?);
    event.harness_session_id = text("harness_session_id");
    event.session_check = serde_json::from_value(leaf.field("session_check").clone()).ok();
    event.sender_ts = text("sender_ts").and_then(|ts| ts.parse().ok());
    event.turn_id = text("turn_id");
    event.tool_use_id = text("tool_use_id");
    event.cwd = text("cwd");
    event.project = text("project");
    event.tool = tool(leaf, payload);
    event.agent = serde_json::from_value(leaf.field("agent").clone()).unwrap_or_default();
    event.detail = serde_json::from_value(payload.field("detail").clone()).unwrap_or_default();
    Some(event)
}

/// Parses a field of a record, or returns the default if the field is absent. An unknown value, such as one written
/// by a newer version, is an error, because the default would be a different decision.
fn parse_or_default<T: Default>(
    value: &Value,
    read: fn(Value) -> serde_json::Result<T>,
) -> serde_json::Result<T> {
    if value.is_null() { Ok(T::default()) } else { read(value.clone()) }
}

fn parse_outcome(leaf: &Value, payload: &Value) -> serde_json::Result<Outcome> {
    let by = match leaf.field("policy_rule_id").as_str() {
        Some(rule) => Origin::rule(rule),
        None => match decided_by(leaf).as_deref().and_then(|by| by.strip_prefix("hook:")) {
            Some(hook) => Origin::hook(hook),
            None => Origin::Engine,
        },
    };
    let attributed = |key: &str| -> Vec<Attributed<String>> {
        leaf.field(key)
            .as_str()
            .map(|text| Attributed { by: by.clone(), value: text.to_owned() })
            .into_iter()
            .collect()
    };
    let part = |key: &str| payload.field(key).clone();
    let steps = leaf.field("trace").as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(Outcome {
        decision: parse_or_default::<Decision>(leaf.field("verdict"), serde_json::from_value)?,
        flow: parse_or_default::<Flow>(leaf.field("flow"), serde_json::from_value)?,
        reasons: attributed("reason"),
        nudges: attributed("nudge"),
        modifications: serde_json::from_value(part("modifications")).unwrap_or_default(),
        tool_input: payload.get("tool_input").cloned(),
        context: serde_json::from_value(part("context")).unwrap_or_default(),
        messages: serde_json::from_value(part("messages")).unwrap_or_default(),
        // Skip the marker that replaces steps cut from a long trace.
        trace: steps
            .iter()
            .filter_map(|step| serde_json::from_value::<TraceEntry>(step.clone()).ok())
            .collect(),
        ..Outcome::default()
    })
}

/// Access to fields of a JSON value. A missing field, or a value that is not an object, gives null.
pub trait JsonField {
    /// Field with this name.
    fn field(&self, key: &str) -> &Value;

    /// Text of the field with this name.
    fn text(&self, key: &str) -> Option<String>;
}

impl JsonField for Value {
    fn field(&self, key: &str) -> &Value {
        static NULL: Value = Value::Null;
        self.get(key).unwrap_or(&NULL)
    }

    fn text(&self, key: &str) -> Option<String> {
        self.field(key).as_str().map(ToOwned::to_owned)
    }
}

/// Ranges of records in which secrets were kept, according to recorded settings. The last one may be open.
pub fn unredacted_spans(reader: &Reader) -> Result<Vec<(u64, Option<u64>)>, ReadError> {
    let filter =
        Filter { kind: Some(LeafKind::Change), text: Some(SETTINGS_CHANGE.to_owned()), ..Filter::default() };
    let found = reader.query(&filter, u64::from(u32::MAX))?;
    let mut spans: Vec<(u64, Option<u64>)> = Vec::new();
    for record in found.records.iter().rev() {
        let leaf = envelope(record);
        if leaf.field("what") != SETTINGS_CHANGE {
            continue;
        }
        let open = spans.last_mut().filter(|(_, to)| to.is_none());
        match (leaf.field("detail").field("keep_raw") == true, open) {
            (true, None) => spans.push((record.seq, None)),
            (false, Some((_, to))) => *to = Some(record.seq),
            _ => {}
        }
    }
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_unknown_decision_is_an_error() {
        let read = |leaf: Value| parse_outcome(&leaf, &Value::Null).map(|outcome| outcome.decision);
        assert_eq!(read(json!({"verdict": "deny"})).unwrap(), Decision::Deny);
        assert_eq!(read(json!({})).unwrap(), Decision::None);
        assert!(read(json!({"verdict": "unknown"})).is_err());
        assert!(read(json!({"verdict": "deny", "flow": "unknown"})).is_err());
    }
}
