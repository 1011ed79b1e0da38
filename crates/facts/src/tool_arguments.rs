// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds commands, SQL, code and paths in the arguments of MCP tools and unknown tools.
//!
//! The meaning of such a tool's arguments is not known, so each argument is classified by its key and its content.
//! The result is a copy of the call whose arguments have the usual keys: `commands`, `path`, `url`.

use serde_json::{Map, Value, json};
use tenterhook_event::{ToolCall, ToolClass};

/// Maximum nesting depth of arguments, including JSON in strings.
const MAX_ARGUMENT_DEPTH: usize = 8;
/// Maximum number of commands that are found in the arguments of one call.
const MAX_FOUND_COMMANDS: usize = 32;
/// Maximum length of a string that is parsed as JSON.
const MAX_JSON_BYTES: usize = 64 * 1024;

/// Keys of shell text, without separators and in lower case.
const SHELL_KEYS: &[&str] =
    &["shellcommand", "shell", "bash", "sh", "run", "exec", "execute", "cmdline", "terminalcommand"];
/// Keys of shell text that the event crate reads where they are not nested.
const NESTED_SHELL_KEYS: &[&str] = &["command", "cmd", "script", "commandline"];
/// Keys of a program whose arguments are in another key.
const PROGRAM_KEYS: &[&str] = &["program", "executable", "binary", "command", "cmd"];
/// Keys of a program's arguments.
const WORDS_KEYS: &[&str] = &["args", "arguments", "argv", "params", "parameters"];
/// Keys of SQL. Other text under these keys is recognised by its first word.
const SQL_KEYS: &[&str] = &["sql", "query", "statement", "statements", "queries", "sqlquery"];
/// Words that begin an SQL statement.
const SQL_VERBS: &[&str] = &[
    "drop", "truncate", "delete", "alter", "update", "insert", "create", "grant", "revoke", "with", "select",
];
/// Keys of a path that are used for other things too.
const LOOSE_PATH_KEYS: &[&str] = &["target", "directory", "location", "item", "name", "resource", "uri"];
/// Keys that name what a tool does with a path.
const OPERATION_KEYS: &[&str] = &["operation", "action", "mode", "op", "method", "verb"];
/// Words in the names of tools that run a command.
const RUNNING_WORDS: &[&str] =
    &["run", "exec", "execute", "shell", "terminal", "bash", "command", "cmd", "process", "spawn"];
/// Command-line programs that tools wrap: the arguments of such a tool continue the name of the program.
const WRAPPED_PROGRAMS: &[&str] = &[
    "kubectl",
    "helm",
    "terraform",
    "tofu",
    "docker",
    "podman",
    "git",
    "gh",
    "aws",
    "gcloud",
    "az",
    "psql",
    "mysql",
    "redis-cli",
    "mongosh",
    "npm",
    "pulumi",
    "flyctl",
    "heroku",
    "vercel",
    "systemctl",
    "rclone",
    "rsync",
];

/// Returns the call with the meaning of its arguments made explicit; `None` if there is nothing to add.
pub(crate) fn expand_arguments(tool: &ToolCall) -> Option<ToolCall> {
    if !matches!(tool.class, ToolClass::Mcp | ToolClass::Other) || !tool.args.is_object() {
        return None;
    }
    let mut found =
        FoundArguments { name: tool.unprefixed_name().to_ascii_lowercase(), ..FoundArguments::default() };
    found.visit(&tool.args, 0, &tool.name.to_ascii_lowercase());
    found.into_call(tool)
}

/// What the arguments of one call contain besides what their keys say.
#[derive(Debug, Default)]
struct FoundArguments {
    /// Name of the tool, in lower case.
    name: String,
    commands: Vec<Value>,
    paths: Vec<String>,
    outputs: Vec<String>,
    operation: Option<String>,
}

