// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads makefiles: the lines of recipes, and commands in `$(shell …)`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{CommandText, FileName, unknown_variable};

/// Maximum nesting depth of variable references.
const MAX_REFERENCE_DEPTH: usize = 8;

pub(crate) fn matches_name(name: &FileName<'_>) -> bool {
    matches!(name.file, "Makefile" | "makefile" | "GNUmakefile") || name.ending == "mk"
}

/// Maximum length of a variable's value.
const MAX_VALUE_BYTES: usize = 1024;

/// Variables that are set once, with their values; `None` if the value is unknown.
type Variables<'a> = BTreeMap<&'a str, Option<Cow<'a, str>>>;

pub(crate) fn read(text: &str) -> Vec<CommandText> {
    let lines = logical_lines(text);
    read_lines(lines.iter(), &collect_variables(&lines))
}

/// Returns the commands that `make` runs for these targets: the recipes of the targets and of their prerequisites, and
/// `$(shell …)` outside recipes. If no target is named, the default target is used.
pub fn read_tasks(text: &str, targets: &[String]) -> Vec<CommandText> {
    let lines = logical_lines(text);
    let variables = collect_variables(&lines);
    let rules = MakeRules::collect(&lines, &variables);
    let selected = rules.select(targets, variables.get(".DEFAULT_GOAL").and_then(Option::as_deref));
    let runs = |line: usize| rules.owners.get(&line).is_none_or(|rule| selected.contains(rule));
    read_lines(lines.iter().filter(|(number, _)| runs(*number)), &variables)
}

/// Returns the commands that `make -n` runs for these targets although it only prints the others: `$(shell …)`, and
/// lines that begin with `+`.
pub fn read_dry_run_tasks(text: &str, targets: &[String]) -> Vec<CommandText> {
    let printed = |line: &str| {
        let recipe = line.strip_prefix('\t').unwrap_or_default();
        let signs = recipe.trim_start().bytes().take_while(|byte| b"@-+ \t".contains(byte));
        line.starts_with('\t') && !signs.clone().any(|byte| byte == b'+') && !line.contains("$(shell")
    };
    let kept = text.lines().map(|line| if printed(line) { "" } else { line });
    read_tasks(&kept.collect::<Vec<_>>().join("\n"), targets)
}

/// The rules of a makefile.
#[derive(Default)]
struct MakeRules {
    /// Targets and prerequisites of each rule.
    rules: Vec<(Vec<String>, Vec<String>)>,
    /// The rule to which a line with a recipe belongs.
    owners: BTreeMap<usize, usize>,
}

impl MakeRules {
    fn collect(lines: &[(usize, String)], variables: &Variables<'_>) -> Self {
        let mut found = Self::default();
        for (number, line) in lines {
            if line.starts_with('\t') {
                if let Some(last) = found.rules.len().checked_sub(1) {
                    found.owners.insert(*number, last);
                }
            } else if let Some(rule) = parse_rule(line, variables) {
                found.rules.push(rule);
                if inline_recipe(line).is_some() {
                    found.owners.insert(*number, found.rules.len() - 1);
                }
            }
        }
        found
    }

    /// Returns the rules that `make` applies for these targets.
    fn select(&self, targets: &[String], default: Option<&str>) -> BTreeSet<usize> {
        let is_default = |target: &&String| !target.starts_with('.') && !target.contains(['%', '$']);
        let first = || self.rules.iter().flat_map(|(targets, _)| targets).find(is_default).cloned();
        let mut open: Vec<String> = targets.to_vec();
        if open.is_empty() {
            open.extend(default.map(str::to_owned).or_else(first));
        }
        let mut by_target: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, (targets, _)) in self.rules.iter().enumerate() {
            for target in targets {
                by_target.entry(target).or_default().push(at);
            }
        }
        let mut selected = BTreeSet::new();
        while let Some(target) = open.pop() {
            for at in by_target.get(target.as_str()).into_iter().flatten() {
                let needs = self.rules.get(*at).map(|(_, needs)| needs.as_slice()).unwrap_or_default();
                if selected.insert(*at) {
                    open.extend(needs.iter().cloned());
                }
            }
        }
        selected
    }
}

