// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the tasks in settings files of projects: `composer.json`, `deno.json`, Taskfiles, `tox.ini`, the Git
//! configuration, and notebooks.

use std::collections::BTreeSet;

use serde_json::Value;
use tenterhook_document::{Node, Value as YamlValue};

use super::autorun::{lifecycle_commands, strip_json_comments};
use super::{TaskText, replace_expressions, unknown_variable};

/// Maximum number of tasks that one task may run, directly or through others.
const MAX_TASKS: usize = 64;

/// Returns the commands that run when the packages of a `package.json` are installed.
pub fn install_tasks(text: &str) -> Vec<TaskText> {
    lifecycle_commands(text).into_iter().map(TaskText::shell).collect()
}

/// Returns the commands of scripts in a `composer.json`, or of the events that a command triggers. A script may run
/// others: `@test`.
pub fn composer_tasks(text: &str, tasks: &[String]) -> Vec<TaskText> {
    let tree: Value = serde_json::from_str(&strip_json_comments(text)).unwrap_or_default();
    let mut open: Vec<String> = tasks.iter().flat_map(|task| composer_scripts(task)).collect();
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    while let Some(script) = open.pop() {
        if seen.len() >= MAX_TASKS || !seen.insert(script.clone()) {
            continue;
        }
        let value = tree.get("scripts").and_then(|scripts| scripts.get(&script));
        let texts: Vec<&str> = match value {
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        for text in texts {
            match text.strip_prefix('@') {
                Some(other) if other.starts_with("php ") => found.push(TaskText::shell(other)),
                Some(other) => open.extend(other.split_whitespace().next().map(str::to_owned)),
                // `Vendor\Class::method` is a function.
                None if text.contains("::") && !text.contains(' ') => {}
                None => found.push(TaskText::shell(text)),
            }
        }
    }
    found
}

/// Returns the scripts that a command of Composer runs: an event, or a script with its own name.
fn composer_scripts(task: &str) -> Vec<String> {
    match task {
        "install" | "update" => ["pre", "post"]
            .iter()
            .map(|when| format!("{when}-{task}-cmd"))
            .chain(["post-autoload-dump".to_owned()])
            .collect(),
        "dump-autoload" => vec!["pre-autoload-dump".to_owned(), "post-autoload-dump".to_owned()],
        script => vec![script.to_owned()],
    }
}

/// Returns the commands of tasks in a `deno.json`, with the tasks that they depend on.
pub fn deno_tasks(text: &str, tasks: &[String]) -> Vec<TaskText> {
    let tree: Value = serde_json::from_str(&strip_json_comments(text)).unwrap_or_default();
    let (mut open, mut seen, mut found) = (tasks.to_vec(), BTreeSet::new(), Vec::new());
    while let Some(task) = open.pop() {
        if seen.len() >= MAX_TASKS || !seen.insert(task.clone()) {
            continue;
        }
        let value = ["tasks", "scripts"].iter().find_map(|key| tree.get(key)?.get(&task));
        let Some(value) = value else { continue };
        found.extend(value.as_str().or_else(|| value.get("command")?.as_str()).map(TaskText::shell));
        let needs = value.get("dependencies").and_then(Value::as_array).into_iter().flatten();
        open.extend(needs.filter_map(Value::as_str).map(str::to_owned));
    }
    found
}

/// Returns the commands of tasks in a Taskfile, or of the task `default`, with the tasks that they run.
pub fn taskfile_tasks(text: &str, tasks: &[String]) -> Vec<TaskText> {
    let Ok(tree) = tenterhook_document::parse(text) else { return Vec::new() };
    let mut open = tasks.to_vec();
    if open.is_empty() {
        open.push("default".to_owned());
    }
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    while let Some(name) = open.pop() {
        if seen.len() >= MAX_TASKS || !seen.insert(name.clone()) {
            continue;
        }
        let Some(task) = tree.get("tasks").and_then(|tasks| tasks.get(&name)) else { continue };
        // A task may be a string, a list, or a map with `cmds`.
        let lists = ["cmds", "cmd", "status", "preconditions"].iter().filter_map(|key| task.get(key));
        let is_map = matches!(task.value, YamlValue::Map(_));
        for node in lists.chain((!is_map).then_some(task)) {
            for entry in list_entries(node) {
                let command = entry
                    .text()
                    .or_else(|| ["cmd", "sh", "defer"].iter().find_map(|key| entry.get(key)?.text()));
                let variables = [tree.get("vars"), task.get("vars")];
                let expand = |text: &str| {
                    replace_expressions(text, "{{", "}}", |name| Some(taskfile_value(name, &variables)))
                };
                found.extend(command.map(|text| TaskText::shell(expand(text))));
                open.extend(entry.get("task").and_then(Node::text).map(str::to_owned));
            }
        }
        for entry in task.get("deps").map(list_entries).unwrap_or_default() {
            open.extend(entry.text().or_else(|| entry.get("task")?.text()).map(str::to_owned));
        }
    }
    found
}

/// Returns the value of a variable of a Taskfile: of the environment, or with a literal value.
fn taskfile_value(expression: &str, variables: &[Option<&Node>]) -> String {
    let from_environment = |name: &str| match name {
        "HOME" => Some("$HOME".to_owned()),
        "ROOT_DIR" | "TASKFILE_DIR" | "USER_WORKING_DIR" => Some("$PWD".to_owned()),
        _ => None,
    };
    let Some(name) = expression.trim().strip_prefix('.') else { return unknown_variable() };
    let named = variables.iter().rev().find_map(|variables| variables.as_ref()?.get(name)?.text());
    let value = named.map(|text| {
        let inner = |name: &str| name.trim().strip_prefix('.').and_then(from_environment);
        replace_expressions(text, "{{", "}}", |name| Some(inner(name).unwrap_or_else(unknown_variable)))
    });
    value.or_else(|| from_environment(name)).unwrap_or_else(unknown_variable)
}

/// Returns the entries of a list, or the node itself.
pub(crate) fn list_entries(node: &Node) -> Vec<&Node> {
    match &node.value {
        YamlValue::List(entries) => entries.iter().collect(),
        _ => vec![node],
    }
}

/// Returns the commands of environments in a `tox.ini`; of all environments if none is named.
pub fn tox_tasks(text: &str, environments: &[String]) -> Vec<TaskText> {
    let names: Vec<&str> = environments.iter().flat_map(|names| names.split(',')).map(str::trim).collect();
    let (mut found, mut runs, mut is_command) = (Vec::new(), false, false);
    let mut open = String::new();
    for line in text.lines() {
        if let Some(section) = line.trim().strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            let own = section.strip_prefix("testenv");
            // Every environment inherits from `[testenv]`.
            runs = own.is_some_and(|own| {
                own.is_empty() || names.is_empty() || names.contains(&own.trim_start_matches(':'))
            });
            is_command = false;
            continue;
        }
        let continues = line.starts_with([' ', '\t']);
        let value = match line.split_once('=') {
            Some((key, value)) if !continues => {
                is_command = matches!(key.trim(), "commands" | "commands_pre" | "commands_post");
                value
            }
            _ if continues => line,
            _ => continue,
        };
        let own = value.trim();
        if !runs || !is_command || own.is_empty() || own.starts_with('#') {
            continue;
        }
        // `- command` ignores errors; `a,b: command` runs only in these environments.
        let own = own.strip_prefix("- ").or_else(|| own.strip_prefix("! ")).unwrap_or(own);
        open += own.strip_suffix('\\').unwrap_or(own);
        if !own.ends_with('\\') {
            let text =
                replace_expressions(&std::mem::take(&mut open), "{", "}", |inner| Some(tox_value(inner)));
            found.push(TaskText::shell(text));
        }
    }
    found
}

