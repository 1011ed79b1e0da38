// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads justfiles: the lines of recipes.

use std::collections::{BTreeMap, BTreeSet};

use super::{CommandText, FileName, is_shell_shebang, replace_expressions, unknown_variable};

pub(crate) fn matches_name(name: &FileName<'_>) -> bool {
    let small = name.file.to_ascii_lowercase();
    matches!(small.as_str(), "justfile" | ".justfile") || name.ending == "just"
}

pub(crate) fn read(text: &str) -> Vec<CommandText> {
    let variables = JustVariables::collect(text);
    let mut pieces: Vec<CommandText> = Vec::new();
    // Set inside a recipe that begins with `#!`: whether it is a shell script.
    let mut script: Option<bool> = None;
    let mut open = false;
    let mut first = false;
    for (at, line) in text.lines().enumerate() {
        if !line.starts_with([' ', '\t']) {
            first = !line.trim().is_empty();
            script = script.filter(|_| line.trim().is_empty());
            open = false;
            continue;
        }
        let own = replace_expressions(line.trim(), "{{", "}}", |name| Some(variables.value(name)));
        if first && own.starts_with("#!") {
            let shell = is_shell_shebang(&own);
            script = Some(shell);
            if shell {
                pieces.push(CommandText::from_line(at + 1, String::new()));
            }
        } else {
            let next = CommandText::from_line(at + 1, own.trim_start_matches(['@', '-']).to_owned());
            match pieces.last_mut() {
                Some(last) if open || script == Some(true) => last.append(&next),
                _ if script.is_none() => pieces.push(next),
                _ => {}
            }
            open = own.ends_with('\\');
        }
        first = false;
    }
    pieces.retain(|piece| !piece.text.trim().is_empty());
    pieces
}

/// The assignments of a justfile: names with expressions.
struct JustVariables<'t>(BTreeMap<&'t str, &'t str>);

impl<'t> JustVariables<'t> {
    fn collect(text: &'t str) -> Self {
        let assignments = text.lines().filter(|line| !line.starts_with([' ', '\t', '#']));
        let assignments = assignments.filter_map(|line| line.split_once(":="));
        Self(
            assignments
                .map(|(name, value)| (name.trim_start_matches("export ").trim(), value.trim()))
                .collect(),
        )
    }

    /// Returns the value of an expression, if it is a string or the home directory.
    fn value(&self, expression: &str) -> String {
        let expression = expression.trim();
        let expression = self.0.get(expression).copied().unwrap_or(expression);
        let quoted =
            ['\'', '"'].iter().find_map(|quote| expression.strip_prefix(*quote)?.strip_suffix(*quote));
        let is_home = matches!(
            expression,
            "env_var('HOME')" | "env_var(\"HOME\")" | "env('HOME')" | "env(\"HOME\")" | "home_directory()"
        );
        match quoted.filter(|text| !text.contains(['\'', '"'])) {
            Some(text) => text.to_owned(),
            None if is_home => "$HOME".to_owned(),
            None => unknown_variable(),
        }
    }
}

/// Returns the commands that `just` runs for these recipes: the lines of the recipes and of the recipes that they
/// depend on. If no recipe is named, the first recipe of the file is used.
pub fn read_tasks(text: &str, recipes: &[String]) -> Vec<CommandText> {
    let headers: Vec<_> =
        text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, parse_header(line)?))).collect();
    let by_name: BTreeMap<&str, &[&str]> =
        headers.iter().map(|(_, (name, needs))| (*name, needs.as_slice())).collect();
    // Further words are arguments of the recipes.
    let mut open: Vec<&str> =
        recipes.iter().map(String::as_str).filter(|name| by_name.contains_key(name)).collect();
    if recipes.is_empty() {
        open.extend(headers.first().map(|(_, (name, _))| *name));
    }
    let mut selected = BTreeSet::new();
    while let Some(name) = open.pop() {
        if selected.insert(name) {
            open.extend(by_name.get(name).copied().unwrap_or_default());
        }
    }
    let owner = |line: usize| {
        let before = headers.partition_point(|(start, _)| *start <= line);
        before.checked_sub(1).and_then(|at| headers.get(at)).map(|(_, (name, _))| *name)
    };
    let mut pieces = read(text);
    pieces.retain(|piece| owner(piece.file_line(0)).is_some_and(|name| selected.contains(&name)));
    pieces
}

/// Parses `name parameters: dependencies`; returns the name and the dependencies.
fn parse_header(line: &str) -> Option<(&str, Vec<&str>)> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let line = line.strip_prefix('@').unwrap_or(line);
    let end = line.find(|c: char| !is_name(c)).unwrap_or(line.len());
    let (name, rest) = line.split_at_checked(end)?;
    let (_, needs) = rest.split_once(':')?;
    if name.is_empty()
        || matches!(name, "set" | "alias" | "export" | "import" | "mod")
        || needs.starts_with('=')
    {
        return None;
    }
    let needs = needs.split('#').next().unwrap_or_default();
    Some((name, needs.split(|c: char| !is_name(c)).filter(|need| !need.is_empty()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_recipes_that_were_asked_for_run() {
        let text = "x := 'a'\ndefault: build\nbuild target='all': prepare && (done 'x')\n  b {{target}}\nprepare:\n  a\n\
                    @done arg:\n  c\nclean:\n  rm -rf /\n";
        let run = |recipes: &[&str]| {
            let recipes: Vec<_> = recipes.iter().map(|name| (*name).to_owned()).collect();
            read_tasks(text, &recipes).into_iter().map(|piece| piece.text).collect::<Vec<_>>()
        };
        assert_eq!(run(&[]), [format!("b {}", unknown_variable()), "a".into(), "c".into()]);
        assert_eq!(run(&["prepare"]), ["a"]);
        assert_eq!(run(&["clean", "other"]), ["rm -rf /"]);
        assert_eq!(run(&["none"]), Vec::<String>::new());
    }

    #[test]
    fn recipes_and_scripts_are_read() {
        let text = "x := 'a'\nclean dir:\n    @rm -rf {{dir}}\n    -a \\\n      b\n\nbig:\n    #!/usr/bin/env bash\n    c\n    d\n\npy:\n    #!/usr/bin/python\n    e\n";
        let found: Vec<_> = read(text).into_iter().map(|piece| (piece.file_line(0), piece.text)).collect();
        assert_eq!(
            found,
            [
                (3, format!("rm -rf {}", unknown_variable())),
                (4, "a \\\nb".to_owned()),
                (8, "c\nd".to_owned()),
            ]
        );
    }
}
