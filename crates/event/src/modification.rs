// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a hook or rule wants to be different, by what it touches.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How a change meets what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Merge {
    /// The whole is replaced.
    Replace,
    /// Top-level keys are replaced, the others stay.
    Shallow,
    /// Objects are merged at every depth; everything else is replaced.
    Deep,
}

/// Which tools the model may choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SelectionMode {
    /// The model decides whether to call one.
    Auto,
    /// The model has to call one.
    Any,
    /// The model may call none.
    None,
}

/// One change. Lower priority numbers apply first; a later write wins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Modification {
    /// The arguments the tool will run with.
    ToolInput {
        /// How it meets the arguments that were asked for.
        merge: Merge,
        /// The new arguments.
        value: Value,
    },
    /// What the model is told the tool returned.
    ToolOutput {
        /// The new output.
        value: Value,
    },
    /// The request to the model.
    ModelRequest {
        /// How it meets the request.
        merge: Merge,
        /// The new parts.
        value: Value,
    },
    /// The model's answer; at `pre-model` the model is not called at all.
    ModelResponse {
        /// How it meets the answer, if there is one.
        merge: Merge,
        /// The new parts.
        value: Value,
    },
    /// The tools the model may choose from.
    ToolSelection {
        /// Whether it may, must or must not call one.
        mode: SelectionMode,
        /// The names it may call; empty: no restriction by name.
        allowed: Vec<String>,
    },
}

impl Merge {
    /// Brings `change` into `target`.
    pub fn apply(self, target: &mut Value, change: &Value) {
        match (self, target, change) {
            (Self::Shallow, Value::Object(target), Value::Object(change)) => {
                target.extend(change.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            (Self::Deep, Value::Object(target), Value::Object(change)) => deep(target, change),
            (_, target, change) => *target = change.clone(),
        }
    }
}

fn deep(target: &mut Map<String, Value>, change: &Map<String, Value>) {
    for (key, value) in change {
        match (target.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(value)) => deep(inner, value),
            _ => {
                target.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_merge_keeps_what_it_says_it_keeps() {
        let asked = json!({"command": "ls", "env": {"A": 1, "B": 2}});
        let change = json!({"env": {"B": 3}});
        let merged = |merge: Merge| {
            let mut value = asked.clone();
            merge.apply(&mut value, &change);
            value
        };
        assert_eq!(merged(Merge::Replace), json!({"env": {"B": 3}}));
        assert_eq!(merged(Merge::Shallow), json!({"command": "ls", "env": {"B": 3}}));
        assert_eq!(merged(Merge::Deep), json!({"command": "ls", "env": {"A": 1, "B": 3}}));
    }

    #[test]
    fn a_change_that_is_no_object_replaces_the_whole() {
        let mut value = json!({"a": 1});
        Merge::Deep.apply(&mut value, &json!("text"));
        assert_eq!(value, json!("text"));
    }
}