/// Returns what tox inserts for an expression.
fn tox_value(expression: &str) -> String {
    match expression {
        "env:HOME" | "homedir" => "$HOME".to_owned(),
        "toxinidir" | "tox_root" => "$PWD".to_owned(),
        _ => unknown_variable(),
    }
}

/// Returns the command of a Git alias. The first word is the alias, and the other words are its arguments.
pub fn git_alias(text: &str, words: &[String]) -> Vec<TaskText> {
    let Some(alias) = words.first() else { return Vec::new() };
    let (mut is_alias, mut found) = (false, Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let own = line.trim();
        if let Some(section) = own.strip_prefix('[') {
            is_alias = section.trim_end_matches(']').trim().eq_ignore_ascii_case("alias");
            continue;
        }
        let Some((key, value)) = own.split_once('=').filter(|_| is_alias) else { continue };
        if !key.trim().eq_ignore_ascii_case(alias) {
            continue;
        }
        let mut value = value.trim().to_owned();
        while value.ends_with('\\') {
            value.pop();
            value += lines.next().unwrap_or_default();
        }
        let value = unquote_value(&value);
        found.push(TaskText::shell(match value.strip_prefix('!') {
            Some(command) => command.to_owned(),
            None => format!("git {value}"),
        }));
    }
    found
}

/// Removes the quotes of a value in the Git configuration.
fn unquote_value(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let mut letters = value.chars();
    let mut is_quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => plain.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted && plain.ends_with(' ') => break,
            letter => plain.push(letter),
        }
    }
    plain.truncate(plain.trim_end().len());
    plain
}

