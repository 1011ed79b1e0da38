// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `Bash(git push:*)`: one command, spelled out or with `*` for anything.

use super::{Meaning, Sense};
use tenterhook_document::yaml::Tree;

/// What a command that is vouched for may consist of: no letter with which another begins.
const HARMLESS: &str = r"[^;&|<>`$()\\\n]";
/// A new line would begin another command.
const BLANK: &str = r"[ \t]";

pub(super) fn meaning(of: &str, sense: Sense) -> Meaning {
    // `git:*` is the older spelling of `git *`.
    let of = of.strip_suffix(":*").map_or_else(|| of.to_owned(), |head| format!("{head} *"));
    match (sense, words(&of)) {
        (Sense::Stops, Some((program, words))) => {
            let mut shell = vec![("program", Tree::text(program))];
            if !words.is_empty() {
                shell.push(("words", Tree::texts(words)));
            }
            let mut meaning = Meaning::of(vec![("shell", Tree::Map(shell))]);
            if !of.contains('*') {
                meaning
                    .notes
                    .push("Also with more words behind it, which the original did not cover.".to_owned());
            }
            meaning
        }
        (Sense::Stops, None) => {
            let pattern = format!(r"(?:^|[\s;&|(`]){}", pattern(&of, r"\s", ".*"));
            let mut meaning = Meaning::of(on_text(pattern));
            meaning.notes.push("It is looked for in the text as it is written.".to_owned());
            meaning
        }
        (Sense::Vouches, _) => {
            let pattern = format!(r"^\s*{}\s*$", pattern(&of, BLANK, &format!("{HARMLESS}*")));
            let mut meaning = Meaning::of(on_text(pattern));
            meaning
                .notes
                .push("Only for one plain command: no `;`, `&&`, pipes, redirections or `$`.".to_owned());
            meaning
        }
    }
}

fn on_text(pattern: String) -> tenterhook_document::yaml::Map {
    let command = Tree::Map(vec![("command", Tree::texts([pattern]))]);
    vec![("tool", Tree::text("shell")), ("regex", command)]
}

/// The program and the words behind it as globs, if the rule consists of plain words.
fn words(of: &str) -> Option<(String, Vec<String>)> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_./:@=,+-*".contains(letter);
    let mut words = Vec::new();
    for word in of.split_whitespace() {
        // A `*` stands for any text there, here for any part of a word.
        let inside = word.trim_end_matches('*').contains('*');
        if inside || !word.chars().all(plain) {
            return None;
        }
        words.push(word);
    }
    let (first, rest) = words.split_first()?;
    let program = first.rsplit('/').next().filter(|name| !name.is_empty())?;
    // Words are looked for in their order, with anything in between.
    let rest = rest.iter().filter(|word| **word != "*").map(|word| (*word).to_owned());
    Some((program.to_owned(), rest.collect()))
}

/// The rule as a pattern: `*` is `anything`, and a last ` *` may be missing altogether.
fn pattern(of: &str, blank: &str, anything: &str) -> String {
    let (of, tail) = match of.strip_suffix(" *") {
        Some(head) => (head, format!("(?:{blank}{anything})?")),
        None => (of, String::new()),
    };
    let parts: Vec<_> = of.split('*').map(|text| literal(text, blank)).collect();
    format!("{}{tail}", parts.join(anything))
}

/// Every letter for itself, spaces for any number of them.
fn literal(text: &str, blank: &str) -> String {
    regex::escape(text).replace(r"\-", "-").replace(' ', &format!("{blank}+"))
}
