// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Regular expressions of a rule are tried before anything else is made of it.

use tenterhook_document::{Misfit, Node, Value};

use crate::compile::pattern::Pattern;

/// Tries every pattern of a rule's `match`: all texts below `regex`, and `text` and `sql` below `shell`.
pub(super) fn attempt(rule: &Node) -> Result<(), Misfit> {
    rule.get("match").map_or(Ok(()), |conditions| below(conditions, false))
}

fn below(node: &Node, patterns: bool) -> Result<(), Misfit> {
    match &node.value {
        Value::Map(entries) => entries.iter().try_for_each(|(key, value)| {
            below(value, patterns || matches!(key.text(), Some("regex" | "text" | "sql")))
        }),
        Value::List(items) => items.iter().try_for_each(|item| below(item, patterns)),
        Value::Text(text) if patterns => {
            Pattern::attempt(text).map_err(|message| Misfit { spot: node.spot, message })
        }
        _ => Ok(()),
    }
}