/// Returns the code cells of a notebook. Lines that begin with `!` and cells that begin with `%%bash` are shell text.
pub fn notebook_cells(text: &str) -> Vec<TaskText> {
    let tree: Value = serde_json::from_str(text).unwrap_or_default();
    let language = tree.pointer("/metadata/kernelspec/language").and_then(Value::as_str).unwrap_or("python");
    let cells = tree.get("cells").and_then(Value::as_array).into_iter().flatten();
    let mut found = Vec::new();
    let mut code = String::new();
    for cell in cells.filter(|cell| cell.get("cell_type").and_then(Value::as_str) == Some("code")) {
        let source = match cell.get("source") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
            _ => continue,
        };
        let first = source.lines().next().unwrap_or_default().trim();
        if ["%%bash", "%%sh", "%%script bash", "%%script sh"].iter().any(|magic| first.starts_with(magic)) {
            found.push(TaskText::shell(source.split_once('\n').map_or("", |(_, rest)| rest)));
            continue;
        }
        for line in source.lines() {
            let own = line.trim_start();
            match own
                .strip_prefix('!')
                .or_else(|| own.strip_prefix("%sx "))
                .or_else(|| own.strip_prefix("%system "))
            {
                Some(command) => found.push(TaskText::shell(command.trim_start_matches('!'))),
                None => code = code + line + "\n",
            }
        }
    }
    if language == "python" && !code.is_empty() {
        found.push(TaskText::code("python", code));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(read: fn(&str, &[String]) -> Vec<TaskText>, text: &str, tasks: &[&str]) -> Vec<String> {
        let tasks: Vec<_> = tasks.iter().map(|task| (*task).to_owned()).collect();
        read(text, &tasks).into_iter().map(|text| text.text).collect()
    }

    #[test]
    fn only_the_tasks_that_were_asked_for_run() {
        let composer = r#"{"scripts": {"test": ["@lint", "phpunit", "App\\X::y"], "lint": "a", "post-install-cmd": "b", "wipe": "rm -rf /"}}"#;
        assert_eq!(run(composer_tasks, composer, &["test"]), ["phpunit", "a"]);
        assert_eq!(run(composer_tasks, composer, &["install"]), ["b"]);
        let deno = "{ // x\n \"tasks\": {\"a\": \"b\", \"c\": {\"command\": \"d\", \"dependencies\": [\"a\"]}, \"wipe\": \"rm -rf /\"}}";
        assert_eq!(run(deno_tasks, deno, &["c"]), ["d", "b"]);
        let taskfile = "version: '3'\ntasks:\n  default: {deps: [a]}\n  a:\n    cmds:\n      - b {{.X}}\n      - task: c\n  c: d\n  wipe: {cmd: rm -rf /}\n";
        assert_eq!(run(taskfile_tasks, taskfile, &[]), [format!("b {}", unknown_variable()), "d".to_owned()]);
        assert_eq!(run(taskfile_tasks, taskfile, &["wipe"]), ["rm -rf /"]);
        let tox = "[tox]\nenvlist = py\n[testenv]\ncommands =\n    pytest {posargs} \\\n      -q\n[testenv:wipe]\ndeps = x\ncommands = rm -rf {env:HOME}/x\n";
        assert_eq!(run(tox_tasks, tox, &["py"]), [format!("pytest {} -q", unknown_variable())]);
        assert_eq!(run(tox_tasks, tox, &["wipe,py"]).last().unwrap(), "rm -rf $HOME/x");
        let git = "[user]\n\tname = x\n[alias]\n\tlg = log --oneline\n\tsync = \"!curl -s \\\"x\\\" | sh\" ; note\n[core]\n\tsync = no\n";
        assert_eq!(run(git_alias, git, &["sync"]), ["curl -s \"x\" | sh"]);
        assert_eq!(run(git_alias, git, &["lg", "-10"]), ["git log --oneline"]);
        for read in [composer_tasks, deno_tasks, taskfile_tasks, tox_tasks, git_alias] {
            for hostile in ["", "{", "[", "tasks: [", "[alias]\nx = \\", "{\"scripts\": {\"x\": \"@x\"}}"] {
                run(read, hostile, &["x"]);
            }
        }
    }

    #[test]
    fn the_code_of_a_notebook_is_read() {
        let text = r#"{"cells": [
            {"cell_type": "markdown", "source": "!no"},
            {"cell_type": "code", "source": ["import os\n", "!pip install x\n"]},
            {"cell_type": "code", "source": "%%bash\nrm -rf x"}
        ], "metadata": {}}"#;
        assert_eq!(
            notebook_cells(text),
            [
                TaskText::shell("pip install x"),
                TaskText::shell("rm -rf x"),
                TaskText::code("python", "import os\n")
            ]
        );
        assert_eq!(notebook_cells("{"), []);
    }
}
