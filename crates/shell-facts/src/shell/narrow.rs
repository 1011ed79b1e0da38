// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions that leave only some of what a variable stands for.
//!
//! In `for f in *; do [[ $f == *.bak ]] && rm "$f"; done` what is removed is some of the files, not all of
//! them. A condition narrows a variable only where it is about that variable, and only for what runs
//! because it holds.

use tenterhook_shell as ast;

use super::scope::Scope;
use super::word::{Atom, Expansion, Word};

/// Stands for a name that some condition has picked.
const SOME: &str = "…";

/// The variables that stand for fewer things if a condition holds.
pub(super) fn narrowed_by_condition(condition: &ast::Script, src: &str) -> Vec<String> {
    let Some(last) = condition.statements.last().filter(|last| !last.is_background()) else {
        return Vec::new();
    };
    // Everything in `a && b` holds.
    if last.rest.iter().any(|chained| chained.operator == ast::ChainOperator::Or) {
        return Vec::new();
    }
    last.pipelines().flat_map(|pipeline| narrowed_by_pipeline(pipeline, src)).collect()
}

/// The same for a pipeline that succeeds.
pub(super) fn narrowed_by_pipeline(pipeline: &ast::Pipeline, src: &str) -> Vec<String> {
    if pipeline.negations % 2 == 1 {
        return Vec::new();
    }
    match pipeline.stages.as_slice() {
        [] => Vec::new(),
        [only] => narrowed_by_command(&only.command, src),
        // `echo "$f" | grep -q x`
        [first, .., last] => {
            let text = first.command.span().text(src);
            let last = last.command.span().text(src);
            let prints = matches!(first_word(text), "echo" | "printf");
            let picks = matches!(first_word(last), "grep" | "egrep" | "fgrep" | "rg") && !inverts(last);
            if prints && picks { variables(text) } else { Vec::new() }
        }
    }
}

fn narrowed_by_command(command: &ast::Command, src: &str) -> Vec<String> {
    let text = command.span().text(src);
    match command {
        ast::Command::Simple(_) => match first_word(text) {
            "[" | "test" => by_test(text),
            "grep" | "egrep" | "fgrep" | "rg" if !inverts(text) => variables(text),
            _ => Vec::new(),
        },
        ast::Command::Compound(compound) if matches!(compound.kind, ast::Compound::Test(_)) => by_test(text),
        _ => Vec::new(),
    }
}

/// The variables that an item of a `case` leaves only some of.
pub(super) fn narrowed_by_item(case: &ast::CaseCommand, item: &ast::CaseItem, src: &str) -> Vec<String> {
    let is_narrow = |pattern: &ast::Word| picks(pattern.span.text(src));
    if item.patterns.iter().all(is_narrow) { variables(case.subject.span.text(src)) } else { Vec::new() }
}

/// The variables that a test leaves only some of.
fn by_test(text: &str) -> Vec<String> {
    narrowed_by_words(&text.split_whitespace().collect::<Vec<_>>())
}

/// The same for the words of a test: a variable is held against something that is known.
pub(super) fn narrowed_by_words(words: &[&str]) -> Vec<String> {
    if words.iter().any(|word| matches!(*word, "!" | "!=" | "||" | "-o")) {
        return Vec::new();
    }
    let mut names = Vec::new();
    for three in words.windows(3) {
        let [left, sign, right] = three else { continue };
        let compares = matches!(*sign, "=" | "==" | "=~" | "-nt" | "-ot");
        let alone = left.trim_start_matches('"').starts_with('$');
        if compares && alone && picks(right) {
            names.extend(variables(left));
        }
    }
    names
}

/// Whether a pattern names some things and not all.
pub(super) fn picks(pattern: &str) -> bool {
    let mut inside = false;
    let mut letters = pattern.chars().filter(|letter| match letter {
        '[' => {
            inside = true;
            false
        }
        ']' => {
            inside = false;
            false
        }
        _ => !inside,
    });
    letters.any(|letter| letter.is_alphanumeric() || matches!(letter, '~' | '#' | '$'))
}

fn inverts(text: &str) -> bool {
    let options = text.split_whitespace().filter_map(|word| word.strip_prefix('-'));
    options
        .into_iter()
        .any(|option| option == "-invert-match" || !option.starts_with('-') && option.contains('v'))
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// The names of the variables in a text.
fn variables(text: &str) -> Vec<String> {
    let name = |rest: &str| {
        let rest = rest.trim_start_matches('{');
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        (!name.is_empty()).then(|| name.to_owned())
    };
    text.split('$').skip(1).filter_map(name).collect()
}

/// What several variables were, so that they can be that again.
pub(super) struct Before(Vec<(String, Option<Expansion>, Option<Expansion>)>);

impl Scope {
    /// Leaves these variables only some of what they stand for.
    pub(super) fn narrow(&mut self, names: &[String]) -> Before {
        let mut before = Vec::new();
        for name in names {
            let Some(value) = self.get(name).filter(|value| value.atoms.iter().any(is_glob)) else {
                continue;
            };
            let some = Expansion { from: value.from.clone(), ..some_of(&value) };
            self.set(name, some.clone());
            before.push((name.clone(), Some(value), Some(some)));
        }
        Before(before)
    }

    /// Undoes [`Scope::narrow`], but for variables that have been set since.
    pub(super) fn widen(&mut self, before: Before) {
        for (name, value, narrowed) in before.0 {
            if self.get(&name) == narrowed {
                self.put_back(&name, value);
            }
        }
    }
}

fn is_glob(atom: &Atom) -> bool {
    matches!(atom, Atom::Glob(_))
}

/// Some of the things that a pattern stands for.
fn some_of(value: &Expansion) -> Expansion {
    let text: String = value.atoms.iter().filter_map(Atom::letter).collect();
    Expansion::each(&narrowed(&text))
}

/// A pattern for all that is in a directory, for some of it only.
fn narrowed(pattern: &str) -> String {
    let start = pattern.trim_end_matches('*');
    if pattern.ends_with("**") { format!("{pattern}/{SOME}") } else { format!("{start}{SOME}") }
}

/// The same for the words that a list of files is made of, behind a filter.
pub(super) fn some_of_words(words: Vec<Word>) -> Vec<Word> {
    let some = |word: Word| {
        if !word.pattern || !word.shape.ends_with('*') {
            return word;
        }
        Word { text: narrowed(&word.text), shape: narrowed(&word.shape), ..word }
    };
    words.into_iter().map(some).collect()
}