impl FoundArguments {
    fn visit(&mut self, value: &Value, depth: usize, whole_name: &str) {
        if depth >= MAX_ARGUMENT_DEPTH || self.commands.len() >= MAX_FOUND_COMMANDS {
            return;
        }
        match value {
            Value::Object(fields) => {
                self.add_program(fields);
                for (key, value) in fields {
                    self.add_field(&fold_key(key), value, depth, whole_name);
                    self.visit(value, depth + 1, whole_name);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.visit(item, depth + 1, whole_name)),
            Value::String(text) if depth > 0 && text.len() <= MAX_JSON_BYTES && looks_like_json(text) => {
                if let Ok(inner) = serde_json::from_str::<Value>(text) {
                    self.visit(&inner, depth + 1, whole_name);
                }
            }
            _ => {}
        }
    }

    /// Classifies one argument by its key.
    fn add_field(&mut self, key: &str, value: &Value, depth: usize, whole_name: &str) {
        if key == "argv" && value.as_array().is_some_and(|words| words.iter().all(Value::is_string)) {
            return self.commands.push(value.clone());
        }
        let texts: Vec<&str> = match value {
            Value::String(text) => vec![text.as_str()],
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            _ => return,
        };
        let is_shell = SHELL_KEYS.contains(&key)
            || depth > 0 && NESTED_SHELL_KEYS.contains(&key)
            || key == "input" && self.name_has(RUNNING_WORDS);
        for text in texts {
            if (is_shell || NESTED_SHELL_KEYS.contains(&key)) && self.commands.len() < MAX_FOUND_COMMANDS {
                if is_shell {
                    self.commands.push(json!(text));
                }
                self.add_wrapped(text, whole_name);
            }
            if SQL_KEYS.contains(&key) && is_sql(text) {
                let is_sqlite = whole_name.contains("sqlite");
                let words =
                    if is_sqlite { json!(["sqlite3", "app.db", text]) } else { json!(["psql", "-c", text]) };
                self.commands.push(words);
            }
            match key {
                "python" | "pythoncode" | "py" => self.commands.push(json!(["python3", "-c", text])),
                "javascript" | "js" | "node" => self.commands.push(json!(["node", "-e", text])),
                "powershell" | "pwsh" | "powershellscript" | "powershellcommand" => {
                    self.commands.push(json!(["pwsh", "-Command", text]));
                }
                _ => {}
            }
            if LOOSE_PATH_KEYS.contains(&key) && text.starts_with(['/', '~']) {
                if self.name_has(&["write", "create", "save", "edit", "update", "append"]) {
                    self.outputs.push(text.to_owned());
                } else {
                    self.paths.push(text.to_owned());
                }
            }
            if let Some(path) = file_url_path(text) {
                self.paths.push(path);
            }
            if OPERATION_KEYS.contains(&key) && text.len() < 32 {
                self.operation = Some(text.to_ascii_lowercase());
            }
        }
    }

    /// Adds a program whose arguments are a list or text under another key.
    fn add_program(&mut self, fields: &Map<String, Value>) {
        let find = |keys: &[&str]| fields.iter().find(|(key, _)| keys.contains(&fold_key(key).as_str()));
        let (Some((_, Value::String(program))), Some((_, words))) = (find(PROGRAM_KEYS), find(WORDS_KEYS))
        else {
            return;
        };
        if program.is_empty() || program.contains(char::is_whitespace) {
            return;
        }
        match words {
            Value::Array(words) if words.iter().all(Value::is_string) => {
                self.commands
                    .push(std::iter::once(&Value::from(program.as_str())).chain(words).cloned().collect());
            }
            Value::String(words) if !looks_like_json(words) => {
                self.commands.push(json!(format!("{program} {words}")));
            }
            _ => {}
        }
    }

    /// Adds the command of a tool that wraps a program: `kubectl` with `delete ns prod`.
    fn add_wrapped(&mut self, text: &str, whole_name: &str) {
        let first = text.split_whitespace().next().unwrap_or_default();
        if first.is_empty() || first == "sudo" || WRAPPED_PROGRAMS.contains(&first) || first.contains('/') {
            return;
        }
        let is_word = |program: &str| {
            whole_name.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| word == program)
        };
        let is_wrapped =
            |program: &&&str| is_word(program) || program.len() > 4 && self.name.contains(**program);
        if let Some(program) = WRAPPED_PROGRAMS.iter().find(is_wrapped) {
            self.commands.push(json!(format!("{program} {text}")));
        }
    }

    fn name_has(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.name.contains(word))
    }

    fn into_call(self, tool: &ToolCall) -> Option<ToolCall> {
        let Self { commands, paths, outputs, operation, name } = self;
        let deletes = operation.as_deref().is_some_and(|operation| {
            ["delete", "remove", "unlink", "rmdir", "trash", "purge"].contains(&operation)
        });
        if commands.is_empty() && paths.is_empty() && outputs.is_empty() && !deletes {
            return None;
        }
        let mut call = tool.clone();
        let fields = call.args.as_object_mut()?;
        append_to(fields, "commands", commands);
        append_to(fields, "paths", paths.into_iter().map(Value::from).collect());
        append_to(fields, "output_paths", outputs.into_iter().map(Value::from).collect());
        if deletes && !name.contains("delete") {
            // The name decides what the tool does with its paths.
            match &mut call.mcp {
                Some(mcp) => mcp.tool = format!("delete_{}", mcp.tool),
                None => call.name = format!("delete_{}", call.name),
            }
        }
        Some(call)
    }
}

