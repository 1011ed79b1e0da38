// SPDX-License-Identifier: Apache-2.0 OR MIT

//! From "a rule matches somewhere in this text" to the line it matches on.

use std::collections::BTreeMap;

use tenterhook_event::{Decision, Timestamp};

use crate::kinds::{CommandText, RunLocation};
use crate::{image, statements};
use tenterhook_rulebook::{Rulebook, Ruling, about_to_run};

/// What earlier statements may do to later ones is remembered up to this many bytes.
const LONGEST_BEFORE: usize = 4 * 1024;
/// Statements are judged together with what comes before them up to this many bytes in all.
const MOST_TOGETHER: usize = 256 * 1024;
/// The judge does not read more than this at once.
const LONGEST: usize = 60 * 1024;

/// Every line of the file that a rule asks about or denies.
pub(crate) fn findings(
    book: &Rulebook,
    piece: &CommandText,
    place: &str,
    now: Timestamp,
) -> Vec<(usize, Ruling)> {
    let judge = |text: &str| judge(book, piece.location, text, place, now);
    // A text that is too long or too tangled to be read at once is only read in parts.
    let readable = piece.text.len() <= LONGEST && book.reads(&about_to_run(&piece.text, Some(place), now));
    let whole = readable.then(|| judge(&piece.text));
    if whole.as_ref().is_some_and(Vec::is_empty) {
        return Vec::new();
    }
    let lines: Vec<&str> = piece.text.lines().collect();
    let statements = statements::split(&lines);
    let mut found = Found::default();
    let (mut before, mut together) = (String::new(), 0);
    for statement in &statements {
        let own = lines.get(statement.clone()).unwrap_or_default();
        let text = own.join("\n");
        let mut rulings = judge(&text);
        if !rulings.is_empty() && !before.is_empty() && together < MOST_TOGETHER {
            // Alone it looks bad: what came before may make it better or worse.
            together += before.len() + text.len();
            rulings = judge(&format!("{before}{text}"));
        }
        if rulings.is_empty() {
            if matters_later(&text) && before.len() + text.len() < LONGEST_BEFORE {
                before += &text;
                before.push('\n');
            }
            continue;
        }
        for ruling in rulings {
            let within = single(own, |line| judge(line).iter().any(|other| same(other, &ruling)));
            let line = piece.line(statement.start + within.unwrap_or(0));
            found.add(line, ruling);
        }
    }
    // What only shows when all is read together stands where it first does.
    for ruling in whole.unwrap_or_default() {
        if !found.has(&ruling) {
            let shows = |end: usize| {
                let text = lines.get(..end).unwrap_or_default().join("\n");
                judge(&text).iter().any(|other| same(other, &ruling))
            };
            let at = statements.partition_point(|statement| !shows(statement.end));
            let start = statements.get(at).map_or(0, |statement| statement.start);
            found.add(piece.line(start), ruling);
        }
    }
    found.lines.into_iter().collect()
}

/// What was found so far. A line is shown once, with the strictest that is said about it.
#[derive(Default)]
struct Found {
    lines: BTreeMap<usize, Ruling>,
    all: Vec<Ruling>,
}

impl Found {
    fn add(&mut self, line: usize, ruling: Ruling) {
        self.all.push(ruling.clone());
        let shown = self.lines.entry(line).or_default();
        if ruling.verdict > shown.verdict {
            *shown = ruling;
        }
    }

    /// Whether the rule was found to say this, or something stricter.
    fn has(&self, ruling: &Ruling) -> bool {
        self.all.iter().any(|other| other.rule == ruling.rule && other.verdict >= ruling.verdict)
    }
}

fn same(one: &Ruling, other: &Ruling) -> bool {
    (&one.rule, one.verdict) == (&other.rule, other.verdict)
}

/// The first line of several on which something holds; lines joined by `\` count as one.
fn single(lines: &[&str], holds: impl Fn(&str) -> bool) -> Option<usize> {
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

/// Whether a statement can change what later ones mean.
fn matters_later(text: &str) -> bool {
    let parts = ["=", "cd ", "pushd", "popd", "alias", "set ", "read ", "mapfile"];
    text.lines().count() <= 3 && parts.iter().any(|part| text.contains(part))
}

/// What the rules say, without those that have nothing against it.
fn judge(book: &Rulebook, location: RunLocation, text: &str, place: &str, now: Timestamp) -> Vec<Ruling> {
    let event = about_to_run(text, Some(place), now);
    let mut rulings = book.rulings_on(&event);
    rulings.retain(|ruling| ruling.verdict >= Decision::Ask);
    match location {
        RunLocation::Here => rulings,
        RunLocation::Container => image::objections(book, &event, rulings),
    }
}
