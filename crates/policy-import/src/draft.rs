// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Writes converted rules to a rule file.

use std::collections::BTreeSet;

use tenterhook_document::yaml::{Map, Tree};
use tenterhook_policy::RuleSet;

/// A rule to be written.
#[derive(Debug)]
pub(super) struct ImportedRule {
    pub(super) id: String,
    /// Comments for the reader of the file.
    pub(super) notes: Vec<String>,
    pub(super) description: String,
    pub(super) severity: Option<String>,
    pub(super) matches: Map,
    pub(super) when: Option<String>,
    /// `deny`, `ask`, `allow`, or `none`. A rule with `none` only ends the search for a matching rule.
    pub(super) verdict: &'static str,
    pub(super) reason: Option<String>,
    pub(super) nudge: Option<String>,
}

/// Generates rule ids that are not used yet.
pub(super) struct RuleIdGenerator(BTreeSet<String>);

/// Writes the whole file: comments, the keys above `rules`, and the rules.
pub(super) fn write_rule_file(notes: &[String], head: &Map, drafts: &[ImportedRule]) -> String {
    let mut out = String::new();
    for note in notes {
        out.push_str(&format!("# {}\n", single_line(note)));
    }
    out.push_str("version: 1\n");
    Tree::write(head, 0, &mut out);
    if drafts.is_empty() {
        out.push_str("rules: []\n");
        return out;
    }
    out.push_str("rules:\n");
    for draft in drafts {
        draft.write(&mut out);
    }
    out
}

/// Replaces line breaks, so that text of an imported file cannot end a comment.
fn single_line(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() || letter == '\u{2028}' { ' ' } else { letter })
        .collect()
}

// === impl ImportedRule ===

impl ImportedRule {
    fn write(&self, out: &mut String) {
        for note in &self.notes {
            out.push_str(&format!("  # {}\n", single_line(note)));
        }
        let optional = |key, value: &Option<String>| value.as_ref().map(|text| (key, Tree::text(text)));
        let entries = [
            Some(("id", Tree::text(&self.id))),
            Some(("description", Tree::text(&self.description))),
            optional("severity", &self.severity),
            Some(("match", Tree::Map(self.matches.clone()))),
            optional("when", &self.when),
            Some(("verdict", Tree::text(self.verdict))),
            optional("reason", &self.reason),
            optional("nudge", &self.nudge),
        ];
        let map: Map = entries.into_iter().flatten().collect();
        let mut block = String::new();
        Tree::write(&map, 4, &mut block);
        out.push_str("  - ");
        out.push_str(block.trim_start());
    }
}

// === impl RuleIdGenerator ===

impl RuleIdGenerator {
    /// Creates a generator in which the ids of the built-in rules are already in use.
    pub(super) fn new() -> Self {
        let lines = RuleSet::baseline_sources().iter().flat_map(|source| source.text.lines());
        Self(lines.filter_map(|line| line.strip_prefix("  - id: ")).map(ToOwned::to_owned).collect())
    }

    /// Returns an unused id with valid characters, as close as possible to the wanted one.
    pub(super) fn generate(&mut self, wanted: &str) -> String {
        let mut id = String::with_capacity(wanted.len());
        for letter in wanted.chars().map(|letter| letter.to_ascii_lowercase()) {
            let fits = letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-._/".contains(letter);
            match letter {
                letter if fits => id.push(letter),
                _ if id.is_empty() || id.ends_with(['-', '/']) => {}
                _ => id.push('-'),
            }
        }
        let id = match id.trim_end_matches('-') {
            "" => "imported",
            id => id,
        };
        let mut free = id.to_owned();
        let mut number = 1;
        while !self.0.insert(free.clone()) {
            number += 1;
            free = format!("{id}/{number}");
        }
        free
    }
}
