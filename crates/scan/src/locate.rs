// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the lines of a text on which rules match.

use std::collections::BTreeMap;

use tenterhook_event::{Decision, Timestamp};

use crate::{image, statements};
use tenterhook_command_files::{CommandText, RunLocation};
use tenterhook_rulebook::{Rulebook, Ruling, command_event};

/// Maximum number of bytes of earlier statements that are kept as context for later statements.
const MAX_CONTEXT_BYTES: usize = 4 * 1024;
/// Maximum number of bytes, over all statements of a text, that are evaluated as a statement together with its context.
const MAX_CONTEXT_EVALUATION_BYTES: usize = 256 * 1024;
/// Maximum number of bytes that are evaluated at once.
const MAX_EVALUATED_BYTES: usize = 60 * 1024;

/// Returns every line on which a rule asks or denies.
pub(crate) fn find_lines(
    book: &Rulebook,
    piece: &CommandText,
    directory: &str,
    now: Timestamp,
) -> Vec<(usize, Ruling)> {
    let objections = |text: &str| objections(book, piece.location, text, directory, now);
    // A text that is too long or too complex to be parsed as a whole is evaluated only statement by statement.
    let readable = piece.text.len() <= MAX_EVALUATED_BYTES
        && book.can_parse(&command_event(&piece.text, Some(directory), now));
    let whole = readable.then(|| objections(&piece.text));
    if whole.as_ref().is_some_and(Vec::is_empty) {
        return Vec::new();
    }
    let lines: Vec<&str> = piece.text.lines().collect();
    let statements = statements::split_statements(&lines);
    let mut found = LineRulings::default();
    let (mut before, mut together) = (String::new(), 0);
    for statement in &statements {
        let own = lines.get(statement.clone()).unwrap_or_default();
        let text = own.join("\n");
        let mut rulings = objections(&text);
        if !rulings.is_empty() && !before.is_empty() && together < MAX_CONTEXT_EVALUATION_BYTES {
            // Evaluated alone, the statement is denied or asked about. Together with its context, it may get a milder
            // or a stricter verdict.
            together += before.len() + text.len();
            rulings = objections(&format!("{before}{text}"));
        }
        if rulings.is_empty() {
            if affects_later(&text) && before.len() + text.len() < MAX_CONTEXT_BYTES {
                before += &text;
                before.push('\n');
            }
            continue;
        }
        for ruling in rulings {
            let within =
                find_line(own, |line| objections(line).iter().any(|other| is_same_ruling(other, &ruling)));
            let line = piece.file_line(statement.start + within.unwrap_or(0));
            found.add(line, ruling);
        }
    }
    // Some rules match only the whole text. Such a rule is reported at the first statement for which the text up to the
    // end of that statement matches.
    for ruling in whole.unwrap_or_default() {
        if !found.has(&ruling) {
            let shows = |end: usize| {
                let text = lines.get(..end).unwrap_or_default().join("\n");
                objections(&text).iter().any(|other| is_same_ruling(other, &ruling))
            };
            let at = statements.partition_point(|statement| !shows(statement.end));
            let start = statements.get(at).map_or(0, |statement| statement.start);
            found.add(piece.file_line(start), ruling);
        }
    }
    found.lines.into_iter().collect()
}

/// Rulings found so far. Each line is reported once, with its strictest ruling.
#[derive(Default)]
struct LineRulings {
    lines: BTreeMap<usize, Ruling>,
    all: Vec<Ruling>,
}

impl LineRulings {
    fn add(&mut self, line: usize, ruling: Ruling) {
        self.all.push(ruling.clone());
        let shown = self.lines.entry(line).or_default();
        if ruling.verdict > shown.verdict {
            *shown = ruling;
        }
    }

    /// Whether the same rule already has this ruling or a stricter one.
    fn has(&self, ruling: &Ruling) -> bool {
        self.all.iter().any(|other| other.rule == ruling.rule && other.verdict >= ruling.verdict)
    }
}

fn is_same_ruling(one: &Ruling, other: &Ruling) -> bool {
    (&one.rule, one.verdict) == (&other.rule, other.verdict)
}

/// Returns the first line for which a condition is true; lines joined by `\`, `|` or `&&` are treated as one.
fn find_line(lines: &[&str], holds: impl Fn(&str) -> bool) -> Option<usize> {
    if lines.len() < 2 {
        return None;
    }
    let mut start = 0;
    for end in 0..lines.len() {
        if lines.get(end).is_some_and(|line| line.ends_with(['\\', '|']) || line.ends_with("&&")) {
            continue;
        }
        let text = lines.get(start..=end).unwrap_or_default().join("\n");
        if holds(text.trim_start()) {
            return Some(start);
        }
        start = end + 1;
    }
    None
}

/// Whether a statement can change the meaning of later statements.
fn affects_later(text: &str) -> bool {
    let parts = ["=", "cd ", "pushd", "popd", "alias", "set ", "read ", "mapfile"];
    text.lines().count() <= 3 && parts.iter().any(|part| text.contains(part))
}

/// Returns the rulings on a text whose verdict is ask or deny.
fn objections(
    book: &Rulebook,
    location: RunLocation,
    text: &str,
    directory: &str,
    now: Timestamp,
) -> Vec<Ruling> {
    let event = command_event(text, Some(directory), now);
    let mut rulings = book.rulings_without_state(&event);
    rulings.retain(|ruling| ruling.verdict >= Decision::Ask);
    match location {
        RunLocation::Here | RunLocation::BuildMachine | RunLocation::Instructed => rulings,
        RunLocation::Container => image::harmful_rulings(book, &event, rulings),
    }
}
