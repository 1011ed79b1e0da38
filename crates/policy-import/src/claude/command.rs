// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts permissions on commands, such as `Bash(git push:*)`. The text in parentheses is a command, in
//! which `*` matches any text.

use super::{PermissionConditions, PermissionKind};
use tenterhook_document::yaml::Tree;

/// Characters that an allowed command may contain. Characters that could start another command are excluded.
const PLAIN_CHARACTER: &str = r"[^;&|<>`$()\\\n]";
/// Whitespace except line breaks, which would start another command.
const BLANK_CHARACTER: &str = r"[ \t]";

pub(super) fn convert(of: &str, kind: PermissionKind) -> PermissionConditions {
    // `git:*` is the older spelling of `git *`.
    let of = of.strip_suffix(":*").map_or_else(|| of.to_owned(), |head| format!("{head} *"));
    match (kind, split_words(&of)) {
        (PermissionKind::Restricts, Some((program, words))) => {
            let mut shell = vec![("program", Tree::text(program))];
            if !words.is_empty() {
                shell.push(("words", Tree::texts(words)));
            }
            let mut meaning = PermissionConditions::new(vec![("shell", Tree::Map(shell))]);
            if !of.contains('*') {
                meaning
                    .notes
                    .push("Also matches with more words after it, which the original did not.".to_owned());
            }
            meaning
        }
        (PermissionKind::Restricts, None) => {
            let pattern = format!(r"(?:^|[\s;&|(`]){}", to_regex(&of, r"\s", ".*"));
            let mut meaning = PermissionConditions::new(match_raw_text(pattern));
            meaning.notes.push("Matches the raw text of the command.".to_owned());
            meaning
        }
        (PermissionKind::Allows, _) => {
            let pattern =
                format!(r"^\s*{}\s*$", to_regex(&of, BLANK_CHARACTER, &format!("{PLAIN_CHARACTER}*")));
            let mut meaning = PermissionConditions::new(match_raw_text(pattern));
            meaning
                .notes
                .push("Only for one plain command without `;`, `&&`, pipes, redirections or `$`.".to_owned());
            meaning
        }
    }
}

fn match_raw_text(pattern: String) -> tenterhook_document::yaml::Map {
    let command = Tree::Map(vec![("command", Tree::texts([pattern]))]);
    vec![("tool", Tree::text("shell")), ("regex", command)]
}

/// Returns the program and the words after it as globs, if the rule consists of plain words.
fn split_words(of: &str) -> Option<(String, Vec<String>)> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_./:@=,+-*".contains(letter);
    let mut words = Vec::new();
    for word in of.split_whitespace() {
        // In Claude Code, `*` matches any text. In a rule file, it matches only part of a word.
        let inside = word.trim_end_matches('*').contains('*');
        if inside || !word.chars().all(plain) {
            return None;
        }
        words.push(word);
    }
    let (first, rest) = words.split_first()?;
    let program = first.rsplit('/').next().filter(|name| !name.is_empty())?;
    // A rule matches words in order, with any words in between, so `*` needs no glob.
    let rest = rest.iter().filter(|word| **word != "*").map(|word| (*word).to_owned());
    Some((program.to_owned(), rest.collect()))
}

/// Converts the rule to a regular expression: `*` becomes `anything`, and a trailing ` *` is optional.
fn to_regex(of: &str, blank: &str, anything: &str) -> String {
    let (of, tail) = match of.strip_suffix(" *") {
        Some(head) => (head, format!("(?:{blank}{anything})?")),
        None => (of, String::new()),
    };
    let parts: Vec<_> = of.split('*').map(|text| escape_literal(text, blank)).collect();
    format!("{}{tail}", parts.join(anything))
}

/// Escapes a string; a space matches any amount of whitespace.
fn escape_literal(text: &str, blank: &str) -> String {
    regex::escape(text).replace(r"\-", "-").replace(' ', &format!("{blank}+"))
}
