// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A rule of ours in the making, and the file they are written to.

use std::collections::BTreeSet;

use tenterhook_document::yaml::{Map, Tree};
use tenterhook_policy::RuleSet;

/// A rule to be written.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) id: String,
    /// What a reader should know that the rule itself cannot say.
    pub(super) notes: Vec<String>,
    pub(super) description: String,
    pub(super) severity: Option<String>,
    pub(super) matches: Map,
    pub(super) when: Option<String>,
    /// `deny`, `ask`, `allow`, or `none`: it only ends the search.
    pub(super) verdict: &'static str,
    pub(super) reason: Option<String>,
    pub(super) nudge: Option<String>,
}

/// Hands out ids that nobody has yet.
pub(super) struct Ids(BTreeSet<String>);

/// The whole file: what is said about it, its keys above `rules`, and the rules.
pub(super) fn file(notes: &[String], head: &Map, drafts: &[Draft]) -> String {
    let mut out = String::new();
    for note in notes {
        out.push_str(&format!("# {}\n", one_line(note)));
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

/// Nothing of somebody else's file may end a comment of ours.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() || letter == '\u{2028}' { ' ' } else { letter })
        .collect()
}

// === impl Draft ===

impl Draft {
    fn write(&self, out: &mut String) {
        for note in &self.notes {
            out.push_str(&format!("  # {}\n", one_line(note)));
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

// === impl Ids ===

impl Ids {
    /// The ids of the rules compiled in are taken from the start.
    pub(super) fn new() -> Self {
        let lines = RuleSet::baseline_sources().iter().flat_map(|source| source.text.lines());
        Self(lines.filter_map(|line| line.strip_prefix("  - id: ")).map(ToOwned::to_owned).collect())
    }

    /// An id of the letters that ids have, as near to the wanted one as can be.
    pub(super) fn take(&mut self, wanted: &str) -> String {
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