/// Parses `targets: prerequisites`.
fn parse_rule(line: &str, variables: &Variables<'_>) -> Option<(Vec<String>, Vec<String>)> {
    if line.starts_with([' ', '#']) || parse_assignment(line).is_some() {
        return None;
    }
    let (head, tail) = line.split_once(':')?;
    let tail = tail.strip_prefix(':').unwrap_or(tail);
    if head.contains(['=', '#']) || head.trim().is_empty() || tail.starts_with('=') {
        return None;
    }
    let tail = tail.split([';', '#']).next().unwrap_or_default();
    let words = |text: &str| {
        let text = expand_line(text, variables, MAX_REFERENCE_DEPTH).text;
        text.split_whitespace().filter(|word| !matches!(*word, "|" | "\\")).map(str::to_owned).collect()
    };
    // `target: NAME = value` sets a variable.
    Some((words(head), if tail.contains('=') { Vec::new() } else { words(tail) }))
}

fn collect_variables(lines: &[(usize, String)]) -> Variables<'_> {
    let mut variables = Variables::new();
    for (name, value) in lines.iter().filter_map(|(_, line)| parse_assignment(line)) {
        let once = !variables.contains_key(name);
        // A value may refer to variables that are set before it.
        let value = value.filter(|_| once).map(|value| {
            if value.contains('$') {
                Cow::Owned(expand_line(value, &variables, 0).text)
            } else {
                Cow::Borrowed(value)
            }
        });
        variables.insert(name, value.filter(|value| value.len() <= MAX_VALUE_BYTES));
    }
    variables
}

fn read_lines<'l>(
    lines: impl Iterator<Item = &'l (usize, String)>,
    variables: &Variables<'_>,
) -> Vec<CommandText> {
    let mut pieces = Vec::new();
    for (number, line) in lines {
        let recipe = line.strip_prefix('\t').or_else(|| inline_recipe(line));
        let command = recipe.map(|recipe| recipe.trim_start_matches(['@', '-', '+', ' ', '\t']));
        let expanded = expand_line(command.unwrap_or(line), variables, MAX_REFERENCE_DEPTH);
        if command.is_some() {
            pieces.push(CommandText::from_line(*number, expanded.text));
        }
        pieces.extend(expanded.run.into_iter().map(|text| CommandText::from_line(*number, text)));
    }
    pieces.retain(|piece| !piece.text.trim().is_empty());
    pieces
}

/// Returns the logical lines, each with its number: a line that ends in a backslash is joined with the next.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (at, line) in text.lines().enumerate() {
        match lines.last_mut().filter(|_| open) {
            // The shell also sees the backslash and the line break.
            Some((_, last)) => {
                last.push('\n');
                *last += line.strip_prefix('\t').unwrap_or(line);
            }
            None => lines.push((at + 1, line.to_owned())),
        }
        open = line.ends_with('\\') && !line.ends_with("\\\\");
    }
    lines
}

/// Parses `NAME = value`. The value is not returned if make runs a command or a function to compute it.
fn parse_assignment(line: &str) -> Option<(&str, Option<&str>)> {
    if line.starts_with('\t') || line.starts_with('#') {
        return None;
    }
    let (left, value) = line.split_once('=')?;
    let name = left.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").or(name.strip_prefix("override ")).unwrap_or(name).trim();
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let is_computed =
        value.contains("$(") && value.trim().contains([' ', ',']) || value.contains(['\\', '#']);
    let whole = !left.ends_with(['+', '!']) && !is_computed;
    plain.then(|| (name, whole.then(|| value.trim())))
}

/// Returns the recipe in `target: prerequisites ; recipe`.
fn inline_recipe(line: &str) -> Option<&str> {
    let colon = line.find(':')?;
    let (head, tail) = line.split_at_checked(colon)?;
    let semicolon = tail.find(';')?;
    let assigns = tail.starts_with(":=") || tail.starts_with("::=") || head.contains(['=', '#', '$']);
    if assigns || head.starts_with(' ') { None } else { tail.get(semicolon + 1..) }
}

/// An expanded line.
#[derive(Default)]
struct ExpandedLine {
    /// Text that the shell receives.
    text: String,
    /// Commands that make itself runs.
    run: Vec<String>,
}

