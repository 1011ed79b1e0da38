// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::{Map, Value};

use super::{Line, at, lines, list, number, pretty, some, text};

/// One decision, with all that is on record about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decided {
    pub(crate) line: Line,
    pub(crate) native_event: String,
    pub(crate) recorded: String,
    pub(crate) origin: String,
    pub(crate) generation: String,
    pub(crate) signer: String,
    pub(crate) hash: String,
    /// The event in the normal form.
    pub(crate) normal: Vec<String>,
    /// Who spoke, in order.
    pub(crate) parts: Vec<Part>,
    pub(crate) reason: Vec<String>,
    pub(crate) nudge: Vec<String>,
    /// What hooks and rules changed or added, by name.
    pub(crate) changed: Vec<(&'static str, Vec<String>)>,
    pub(crate) erased: bool,
    /// The hook decided by itself; another leaf of the event counts.
    pub(crate) undelivered: bool,
}

/// One hook or rule that took part.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub(crate) by: String,
    pub(crate) status: String,
    pub(crate) decision: String,
    pub(crate) note: String,
    pub(crate) took_us: Option<u64>,
}

/// The fields of the normal form, in its order.
const NORMAL: &[&str] = &[
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

/// What a hook or rule may have changed.
const CHANGED: &[(&str, &str)] = &[
    ("tool_input", "the input that runs instead"),
    ("modifications", "changes"),
    ("context", "told to the agent"),
    ("messages", "told to the person"),
];

impl Decided {
    pub(crate) fn read(record: &Value) -> Option<Self> {
        let line = Line::recorded(record)?;
        let (leaf, payload) = (at(record, "leaf"), at(record, "payload"));
        let changed = CHANGED.iter().filter_map(|(key, name)| {
            let value = at(payload, key);
            let nothing = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            (!nothing).then(|| (*name, pretty(value)))
        });
        Some(Self {
            line,
            native_event: text(leaf, "native_event"),
            recorded: text(leaf, "recorded"),
            origin: text(leaf, "origin"),
            generation: text(leaf, "generation"),
            signer: text(leaf, "signer"),
            hash: text(record, "hash"),
            normal: pretty(&normal(leaf, payload)),
            parts: list(leaf, "trace").iter().map(Part::read).collect(),
            reason: lines(leaf, "reason"),
            nudge: lines(leaf, "nudge"),
            changed: changed.collect(),
            erased: at(record, "erased") == true
                || number(at(leaf, "payload"), "bytes") > 0 && payload.is_null(),
            undelivered: at(record, "undelivered") == true,
        })
    }
}

impl Part {
    fn read(step: &Value) -> Self {
        Self {
            by: text(step, "by"),
            status: text(step, "status"),
            decision: some(step, "decision").filter(|decision| decision != "none").unwrap_or_default(),
            note: text(step, "note"),
            took_us: at(step, "took_us").as_u64(),
        }
    }
}

/// The event as it was judged: the envelope, with the payload's parts where they came from.
fn normal(leaf: &Value, payload: &Value) -> Value {
    let mut normal = Map::new();
    for key in NORMAL {
        let value = if *key == "detail" { at(payload, key) } else { at(leaf, key) };
        if !value.is_null() {
            normal.insert((*key).to_owned(), value.clone());
        }
    }
    if let Some(tool) = normal.get_mut("tool").and_then(Value::as_object_mut) {
        tool.insert("args".to_owned(), at(payload, "args").clone());
    }
    Value::Object(normal)
}
