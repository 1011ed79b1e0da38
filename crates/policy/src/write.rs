// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Writes a rule as YAML.

use serde_json::Value;

use tenterhook_document::yaml::{Map, Tree};

/// The keys of a rule, in the order in which they are written.
const ORDER: &[&str] = &[
    "id",
    "description",
    "severity",
    "mode",
    "build_machines",
    "project_scripts",
    "match",
    "when",
    "unparsed",
    "verdict",
    "reason",
    "nudge",
    "rewrite",
    "on_match",
    "limit",
    "label",
    "label_for",
    "expires",
    "overrides",
    "examples",
];

/// Writes a rule as an item of a YAML list. Keys that are null or empty are left out. The rule is not checked here;
/// it is checked when it is loaded.
pub fn rule_yaml(rule: &Value) -> String {
    let Value::Object(fields) = rule else { return String::new() };
    let known = ORDER.iter().filter_map(|key| fields.get_key_value(*key));
    let others = fields.iter().filter(|(key, _)| !ORDER.contains(&key.as_str()));
    let map: Map<String> =
        known.chain(others).filter_map(|(key, value)| Some((key.clone(), tree(value)?))).collect();
    let mut text = String::new();
    Tree::write(&map, 2, &mut text);
    match text.strip_prefix("  ") {
        Some(rest) => format!("- {rest}"),
        None => text,
    }
}

fn tree(value: &Value) -> Option<Tree<String>> {
    Some(match value {
        Value::Null => return None,
        Value::String(text) if text.is_empty() => return None,
        Value::String(text) => Tree::text(text.clone()),
        Value::Bool(_) | Value::Number(_) => Tree::Bare(value.to_string()),
        Value::Array(items) if items.is_empty() => return None,
        Value::Array(items) => Tree::List(items.iter().filter_map(tree).collect()),
        Value::Object(fields) => {
            let map: Map<String> =
                fields.iter().filter_map(|(key, value)| Some((key.clone(), tree(value)?))).collect();
            if map.is_empty() {
                return None;
            }
            Tree::Map(map)
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{RuleSet, RuleSource, SourceLayer};

    #[test]
    fn a_rule_is_written_in_the_order_people_read_it_and_can_be_loaded() {
        let rule = json!({
            "verdict": "deny", "id": "no-docker", "reason": "it's: no\nreally", "nudge": "", "overrides": [],
            "match": {"shell": {"program": ["docker", "yes", "1"]}, "not": {}},
            "limit": {"count": 20, "window": "1h"},
            "examples": {"deny": [], "allow": ["echo 'docker: #1'", {"tool": "Read", "args": {"path": "/a"}}]},
        });
        let text = rule_yaml(&rule);
        assert!(text.starts_with("- id: no-docker\n  match:\n    shell:\n      program: [docker, 'yes', '1']\n  verdict: deny\n"), "{text}");
        assert!(!text.contains("overrides") && !text.contains("nudge"), "{text}");
        let file: String = text.lines().flat_map(|line| ["  ", line, "\n"]).collect();
        let file = format!("version: 1\nrules:\n{file}");
        let loaded =
            RuleSet::load(&[RuleSource { name: "t", text: &file, layer: SourceLayer::User, trusted: true }]);
        assert!(loaded.problems.is_empty(), "{:?}\n{file}", loaded.problems);
    }
}
