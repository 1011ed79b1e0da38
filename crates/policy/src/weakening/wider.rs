// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compares the conditions of two rules.

use serde_json::{Map, Value};

/// Lists of which one entry has to match.
const ALTERNATIVES: &[&str] = &[
    "any", "classes", "does", "event", "on", "option", "patterns", "place", "plain", "port", "sql", "text",
    "wanted",
];
/// Lists of what does not match.
const EXCEPTIONS: &[&str] = &["except", "not"];
/// Texts for messages.
const SHOWN: &[&str] = &["shown"];

/// Whether the conditions `new` are at least as wide as `old`: every call that satisfies `old` satisfies `new`. False if
/// that is not certain. Both are conditions as they are serialized.
pub(super) fn is_wider(new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => is_wider_map(new, old),
        (Value::Array(new), Value::Array(old)) => {
            new.len() == old.len() && new.iter().zip(old).all(|(new, old)| is_wider(new, old))
        }
        _ => new == old,
    }
}

fn is_wider_map(new: &Map<String, Value>, old: &Map<String, Value>) -> bool {
    let mut keys = new.keys().chain(old.keys());
    keys.all(|key| {
        let (new, old) = (new.get(key).unwrap_or(&Value::Null), old.get(key).unwrap_or(&Value::Null));
        let key = key.as_str();
        if new == old || SHOWN.contains(&key) {
            true
        } else if EXCEPTIONS.contains(&key) {
            has_no_more_exceptions(new, old)
        } else if let (Value::Array(new), Value::Array(old)) = (new, old)
            && ALTERNATIVES.contains(&key)
        {
            // Every former alternative is still there, or is covered by a wider one.
            old.iter().all(|old| new.iter().any(|new| is_wider(new, old)))
        } else {
            is_wider(new, old)
        }
    })
}

/// Whether every exception in `new` is also in `old`.
fn has_no_more_exceptions(new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Null, _) => true,
        (Value::Array(new), Value::Array(old)) => new.iter().all(|exception| old.contains(exception)),
        // Exclusions of names: literal names and patterns.
        (Value::Object(new), Value::Object(old)) => {
            new.iter().all(|(key, new)| old.get(key).is_some_and(|old| has_no_more_exceptions(new, old)))
        }
        _ => new == old,
    }
}
