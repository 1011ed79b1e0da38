// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A decision as the ledger has it, in the engine's words again.

use serde_json::Value;
use tenterhook_api::LedgerRecord;
use tenterhook_event::{
    Decision, Event, EventId, EventKind, Flow, Origin, Outcome, Said, Step, Timestamp, ToolCall, ToolClass,
};
use tenterhook_ledger::Record;
use tenterhook_paths::Seen;

use tenterhook_error::Failure;

/// A leaf, its event and its outcome. What was erased or redacted is not in them.
pub struct Recorded {
    /// The envelope.
    pub leaf: Value,
    /// The event.
    pub event: Event,
    /// What was decided.
    pub outcome: Outcome,
    /// How long that took, in microseconds.
    pub took_us: u64,
    /// The links that were seen when it was decided.
    pub seen: Seen,
}

impl Recorded {
    /// Reads a leaf that is a decision.
    pub fn of(record: &Record) -> Result<Self, Failure> {
        Self::of_kind(record, &["decision"])
    }

    /// Reads a leaf of something that happened: a decision, or what a transcript tells of.
    pub fn happened(record: &Record) -> Result<Self, Failure> {
        Self::of_kind(record, &["decision", "seen"])
    }

    fn of_kind(record: &Record, kinds: &[&str]) -> Result<Self, Failure> {
        let seq = record.seq;
        let Some(bytes) = &record.bytes else {
            return Err(Failure::user(format!("leaf {seq} was pruned; only its hash is left")));
        };
        let unreadable = |why: &str| {
            Failure::internal(format!("leaf {seq} cannot be read: {why}"))
                .hint("`tenterhook ledger verify` says whether it was tampered with")
        };
        let leaf: Value = serde_json::from_slice(bytes).map_err(|error| unreadable(&error.to_string()))?;
        let kind = leaf.field("kind").as_str().unwrap_or_default();
        if !kinds.contains(&kind) {
            return Err(Failure::user(format!("leaf {seq} is no decision, but of kind `{kind}`"))
                .hint(format!("`tenterhook ledger show {seq}` shows it")));
        }
        let event = event(&leaf, &payload(record)).ok_or_else(|| unreadable("it is no event"))?;
        let outcome = outcome(&leaf, &payload(record)).map_err(|error| unreadable(&error.to_string()))?;
        let took_us = leaf.field("took_us").as_u64().unwrap_or_default();
        let seen = seen(leaf.field("facts"));
        Ok(Self { leaf, event, outcome, took_us, seen })
    }
}

/// What was seen then. Of more than a leaf holds nothing is left but that there was more.
fn seen(facts: &Value) -> Seen {
    if facts.is_null() {
        return Seen::default();
    }
    serde_json::from_value(facts.clone()).unwrap_or_else(|_| Seen { cut: true, ..Seen::default() })
}

/// An envelope; nothing when the leaf was pruned or cannot be read.
pub fn leaf(record: &Record) -> Value {
    record.bytes.as_deref().and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
}

/// Whether the payload of a leaf was erased.
pub fn is_erased(record: &Record) -> bool {
    record.payload.as_ref().is_some_and(|payload| payload.salt.is_none())
}

/// A record, as the API describes it.
pub fn ledger_record(record: &Record) -> LedgerRecord {
    LedgerRecord {
        seq: record.seq,
        hash: record.hash.to_string(),
        leaf: leaf(record),
        payload: payload(record),
        erased: is_erased(record),
        pruned: record.bytes.is_none(),
        undelivered: record.undelivered,
    }
}

/// The payload of a leaf, as far as it is still there.
pub fn payload(record: &Record) -> Value {
    let bytes = record.payload.as_ref().and_then(|payload| payload.bytes.as_deref());
    bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
}

/// Who decided, for people: the id of a rule, `hook:<id>`, or nothing.
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

/// The same of an outcome that is not recorded yet.
pub fn outcome_decided_by(outcome: &Outcome) -> Option<String> {
    match outcome.decided_by()? {
        Origin::Rule(id) => Some(id.to_string()),
        by @ Origin::Hook(_) => Some(by.to_string()),
        Origin::Engine => None,
    }
}

/// The tool call of a leaf.
pub fn tool(leaf: &Value, payload: &Value) -> Option<ToolCall> {
    let name = leaf.field("tool").field("name").as_str()?;
    let mut tool = ToolCall::new(name, payload.field("args").clone());
    if let Some(class) = leaf.field("tool").field("class").as_str().and_then(ToolClass::from_name) {
        tool.class = class;
    }
    Some(tool)
}

fn event(leaf: &Value, payload: &Value) -> Option<Event> {
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

/// A field of a record, or its default if absent. An unknown value, such as one written by a newer version, is an error:
/// the default would be a different decision.
fn known<T: Default>(value: &Value, read: fn(Value) -> serde_json::Result<T>) -> serde_json::Result<T> {
    if value.is_null() { Ok(T::default()) } else { read(value.clone()) }
}

fn outcome(leaf: &Value, payload: &Value) -> serde_json::Result<Outcome> {
    let by = match leaf.field("policy_rule_id").as_str() {
        Some(rule) => Origin::rule(rule),
        None => match decided_by(leaf).as_deref().and_then(|by| by.strip_prefix("hook:")) {
            Some(hook) => Origin::hook(hook),
            None => Origin::Engine,
        },
    };
    let said = |key: &str| -> Vec<Said<String>> {
        leaf.field(key)
            .as_str()
            .map(|what| Said { by: by.clone(), what: what.to_owned() })
            .into_iter()
            .collect()
    };
    let part = |key: &str| payload.field(key).clone();
    let steps = leaf.field("trace").as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(Outcome {
        decision: known::<Decision>(leaf.field("verdict"), serde_json::from_value)?,
        flow: known::<Flow>(leaf.field("flow"), serde_json::from_value)?,
        reasons: said("reason"),
        nudges: said("nudge"),
        modifications: serde_json::from_value(part("modifications")).unwrap_or_default(),
        tool_input: payload.get("tool_input").cloned(),
        context: serde_json::from_value(part("context")).unwrap_or_default(),
        messages: serde_json::from_value(part("messages")).unwrap_or_default(),
        // A step that was cut away to bound the leaf is not one.
        trace: steps.iter().filter_map(|step| serde_json::from_value::<Step>(step.clone()).ok()).collect(),
        ..Outcome::default()
    })
}

/// A field of a JSON object that may be absent, or no object at all: then it is null.
pub trait Field {
    /// The field of this name.
    fn field(&self, key: &str) -> &Value;

    /// The text in the field of this name.
    fn text(&self, key: &str) -> Option<String>;
}

impl Field for Value {
    fn field(&self, key: &str) -> &Value {
        static NULL: Value = Value::Null;
        self.get(key).unwrap_or(&NULL)
    }

    fn text(&self, key: &str) -> Option<String> {
        self.field(key).as_str().map(ToOwned::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_decision_that_is_not_known_here_is_an_error_and_not_another_decision() {
        let read = |leaf: Value| outcome(&leaf, &Value::Null).map(|outcome| outcome.decision);
        assert_eq!(read(json!({"verdict": "deny"})).unwrap(), Decision::Deny);
        assert_eq!(read(json!({})).unwrap(), Decision::None);
        assert!(read(json!({"verdict": "a word of the future"})).is_err());
        assert!(read(json!({"verdict": "deny", "flow": "a word of the future"})).is_err());
    }
}
