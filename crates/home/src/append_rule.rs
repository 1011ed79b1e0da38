// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Appends a rule to a user's file and leaves the rest of the file unchanged.

use tenterhook_policy::{RuleSet, RuleSource, SourceLayer};

use tenterhook_error::Failure;

/// First line of a new rule file: editors check and complete the file with the schema that it names.
const RULES_SCHEMA_LINE: &str = "# yaml-language-server: \
     $schema=https://raw.githubusercontent.com/tenterhook/tenterhook/main/docs/spec/rules.schema.json";

/// Appends a rule to the text `before` of a rule file and returns the new text. `rule` is an item of a YAML list. Fails
/// if the new text lacks the new rule or one of the old rules, or has more problems than the old text.
pub fn append_rule(name: &str, before: &str, rule: &str, id: &str) -> Result<String, Failure> {
    if before.trim().is_empty() {
        return Ok(format!("{RULES_SCHEMA_LINE}\nversion: 1\nrules:\n{}", indented(rule, "  ")));
    }
    let old = RuleSet::load(&[source(name, before)]);
    if old.rules.rule(id).is_some() {
        return Err(Failure::user(format!("rule `{id}` already exists in `{name}`")));
    }
    let last = before.lines().rev().find(|line| line.trim_start().starts_with("- id:"));
    let indent: String =
        last.map_or("  ".to_owned(), |line| line.chars().take_while(|letter| *letter == ' ').collect());
    let gap = if before.ends_with('\n') { "\n" } else { "\n\n" };
    let after = format!("{before}{gap}{}", indented(rule, &indent));
    let new = RuleSet::load(&[source(name, &after)]);
    let keeps_rules = old.rules.rules().all(|rule| new.rules.rule(rule.id()).is_some());
    if new.rules.rule(id).is_none() || !keeps_rules || new.problems.len() > old.problems.len() {
        return Err(Failure::internal(format!(
            "cannot append a rule to `{name}`: its rules are not a block list at the end of the file"
        )));
    }
    Ok(after)
}

fn source<'a>(name: &'a str, text: &'a str) -> RuleSource<'a> {
    RuleSource { name, text, layer: SourceLayer::User, trusted: true }
}

fn indented(text: &str, indent: &str) -> String {
    text.lines().flat_map(|line| [indent, line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "- id: new\n  match: {shell: {program: x}}\n  verdict: deny\n";

    #[test]
    fn what_was_written_stays_to_the_byte() {
        let before = "# mine\nversion: 1\nrules:\n    - id: old   # keep\n      match: {shell: {program: y}}\n      verdict: deny";
        let after = append_rule("p", before, RULE, "new").unwrap();
        assert_eq!(
            after.strip_prefix(before).unwrap(),
            "\n\n    - id: new\n      match: {shell: {program: x}}\n      verdict: deny\n"
        );
        assert!(append_rule("p", &after, RULE, "new").unwrap_err().message.contains("already"));
        assert_eq!(append_rule("p", " \n", RULE, "new").unwrap().lines().nth(1), Some("version: 1"));
    }

    #[test]
    fn a_file_that_ends_otherwise_is_left_alone() {
        for before in [
            "version: 1\nrules: []\n",
            "version: 1\nrules:\n  - {id: a, match: {tool: x}, verdict: deny}\nlists: {a: [b]}\n",
        ] {
            assert!(append_rule("p", before, RULE, "new").is_err(), "{before}");
        }
    }
}
