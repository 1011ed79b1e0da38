// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Modifications: changes that a hook or rule makes to a tool call, a model request or their results.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How a modification is combined with the existing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Merge"))]
pub enum MergeMode {
    /// The whole value is replaced.
    Replace,
    /// Top-level keys of the new value are replaced; other keys are kept.
    Shallow,
    /// Objects are merged at every depth; everything else is replaced.
    Deep,
}

/// Whether the model may call tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SelectionMode {
    /// The model decides whether to call a tool.
    Auto,
    /// The model must call a tool.
    Any,
    /// The model must not call a tool.
    None,
}

/// One modification. Modifications are applied in priority order, lower numbers first. If two change the same value,
/// the last one applies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Modification {
    /// Changes the tool's arguments.
    ToolInput {
        /// How `value` is combined with the requested arguments.
        merge: MergeMode,
        /// The new arguments.
        value: Value,
    },
    /// Replaces the tool output that the model sees.
    ToolOutput {
        /// The new output.
        value: Value,
    },
    /// Changes the request to the model.
    ModelRequest {
        /// How `value` is combined with the request.
        merge: MergeMode,
        /// The new fields.
        value: Value,
    },
    /// Changes the model's response. For a `pre-model` event, the value is used as the response and the model is not
    /// called.
    ModelResponse {
        /// How `value` is combined with the response, if there is one.
        merge: MergeMode,
        /// The new fields.
        value: Value,
    },
    /// Restricts the tools that the model may call.
    ToolSelection {
        /// Whether the model may, must or must not call a tool.
        mode: SelectionMode,
        /// Names of the tools that may be called; empty for no restriction by name.
        allowed: Vec<String>,
    },
}

impl MergeMode {
    /// Applies `change` to `target`.
    pub fn apply(self, target: &mut Value, change: &Value) {
        match (self, target, change) {
            (Self::Shallow, Value::Object(target), Value::Object(change)) => {
                target.extend(change.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            (Self::Deep, Value::Object(target), Value::Object(change)) => merge_deep(target, change),
            (_, target, change) => *target = change.clone(),
        }
    }
}

fn merge_deep(target: &mut Map<String, Value>, change: &Map<String, Value>) {
    for (key, value) in change {
        match (target.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(value)) => merge_deep(inner, value),
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
        let merged = |merge: MergeMode| {
            let mut value = asked.clone();
            merge.apply(&mut value, &change);
            value
        };
        assert_eq!(merged(MergeMode::Replace), json!({"env": {"B": 3}}));
        assert_eq!(merged(MergeMode::Shallow), json!({"command": "ls", "env": {"B": 3}}));
        assert_eq!(merged(MergeMode::Deep), json!({"command": "ls", "env": {"A": 1, "B": 3}}));
    }

    #[test]
    fn a_change_that_is_no_object_replaces_the_whole() {
        let mut value = json!({"a": 1});
        MergeMode::Deep.apply(&mut value, &json!("text"));
        assert_eq!(value, json!("text"));
    }
}
