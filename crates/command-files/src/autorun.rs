// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads files whose commands run automatically: when a directory is entered, a folder is opened or
//! a commit is made.

use std::path::Path;

use serde_json::Value;

use super::{CommandText, kind_by_name, quote_word};

/// Returns the commands that run automatically from a file with this path and text; `None` if files with this name do
/// not run automatically.
pub fn autorun_commands(path: &Path, text: &str) -> Option<Vec<CommandText>> {
    let mut parts = path.iter().rev().map(|part| part.to_str().unwrap_or_default());
    let (file, parent, above) =
        (parts.next()?, parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let whole = || vec![CommandText::from_line(1, text.to_owned())];
    let json = |read: fn(&Value, &mut Vec<String>)| {
        let mut found = Vec::new();
        if let Ok(tree) = serde_json::from_str(&strip_json_comments(text)) {
            read(&tree, &mut found);
        }
        found.into_iter().map(|text| CommandText::from_line(1, text)).collect()
    };
    match (above, parent, file) {
        (_, _, ".envrc") | (".git", "hooks", _) | (_, ".husky", _) => Some(whole()),
        (_, ".vscode", "tasks.json") => Some(json(read_tasks)),
        (_, _, ".mcp.json" | "mcp.json") => Some(json(read_servers)),
        (".claude", "agents" | "commands", _) => Some(read_front_matter(text)),
        (_, _, "devcontainer.json" | ".devcontainer.json") => Some(json(read_container_commands)),
        (".github", "workflows", _) | (_, _, ".pre-commit-config.yaml" | ".pre-commit-config.yml") => {
            kind_by_name(path).map(|kind| kind.read(text).unwrap_or_default())
        }
        _ => None,
    }
}

/// Reads the commands of hooks in the front matter of an agent's definition.
fn read_front_matter(text: &str) -> Vec<CommandText> {
    let Some((front, _)) = text.strip_prefix("---").and_then(|rest| rest.split_once("\n---")) else {
        return Vec::new();
    };
    let command = |line: &str| {
        let value = line.trim_start().trim_start_matches("- ").strip_prefix("command:")?.trim();
        let quoted = |mark: char| value.strip_prefix(mark)?.strip_suffix(mark);
        Some(quoted('"').or_else(|| quoted('\'')).unwrap_or(value).to_owned())
    };
    let lines = (1..).zip(front.lines());
    lines.filter_map(|(number, line)| Some(CommandText::from_line(number, command(line)?))).collect()
}

/// Reads the tasks of an editor: `command` with `args`.
fn read_tasks(tree: &Value, found: &mut Vec<String>) {
    let tasks = tree.get("tasks").and_then(Value::as_array).into_iter().flatten();
    for task in tasks {
        let systems = ["linux", "osx", "windows"].iter().filter_map(|system| task.get(system));
        found.extend(std::iter::once(task).chain(systems).filter_map(command_with_args));
    }
}

/// Reads the MCP servers that a client starts.
fn read_servers(tree: &Value, found: &mut Vec<String>) {
    for key in ["mcpServers", "servers"] {
        let servers = tree.get(key).and_then(Value::as_object);
        found.extend(servers.into_iter().flat_map(|servers| servers.values()).filter_map(command_with_args));
    }
}

/// Reads the commands of a development container that run on creation and start. Each is a string, a list of words,
/// or an object whose values are strings or lists.
fn read_container_commands(tree: &Value, found: &mut Vec<String>) {
    let entries = tree.as_object().into_iter().flatten();
    for (_, value) in entries.filter(|(key, _)| key.ends_with("Command")) {
        match value {
            Value::Object(commands) => found.extend(commands.values().filter_map(command_text)),
            other => found.extend(command_text(other)),
        }
    }
}

/// Scripts of a `package.json` that run when its packages are installed.
const LIFECYCLE_SCRIPTS: &[&str] = &[
    "preinstall",
    "install",
    "postinstall",
    "prepare",
    "preprepare",
    "postprepare",
    "prepublish",
    "prepack",
];

/// Returns the commands of a `package.json` that run when its packages are installed.
pub(crate) fn lifecycle_commands(text: &str) -> Vec<String> {
    let Ok(tree) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let scripts = tree.get("scripts");
    LIFECYCLE_SCRIPTS.iter().filter_map(|name| scripts?.get(name)?.as_str()).map(str::to_owned).collect()
}

/// Returns the command line of an object with `command` and `args`.
fn command_with_args(entry: &Value) -> Option<String> {
    let command = command_text(entry.get("command")?)?;
    let args = entry.get("args").and_then(Value::as_array).into_iter().flatten();
    let args = args.filter_map(|arg| arg.as_str().or_else(|| arg.get("value")?.as_str())).map(quote_word);
    Some(std::iter::once(command).chain(args).collect::<Vec<_>>().join(" "))
}

fn command_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words = words.iter().filter_map(Value::as_str).map(quote_word);
            Some(words.collect::<Vec<_>>().join(" "))
        }
        _ => None,
    }
}

/// Removes comments and trailing commas, which editors accept in their JSON files.
pub(crate) fn strip_json_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => {
                rest = rest.get(rest.find('\n').unwrap_or(rest.len())..).unwrap_or_default();
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.split_once("*/").map_or("", |(_, after)| after);
                continue;
            }
            ']' | '}' => {
                let end = plain.trim_end().len();
                if plain.trim_end().ends_with(',') {
                    plain.truncate(end - 1);
                }
                1
            }
            _ => first.len_utf8(),
        };
        let (own, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        plain += own;
        rest = after;
    }
    plain
}

/// Returns the length of the string literal at the start of the text.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(path: &str, text: &str) -> Option<Vec<String>> {
        let found = autorun_commands(Path::new(path), text)?;
        Some(found.into_iter().map(|piece| piece.text).collect())
    }

    #[test]
    fn commands_that_run_automatically_are_found() {
        for (path, text, expected) in [
            ("/p/.envrc", "use nix\n", vec!["use nix\n"]),
            ("/p/.git/hooks/pre-push", "a", vec!["a"]),
            (
                "/p/.vscode/tasks.json",
                "{ // x\n \"tasks\": [{\"command\": \"a // b\", \"args\": [\"c d\", {\"value\": \"e\"},]}, {\"label\": \"x\"}], }",
                vec!["a // b 'c d' 'e'"],
            ),
            (
                "/p/.mcp.json",
                r#"{"mcpServers": {"x": {"command": "sh", "args": ["-c", "b"]}}}"#,
                vec!["sh '-c' 'b'"],
            ),
            (
                "/p/.devcontainer/devcontainer.json",
                r#"{"name": "x", "postCreateCommand": ["a", "b c"], "postStartCommand": {"x": "d"}}"#,
                vec!["'a' 'b c'", "d"],
            ),
            (
                "/p/.claude/agents/a.md",
                "---\nname: a\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: \"b c\"\n---\ncommand: d\n",
                vec!["b c"],
            ),
            ("/p/.claude/agents/a.md", "---\nhooks: {}\n---\n", vec![]),
            ("/p/.github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: b\n", vec!["b"]),
            ("/p/.vscode/tasks.json", "{", vec![]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(texts(path, text), Some(expected), "{path}");
        }
        for path in [
            "/p/a.sh",
            "/p/Makefile",
            "/p/tasks.json",
            "/p/package.json",
            "/p/.vscode/settings.json",
            "envrc",
        ] {
            assert_eq!(texts(path, "rm -rf ~"), None, "{path}");
        }
    }
}
