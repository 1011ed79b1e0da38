// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Narrows a variable to the values that a condition selects.
//!
//! `for f in *; do [[ $f == *.bak ]] && rm "$f"; done` deletes some of the files, not all of them. A condition
//! narrows only the variables that it tests, and only for commands that run because it is true.

use tenterhook_shell as ast;

use super::scope::ShellScope;
use super::word::{ExpandedText, ShellWord, WordAtom};

/// Placeholder for a name that a condition has selected.
const NARROWED_NAME: &str = "…";

/// Returns the variables that are narrowed if a condition is true.
pub(super) fn narrowed_by_condition(condition: &ast::Script, src: &str) -> Vec<String> {
    let Some(last) = condition.statements.last().filter(|last| !last.is_background()) else {
        return Vec::new();
    };
    // In `a && b` both conditions are true.
    if last.rest.iter().any(|chained| chained.operator == ast::ChainOperator::Or) {
        return Vec::new();
    }
    last.pipelines().flat_map(|pipeline| narrowed_by_pipeline(pipeline, src)).collect()
}

/// Returns the variables that are narrowed if a pipeline succeeds.
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
            let picks_some =
                matches!(first_word(last), "grep" | "egrep" | "fgrep" | "rg") && !inverts_match(last);
            if prints && picks_some { variable_names(text) } else { Vec::new() }
        }
    }
}

fn narrowed_by_command(command: &ast::Command, src: &str) -> Vec<String> {
    let text = command.span().text(src);
    match command {
        ast::Command::Simple(_) => match first_word(text) {
            "[" | "test" => narrowed_by_test(text),
            "grep" | "egrep" | "fgrep" | "rg" if !inverts_match(text) => variable_names(text),
            _ => Vec::new(),
        },
        ast::Command::Compound(compound) if matches!(compound.kind, ast::Compound::Test(_)) => {
            narrowed_by_test(text)
        }
        _ => Vec::new(),
    }
}

/// Returns the variables that are narrowed by an item of a `case`.
pub(super) fn narrowed_by_item(case: &ast::CaseCommand, item: &ast::CaseItem, src: &str) -> Vec<String> {
    let is_narrow = |pattern: &ast::Word| picks_some(pattern.span.text(src));
    if item.patterns.iter().all(is_narrow) { variable_names(case.subject.span.text(src)) } else { Vec::new() }
}

/// Returns the variables that are narrowed by a test.
fn narrowed_by_test(text: &str) -> Vec<String> {
    narrowed_by_words(&text.split_whitespace().collect::<Vec<_>>())
}

/// Returns the variables that the words of a test compare with a known value.
pub(super) fn narrowed_by_words(words: &[&str]) -> Vec<String> {
    if words.iter().any(|word| matches!(*word, "!" | "!=" | "||" | "-o")) {
        return Vec::new();
    }
    let mut names = Vec::new();
    for three in words.windows(3) {
        let [left, sign, right] = three else { continue };
        let compares = matches!(*sign, "=" | "==" | "=~" | "-nt" | "-ot");
        let alone = left.trim_start_matches('"').starts_with('$');
        if compares && alone && picks_some(right) {
            names.extend(variable_names(left));
        }
    }
    names
}

/// Whether a pattern matches some names and not all.
pub(super) fn picks_some(pattern: &str) -> bool {
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

fn inverts_match(text: &str) -> bool {
    let options = text.split_whitespace().filter_map(|word| word.strip_prefix('-'));
    options
        .into_iter()
        .any(|option| option == "-invert-match" || !option.starts_with('-') && option.contains('v'))
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// Returns the names of the variables in a text.
fn variable_names(text: &str) -> Vec<String> {
    let name = |rest: &str| {
        let rest = rest.trim_start_matches('{');
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        (!name.is_empty()).then(|| name.to_owned())
    };
    text.split('$').skip(1).filter_map(name).collect()
}

/// Variables before and after narrowing, so that they can be restored.
pub(super) struct SavedVariables(Vec<(String, Option<ExpandedText>, Option<ExpandedText>)>);

impl ShellScope {
    /// Narrows these variables; returns their previous values.
    pub(super) fn narrow_variables(&mut self, names: &[String]) -> SavedVariables {
        let mut before = Vec::new();
        for name in names {
            let Some(value) = self.get(name).filter(|value| value.atoms.iter().any(is_glob)) else {
                continue;
            };
            let some = ExpandedText { from: value.from.clone(), ..narrow_pattern(&value) };
            self.set(name, some.clone());
            before.push((name.clone(), Some(value), Some(some)));
        }
        SavedVariables(before)
    }

    /// Undoes [`ShellScope::narrow_variables`], except for variables that were set since.
    pub(super) fn restore_variables(&mut self, before: SavedVariables) {
        for (name, value, narrow_text) in before.0 {
            if self.get(&name) == narrow_text {
                self.restore(&name, value);
            }
        }
    }
}

fn is_glob(atom: &WordAtom) -> bool {
    matches!(atom, WordAtom::Glob(_))
}

/// Narrows a pattern to some of its matches.
fn narrow_pattern(value: &ExpandedText) -> ExpandedText {
    let text: String = value.atoms.iter().filter_map(WordAtom::letter).collect();
    ExpandedText::each(&narrow_text(&text))
}

/// Changes a pattern for everything in a directory into one for some of its files.
fn narrow_text(pattern: &str) -> String {
    let start = pattern.trim_end_matches('*');
    if pattern.ends_with("**") {
        format!("{pattern}/{NARROWED_NAME}")
    } else {
        format!("{start}{NARROWED_NAME}")
    }
}

/// Narrows the words of a file list that passes through a filter.
pub(super) fn narrow_words(words: Vec<ShellWord>) -> Vec<ShellWord> {
    let some = |word: ShellWord| {
        if !word.pattern || !word.shape.ends_with('*') {
            return word;
        }
        ShellWord { text: narrow_text(&word.text), shape: narrow_text(&word.shape), ..word }
    };
    words.into_iter().map(some).collect()
}
