// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Regular expressions of a rule are tried before anything else is made of it.

use tenterhook_document::{Misfit, Node, Value};

use crate::conditions::pattern::Pattern;

/// Tries every pattern of a rule's `match`: all texts below `regex`, and `text` and `sql` below `shell`. Returns
/// those that cannot be used.
pub(super) fn attempt(rule: &Node) -> Vec<Misfit> {
    let mut unusable = Vec::new();
    if let Some(conditions) = rule.get("match") {
        below(conditions, false, &mut unusable);
    }
    unusable
}

fn below(node: &Node, patterns: bool, unusable: &mut Vec<Misfit>) {
    match &node.value {
        Value::Map(entries) => {
            for (key, value) in entries {
                below(value, patterns || matches!(key.text(), Some("regex" | "text" | "sql")), unusable);
            }
        }
        Value::List(items) => items.iter().for_each(|item| below(item, patterns, unusable)),
        Value::Text(text) if patterns => {
            let misfit = |message| Misfit { spot: node.spot, message };
            unusable.extend(Pattern::attempt(text).err().map(misfit));
        }
        _ => {}
    }
}
