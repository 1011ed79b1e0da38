// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Adds the rules of a template to an existing file.

use super::Template;
use crate::append_rule;
use tenterhook_error::Failure;

impl Template {
    /// Appends this template's rules to the text `before` of a rule file. Returns the whole template if `before` is
    /// empty.
    pub fn add_to(&self, name: &str, before: &str) -> Result<String, Failure> {
        if before.trim().is_empty() {
            return Ok(self.rules().to_owned());
        }
        if self.rules().contains("\nlists:\n") {
            let message = format!("`{}` defines lists, which cannot be added to an existing file", self.name);
            let hint = format!(
                "write it with `tenterhook rules new --from {} --output FILE`, then copy its rules by hand",
                self.name
            );
            return Err(Failure::user(message).hint(hint));
        }
        let added = |text: String, (id, item): &(String, String)| append_rule(name, &text, item, id);
        self.rule_items().iter().try_fold(before.to_owned(), added)
    }

    /// The template's rules: the id of each rule and its text as an item of a YAML list.
    pub fn rule_items(&self) -> Vec<(String, String)> {
        let (_, list) = self.rules().split_once("\nrules:\n").unwrap_or_default();
        let mut items: Vec<(String, String)> = Vec::new();
        for line in list.lines() {
            let line = line.strip_prefix("  ").unwrap_or(line);
            if let Some(id) = line.strip_prefix("- id: ") {
                items.push((id.trim().to_owned(), String::new()));
            }
            if let Some((_, text)) = items.last_mut() {
                text.push_str(line);
                text.push('\n');
            }
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TemplateKind, find};

    #[test]
    fn rules_are_added_behind_those_that_are_there() {
        let before = "version: 1\nrules:\n  - {id: a, match: {tool: shell}, verdict: ask}\n";
        let two = find(TemplateKind::Rule, "no-sending-after-secrets").unwrap();
        let after = two.add_to("policy.yaml", before).unwrap();
        assert!(after.starts_with(before));
        assert_eq!(after.matches("- id: ").count(), 2, "{after}");
        assert!(two.add_to("policy.yaml", &after).unwrap_err().message.contains("already"));
        assert_eq!(two.add_to("policy.yaml", "").unwrap(), two.rules());
        let lists = find(TemplateKind::Rule, "host-list").unwrap();
        assert!(lists.add_to("policy.yaml", before).unwrap_err().message.contains("defines lists"));
    }
}