/// Appends values to a list argument. A value that is not a list is kept as its first item.
fn append_to(fields: &mut Map<String, Value>, key: &str, values: Vec<Value>) {
    if values.is_empty() {
        return;
    }
    match fields.entry(key).or_insert_with(|| json!([])) {
        Value::Array(known) => known.extend(values),
        other => {
            let first = other.take();
            *other = std::iter::once(first).chain(values).collect();
        }
    }
}

/// Returns a key in lower case, without separators.
fn fold_key(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_lowercase()).collect()
}

fn looks_like_json(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('{') && text.ends_with('}') || text.starts_with('[') && text.ends_with(']')
}

fn is_sql(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default().to_ascii_lowercase();
    SQL_VERBS.contains(&first.as_str()) && words.next().is_some()
}

/// Returns the path of a `file:` URL, in every spelling that clients accept.
fn file_url_path(text: &str) -> Option<String> {
    let text = text.trim();
    let viewed = text.split_once(':').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("view-source"));
    let text = viewed.map_or(text, |(_, inner)| inner);
    let start = text.get(..5)?;
    if !start.eq_ignore_ascii_case("file:") {
        return None;
    }
    let rest = text.get(5..)?;
    let rest = match rest.strip_prefix("//") {
        Some(rest) => rest.get(rest.find('/')?..)?,
        None => rest,
    };
    Some(percent_decode(rest)).filter(|path| path.starts_with('/'))
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits =
            after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(name: &str, args: Value) -> Vec<Value> {
        let mut tool = ToolCall::new(name, args);
        tool.args.as_object_mut().unwrap().remove("commands");
        let expanded = expand_arguments(&tool);
        expanded.and_then(|call| call.args.get("commands")?.as_array().cloned()).unwrap_or_default()
    }

    #[test]
    fn commands_are_found_under_any_key() {
        for (name, args, expected) in [
            ("mcp__x__run", json!({"shell_command": "a b"}), json!("a b")),
            ("mcp__x__run", json!({"input": "a b"}), json!("a b")),
            ("mcp__x__run", json!({"argv": ["a", "b"]}), json!(["a", "b"])),
            ("mcp__x__run", json!({"program": "a", "arguments": ["b"]}), json!(["a", "b"])),
            ("mcp__x__run", json!({"command": "a", "args": "-b c"}), json!("a -b c")),
            ("mcp__x__run", json!({"arguments": "{\"command\": \"a b\"}"}), json!("a b")),
            ("mcp__x__run", json!({"request": {"command": "a b"}}), json!("a b")),
            ("mcp__x__run", json!({"steps": [{"run": "a b"}]}), json!("a b")),
            ("mcp__k8s__kubectl", json!({"command": "delete ns prod"}), json!("kubectl delete ns prod")),
            ("mcp__tf__ExecuteTerraformCommand", json!({"command": "destroy"}), json!("terraform destroy")),
            ("mcp__pg__query", json!({"query": "TRUNCATE users"}), json!(["psql", "-c", "TRUNCATE users"])),
            ("mcp__py__exec", json!({"python": "x()"}), json!(["python3", "-c", "x()"])),
            ("mcp__win__run", json!({"powershell": "x"}), json!(["pwsh", "-Command", "x"])),
        ] {
            let found = commands(name, args.clone());
            assert!(found.contains(&expected), "{name} {args}: {found:?}");
        }
    }

    #[test]
    fn prose_is_not_a_command() {
        for (name, args) in [
            ("mcp__github__create_issue", json!({"title": "rm -rf ~ fails", "body": "run `rm -rf ~`"})),
            ("mcp__docs__search", json!({"query": "how to drop a table"})),
            ("mcp__slack__post_message", json!({"text": "delete ns prod", "channel": "x"})),
            ("mcp__notes__add", json!({"input": "rm -rf ~ is bad"})),
            ("mcp__jira__update", json!({"description": "{not json}", "name": "x"})),
        ] {
            assert_eq!(commands(name, args.clone()), Vec::<Value>::new(), "{name} {args}");
        }
    }

    #[test]
    fn every_spelling_of_a_file_url_is_a_path() {
        for url in
            ["FILE:///a/b", "file://localhost/a/b", "file:/a/b", "view-source:file:///a/b", "file:///a%2Fb"]
        {
            assert_eq!(file_url_path(url).as_deref(), Some("/a/b"), "{url}");
        }
        for text in ["https://x.io/a", "file", "files:/a", "profile:/a", "file:a", "é"] {
            assert_eq!(file_url_path(text), None, "{text}");
        }
    }
}
