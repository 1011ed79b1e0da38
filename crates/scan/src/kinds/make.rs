// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Makefiles: the lines of recipes, and what `$(shell …)` runs.

use std::collections::BTreeMap;

use super::{CommandText, FileName, unknown};

/// How often a variable may stand for another.
const DEEPEST: usize = 8;

pub(super) fn fits(name: &FileName<'_>) -> bool {
    matches!(name.file, "Makefile" | "makefile" | "GNUmakefile") || name.ending == "mk"
}

/// Variables that are set once, to a text; `None` for any other.
type Variables<'a> = BTreeMap<&'a str, Option<&'a str>>;

pub(super) fn read(text: &str) -> Vec<CommandText> {
    let lines = joined(text);
    let mut variables = Variables::new();
    for (name, value) in lines.iter().filter_map(|(_, line)| assignment(line)) {
        let once = !variables.contains_key(name);
        variables.insert(name, value.filter(|_| once));
    }
    let mut pieces = Vec::new();
    for (number, line) in &lines {
        let recipe = line.strip_prefix('\t').or_else(|| inline_recipe(line));
        let command = recipe.map(|recipe| recipe.trim_start_matches(['@', '-', '+', ' ', '\t']));
        let said = expand(command.unwrap_or(line), &variables, DEEPEST);
        if command.is_some() {
            pieces.push(CommandText::at(*number, said.text));
        }
        pieces.extend(said.run.into_iter().map(|text| CommandText::at(*number, text)));
    }
    pieces.retain(|piece| !piece.text.trim().is_empty());
    pieces
}

/// The lines, with those that end in a backslash joined to the next; each with its number.
fn joined(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (at, line) in text.lines().enumerate() {
        match lines.last_mut().filter(|_| open) {
            // The shell sees the backslash and the new line too.
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

/// `NAME = value`: the value only if it is a text without variables.
fn assignment(line: &str) -> Option<(&str, Option<&str>)> {
    if line.starts_with('\t') || line.starts_with('#') {
        return None;
    }
    let (left, value) = line.split_once('=')?;
    let name = left.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").or(name.strip_prefix("override ")).unwrap_or(name).trim();
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let whole = !left.ends_with(['+', '!']) && !value.contains(['$', '\\', '#']);
    plain.then(|| (name, whole.then(|| value.trim())))
}

/// `target: needs ; recipe`.
fn inline_recipe(line: &str) -> Option<&str> {
    let colon = line.find(':')?;
    let (head, tail) = line.split_at_checked(colon)?;
    let semicolon = tail.find(';')?;
    let assigns = tail.starts_with(":=") || tail.starts_with("::=") || head.contains(['=', '#', '$']);
    if assigns || head.starts_with(' ') { None } else { tail.get(semicolon + 1..) }
}

#[derive(Default)]
struct Said {
    /// What the shell gets.
    text: String,
    /// What make itself runs.
    run: Vec<String>,
}

/// What make hands to the shell: `$$` is a dollar, variables are put in where they are known.
fn expand(text: &str, variables: &Variables<'_>, deep: usize) -> Said {
    let mut said = Said::default();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        if letter != '$' {
            said.text.push(letter);
            continue;
        }
        match letters.next() {
            Some((_, '$')) | None => said.text.push('$'),
            Some((_, open @ ('(' | '{'))) => {
                let close = if open == '(' { ')' } else { '}' };
                let from = text.get(at + 2..).unwrap_or_default();
                let inner = balanced(from, open, close);
                // Past the reference: its length in bytes is known, its letters are not counted.
                let end = at + 2 + inner.len() + 1;
                while letters.offset() < end && letters.next().is_some() {}
                reference(inner, variables, deep, &mut said);
            }
            Some(_) => said.text += &unknown(),
        }
    }
    said
}

fn reference(inner: &str, variables: &Variables<'_>, deep: usize, said: &mut Said) {
    if let Some(command) = inner.strip_prefix("shell ") {
        if deep > 0 {
            let command = expand(command, variables, deep - 1);
            said.run.push(command.text);
            said.run.extend(command.run);
        }
        said.text += &unknown();
        return;
    }
    match (inner, variables.get(inner)) {
        ("MAKE", _) => said.text += "make",
        ("RM", None) => said.text += "rm -f",
        ("CURDIR", None) => said.text += "$PWD",
        ("HOME", None) => said.text += "$HOME",
        (_, Some(Some(value))) => said.text += value,
        _ => said.text += &unknown(),
    }
}

/// The text up to the bracket that closes it.
fn balanced(text: &str, open: char, close: char) -> &str {
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
        read(text).into_iter().map(|piece| (piece.line(0), piece.text)).collect()
    }

    #[test]
    fn recipes_are_what_the_shell_gets() {
        let text = "OUT = build\nall: dep\n\t@-rm -rf $(OUT) $$HOME ${OTHER}\n\n# x\nclean: ; rm x\n\techo \\\n\t  a $@\n";
        let unknown = unknown();
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
    fn what_make_runs_itself_is_read_too() {
        assert_eq!(texts("V := $(shell git describe $(X))\n"), [(1, format!("git describe {}", unknown()))]);
        assert_eq!(texts("A = $(B)\nA = c\nx:\n\t$(A) $(MAKE)\n"), [(4, format!("{} make", unknown()))]);
    }
}