/// Expands a line as make does: `$$` is a dollar, and known variables are replaced by their values.
fn expand_line(text: &str, variables: &Variables<'_>, deep: usize) -> ExpandedLine {
    let mut expanded = ExpandedLine::default();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        if letter != '$' {
            expanded.text.push(letter);
            continue;
        }
        match letters.next() {
            Some((_, '$')) | None => expanded.text.push('$'),
            Some((_, open @ ('(' | '{'))) => {
                let close = if open == '(' { ')' } else { '}' };
                let from = text.get(at + 2..).unwrap_or_default();
                let inner = before_closing(from, open, close);
                // Skip the reference: its length is known in bytes, not in characters.
                let end = at + 2 + inner.len() + 1;
                while letters.offset() < end && letters.next().is_some() {}
                expand_reference(inner, variables, deep, &mut expanded);
            }
            Some(_) => expanded.text += &unknown_variable(),
        }
    }
    expanded
}

fn expand_reference(inner: &str, variables: &Variables<'_>, deep: usize, expanded: &mut ExpandedLine) {
    if let Some(command) = inner.strip_prefix("shell ") {
        if deep > 0 {
            let command = expand_line(command, variables, deep - 1);
            expanded.run.push(command.text);
            expanded.run.extend(command.run);
        }
        expanded.text += &unknown_variable();
        return;
    }
    match (inner, variables.get(inner)) {
        ("MAKE", _) => expanded.text += "make",
        ("RM", None) => expanded.text += "rm -f",
        ("CURDIR", None) => expanded.text += "$PWD",
        ("HOME", None) => expanded.text += "$HOME",
        (_, Some(Some(value))) => expanded.text += value.as_ref(),
        _ => expanded.text += &unknown_variable(),
    }
}

/// Returns the text up to the matching closing bracket.
fn before_closing(text: &str, open: char, close: char) -> &str {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            if depth == 0 {
                return text.get(..at).unwrap_or_default();
            }
            depth -= 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(usize, String)> {
        read(text).into_iter().map(|piece| (piece.file_line(0), piece.text)).collect()
    }

    #[test]
    fn recipes_are_what_the_shell_gets() {
        let text = "OUT = build\nall: dep\n\t@-rm -rf $(OUT) $$HOME ${OTHER}\n\n# x\nclean: ; rm x\n\techo \\\n\t  a $@\n";
        let unknown = unknown_variable();
        assert_eq!(
            texts(text),
            [
                (3, format!("rm -rf build $HOME {unknown}")),
                (6, "rm x".to_owned()),
                (7, format!("echo \\\n  a {unknown}")),
            ]
        );
    }

    #[test]
    fn only_the_recipes_of_a_target_and_its_prerequisites_run() {
        let text = "V := $(shell date)\nOUT = out\n.PHONY: all test\nall: $(OUT) ; echo all\n$(OUT): dep\n\tmake-out\n\
                    dep:\n\tmake-dep\ntest: | dep\n\trun-tests\nclean::\n\trm -rf /\n";
        let run = |targets: &[&str]| {
            let targets: Vec<_> = targets.iter().map(|target| (*target).to_owned()).collect();
            read_tasks(text, &targets).into_iter().map(|piece| piece.text).collect::<Vec<_>>()
        };
        assert_eq!(run(&[]), ["date", "echo all", "make-out", "make-dep"]);
        assert_eq!(run(&["test"]), ["date", "make-dep", "run-tests"]);
        assert_eq!(run(&["clean", "dep"]), ["date", "make-dep", "rm -rf /"]);
        assert_eq!(run(&["none"]), ["date"]);
    }

    #[test]
    fn rules_that_need_each_other_end() {
        assert_eq!(read_tasks("a: b\n\tx\nb: a\n\ty\n", &[]).len(), 2);
    }

    #[test]
    fn what_make_runs_itself_is_read_too() {
        assert_eq!(
            texts("V := $(shell git describe $(X))\n"),
            [(1, format!("git describe {}", unknown_variable()))]
        );
        assert_eq!(
            texts("A = $(B)\nA = c\nx:\n\t$(A) $(MAKE)\n"),
            [(4, format!("{} make", unknown_variable()))]
        );
    }
}
