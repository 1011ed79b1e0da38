// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tools by what they do: one table of native names, one set of argument roles per class.
//!
//! A rule about `shell` serves every harness, because `Bash`, `run_shell_command` and
//! `exec_command` are all rows of class `shell` and every class says which argument keys carry a
//! command, a path, content, a URL or a patch.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

macro_rules! classes {
    ($($variant:ident $name:literal $doc:literal)*) => {
        /// What a tool does, whatever the harness calls it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum ToolClass { $(#[doc = $doc] $variant,)* }

        impl ToolClass {
            /// Every class.
            pub const ALL: &[ToolClass] = &[$(ToolClass::$variant),*];

            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self { $(ToolClass::$variant => $name,)* }
            }

            /// The class of this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(ToolClass::$variant),)* _ => None }
            }
        }
    };
}

classes! {
    Shell "shell" "runs commands"
    Read "read" "reads files"
    Write "write" "writes whole files"
    Edit "edit" "changes parts of files"
    Patch "patch" "applies a patch text"
    Search "search" "looks for files or text"
    Fetch "fetch" "gets something from the network"
    Mcp "mcp" "a tool of an MCP server"
    Agent "agent" "starts or steers another agent"
    Todo "todo" "keeps the agent's task list"
    Other "other" "anything else"
}

/// One native tool name.
#[derive(Debug, Clone, Copy)]
pub struct ToolRow {
    /// The name, as the harness spells it.
    pub name: &'static str,
    /// What the tool does.
    pub class: ToolClass,
    /// Who calls it so.
    pub used_by: &'static str,
}

/// The argument keys that carry something worth judging. A value may be a text or a list.
#[derive(Debug, Clone, Copy)]
pub struct Roles {
    /// A command: shell text, or an argv when the value is a list.
    pub command: &'static [&'static str],
    /// A list of commands, each shell text, an argv, or an object with a `command` role.
    pub commands: &'static [&'static str],
    /// A path, or several.
    pub path: &'static [&'static str],
    /// Text that will be written.
    pub content: &'static [&'static str],
    /// Where the tool connects to.
    pub url: &'static [&'static str],
    /// A patch text, which carries paths and content.
    pub patch: &'static [&'static str],
}

const NOTHING: Roles = Roles { command: &[], commands: &[], path: &[], content: &[], url: &[], patch: &[] };
const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "notebook_path",
    "file",
    "files",
    "paths",
    "file_paths",
    "filename",
    "fileName",
    "filepath",
    "relative_path",
    "target_file",
    "dir_path",
    "replacements",
    "source",
];
const CONTENTS: &[&str] = &[
    "content",
    "contents",
    "file_text",
    "new_string",
    "newString",
    "new_str",
    "new_text",
    "new_source",
    "edits",
    "replacements",
    "file_content",
    "diff",
    "text",
];
const COMMANDS: &[&str] = &["command", "cmd", "script", "command_line", "CommandLine"];
const URLS: &[&str] = &["url", "urls", "uri"];

const fn row(name: &'static str, class: ToolClass, used_by: &'static str) -> ToolRow {
    ToolRow { name, class, used_by }
}

/// Every native tool name we know. Names are compared exactly; MCP names are known by their form.
pub const TOOLS: &[ToolRow] = &[
    row("Bash", ToolClass::Shell, "claude-code, codex, copilot"),
    row("BashOutput", ToolClass::Other, "claude-code"),
    row("bash", ToolClass::Shell, "opencode, copilot"),
    row("powershell", ToolClass::Shell, "copilot"),
    row("Shell", ToolClass::Shell, "cursor"),
    row("shell", ToolClass::Shell, "codex"),
    row("local_shell", ToolClass::Shell, "codex"),
    row("exec_command", ToolClass::Shell, "codex"),
    row("run_shell_command", ToolClass::Shell, "gemini, llxprt, qwen"),
    row("run_commands", ToolClass::Shell, "cline"),
    row("execute_command", ToolClass::Shell, "cline"),
    row("run_in_terminal", ToolClass::Shell, "vscode"),
    row("run_terminal_command", ToolClass::Shell, "continue"),
    row("run_terminal_cmd", ToolClass::Shell, "cursor"),
    row("run_command", ToolClass::Shell, "windsurf, antigravity"),
    row("execute_bash", ToolClass::Shell, "kiro"),
    row("Execute", ToolClass::Shell, "droid"),
    row("developer__shell", ToolClass::Shell, "goose"),
    row("launch-process", ToolClass::Shell, "augment"),
    row("Read", ToolClass::Read, "claude-code, cursor, copilot, droid"),
    row("NotebookRead", ToolClass::Read, "claude-code"),
    row("read", ToolClass::Read, "opencode"),
    row("view", ToolClass::Read, "copilot"),
    row("view_image", ToolClass::Read, "codex"),
    row("read_file", ToolClass::Read, "gemini, llxprt, qwen, vscode, cline"),
    row("read_many_files", ToolClass::Read, "gemini, llxprt, qwen"),
    row("read_files", ToolClass::Read, "cline"),
    row("read_line_range", ToolClass::Read, "llxprt"),
    row("fs_read", ToolClass::Read, "kiro"),
    row("Write", ToolClass::Write, "claude-code, cursor, copilot"),
    row("Create", ToolClass::Write, "droid"),
    row("write", ToolClass::Write, "opencode"),
    row("create", ToolClass::Write, "copilot"),
    row("create_file", ToolClass::Write, "vscode"),
    row("write_file", ToolClass::Write, "gemini, llxprt, qwen"),
    row("write_to_file", ToolClass::Write, "cline"),
    row("save-file", ToolClass::Write, "augment"),
    row("Edit", ToolClass::Edit, "claude-code, cursor, copilot, droid"),
    row("MultiEdit", ToolClass::Edit, "claude-code"),
    row("NotebookEdit", ToolClass::Edit, "claude-code"),
    row("edit", ToolClass::Edit, "opencode, copilot, qwen"),
    row("editor", ToolClass::Edit, "cline"),
    row("replace", ToolClass::Edit, "gemini, llxprt"),
    row("replace_in_file", ToolClass::Edit, "cline"),
    row("replace_string_in_file", ToolClass::Edit, "vscode"),
    row("multi_replace_string_in_file", ToolClass::Edit, "vscode"),
    row("insert_edit_into_file", ToolClass::Edit, "vscode"),
    row("str_replace_editor", ToolClass::Edit, "copilot"),
    row("str-replace-editor", ToolClass::Edit, "augment"),
    row("multiedit", ToolClass::Edit, "opencode"),
    row("insert_at_line", ToolClass::Edit, "llxprt"),
    row("delete_line_range", ToolClass::Edit, "llxprt"),
    row("fs_write", ToolClass::Edit, "kiro"),
    row("developer__text_editor", ToolClass::Edit, "goose"),
    row("apply_patch", ToolClass::Patch, "codex, opencode"),
    row("ApplyPatch", ToolClass::Patch, "droid"),
    row("patch", ToolClass::Patch, "opencode"),
    row("Glob", ToolClass::Search, "claude-code, cursor"),
    row("Grep", ToolClass::Search, "claude-code, cursor"),
    row("LS", ToolClass::Search, "claude-code, droid"),
    row("glob", ToolClass::Search, "opencode, gemini, llxprt, qwen"),
    row("grep", ToolClass::Search, "opencode, copilot"),
    row("list", ToolClass::Search, "opencode"),
    row("list_directory", ToolClass::Search, "gemini, llxprt, qwen"),
    row("search_file_content", ToolClass::Search, "gemini, llxprt"),
    row("grep_search", ToolClass::Search, "qwen, vscode"),
    row("search_codebase", ToolClass::Search, "cline"),
    row("file_search", ToolClass::Search, "vscode"),
    row("list_dir", ToolClass::Search, "vscode"),
    row("ToolSearch", ToolClass::Other, "claude-code"),
    row("WebFetch", ToolClass::Fetch, "claude-code, cursor"),
    row("WebSearch", ToolClass::Fetch, "claude-code, cursor"),
    row("webfetch", ToolClass::Fetch, "opencode"),
    row("web_fetch", ToolClass::Fetch, "gemini, qwen, copilot"),
    row("google_web_search", ToolClass::Fetch, "gemini, llxprt"),
    row("web_search", ToolClass::Fetch, "codex, qwen"),
    row("fetch_web_content", ToolClass::Fetch, "cline"),
    row("fetch_webpage", ToolClass::Fetch, "vscode"),
    row("direct_web_fetch", ToolClass::Fetch, "llxprt"),
    row("websearch", ToolClass::Fetch, "opencode"),
    row("FetchUrl", ToolClass::Fetch, "droid"),
    row("Agent", ToolClass::Agent, "claude-code, copilot"),
    row("Task", ToolClass::Agent, "claude-code, cursor, droid"),
    row("task", ToolClass::Agent, "opencode, copilot, llxprt, qwen"),
    row("agent", ToolClass::Agent, "qwen"),
    row("runSubagent", ToolClass::Agent, "vscode"),
    row("invoke_agent", ToolClass::Agent, "gemini"),
    row("spawn_agent", ToolClass::Agent, "codex, cline"),
    row("multi_agent_v1wait_agent", ToolClass::Agent, "codex"),
    row("TodoWrite", ToolClass::Todo, "claude-code, droid"),
    row("TaskCreate", ToolClass::Todo, "claude-code"),
    row("TaskUpdate", ToolClass::Todo, "claude-code"),
    row("TaskGet", ToolClass::Todo, "claude-code"),
    row("TaskList", ToolClass::Todo, "claude-code"),
    row("todowrite", ToolClass::Todo, "opencode"),
    row("todoread", ToolClass::Todo, "opencode"),
    row("todo_write", ToolClass::Todo, "qwen, llxprt"),
    row("manage_todo_list", ToolClass::Todo, "vscode"),
    row("write_todos", ToolClass::Todo, "gemini"),
    row("update_plan", ToolClass::Todo, "codex"),
];

/// The row of a native tool name, if it is a known one.
pub fn tool_row(name: &str) -> Option<&'static ToolRow> {
    TOOLS.iter().find(|row| row.name == name)
}

/// A tool call: the native name, our class for it, and the arguments as the harness gave them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCall {
    /// The harness's name for the tool.
    pub name: String,
    /// What the tool does.
    pub class: ToolClass,
    /// The arguments.
    pub args: Value,
    /// The server and its own name for the tool, when an MCP server provides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<Mcp>,
}

/// An MCP tool: the server and its own name for the tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mcp {
    /// The server, as configured in the harness.
    pub server: String,
    /// The tool, as the server names it.
    pub tool: String,
}

/// One command a tool call would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command<'a> {
    /// Text for a shell.
    Text(&'a str),
    /// A program and its arguments, with no shell in between.
    Argv(Vec<&'a str>),
}

// === impl ToolClass ===

impl ToolClass {
    /// Which argument keys of this class carry what.
    pub fn roles(self) -> Roles {
        match self {
            Self::Shell => Roles { command: COMMANDS, commands: &["commands"], ..NOTHING },
            Self::Read | Self::Search => Roles { path: PATHS, ..NOTHING },
            Self::Write | Self::Edit => Roles { path: PATHS, content: CONTENTS, ..NOTHING },
            Self::Patch => Roles { patch: &["input", "command", "patch", "patchText"], ..NOTHING },
            Self::Fetch => Roles { url: URLS, ..NOTHING },
            Self::Agent | Self::Todo => NOTHING,
            // Somebody else's tool: any key that usually means something is taken to mean it.
            Self::Mcp | Self::Other => Roles {
                command: COMMANDS,
                commands: &["commands"],
                path: PATHS,
                content: CONTENTS,
                url: URLS,
                patch: &["patch"],
            },
        }
    }
}

// === impl Mcp ===

impl Mcp {
    /// Reads `mcp__server__tool` and `mcp_server_tool`.
    pub fn from_tool_name(name: &str) -> Option<Self> {
        let (server, tool) = match name.strip_prefix("mcp__") {
            Some(rest) => rest.split_once("__")?,
            None => name.strip_prefix("mcp_")?.split_once('_')?,
        };
        (!server.is_empty()).then(|| Self { server: server.to_owned(), tool: tool.to_owned() })
    }
}

// === impl ToolCall ===

impl ToolCall {
    /// A call of the tool of this native name.
    pub fn new(name: &str, args: Value) -> Self {
        let mcp = Mcp::from_tool_name(name);
        let class = match (&mcp, tool_row(name)) {
            (_, Some(row)) => row.class,
            (Some(_), None) => ToolClass::Mcp,
            (None, None) => ToolClass::Other,
        };
        Self { name: name.to_owned(), class, args, mcp }
    }

    /// Every command the call would run.
    pub fn commands(&self) -> Vec<Command<'_>> {
        let roles = self.class.roles();
        let mut commands = Vec::new();
        for args in self.arguments() {
            let words = args.get("args").filter(|_| !roles.command.is_empty());
            let one = roles.command.iter().filter_map(|key| args.get(key));
            commands.extend(one.filter_map(|value| with_words(value, words)));
            let many = roles.commands.iter().filter_map(|key| args.get(key)?.as_array()).flatten();
            commands.extend(many.filter_map(|item| {
                let inner =
                    || roles.command.iter().find_map(|key| with_words(item.get(key)?, item.get("args")));
                command(item).or_else(inner)
            }));
        }
        commands
    }

    /// Every text in some programming language that the call would run.
    pub fn codes(&self) -> Vec<&str> {
        match self.class {
            ToolClass::Mcp | ToolClass::Other => self.texts(&["code"]),
            _ => Vec::new(),
        }
    }

    /// The arguments, and those that somebody else's tool keeps one level deeper.
    fn arguments(&self) -> impl Iterator<Item = &Value> {
        let nested: &[&str] = match self.class {
            ToolClass::Mcp | ToolClass::Other => &["arguments", "params", "parameters", "input"],
            _ => &[],
        };
        let inner = nested.iter().filter_map(|key| self.args.get(key)).filter(|value| value.is_object());
        std::iter::once(&self.args).chain(inner)
    }

    /// Every path the call names outside a command or patch.
    pub fn paths(&self) -> Vec<&str> {
        self.texts(self.class.roles().path)
    }

    /// Every text the call would write.
    pub fn contents(&self) -> Vec<&str> {
        self.texts(self.class.roles().content)
    }

    /// Every URL the call names outside a command.
    pub fn urls(&self) -> Vec<&str> {
        self.texts(self.class.roles().url)
    }

    /// Every patch text the call would apply.
    pub fn patches(&self) -> Vec<&str> {
        self.texts(self.class.roles().patch)
    }

    /// One line for people: the command, path or URL the call is about.
    pub fn gist(&self) -> Cow<'_, str> {
        match self.commands().first() {
            Some(Command::Text(text)) => return Cow::Borrowed(text),
            Some(Command::Argv(words)) => return Cow::Owned(words.join(" ")),
            None => {}
        }
        let named = [self.paths(), self.urls()].into_iter().flatten().next();
        named.map_or_else(|| Cow::Owned(self.args.to_string()), Cow::Borrowed)
    }

    fn texts(&self, keys: &[&str]) -> Vec<&str> {
        let mut found = Vec::new();
        for args in self.arguments() {
            for key in keys {
                collect(args.get(key), keys, &mut found);
            }
        }
        found
    }
}

/// `{"command": "rm", "args": ["-rf", "x"]}` is an argv in two pieces.
fn with_words<'a>(value: &'a Value, words: Option<&'a Value>) -> Option<Command<'a>> {
    let program = value.as_str().filter(|text| !text.contains(char::is_whitespace));
    let words = words.and_then(Value::as_array).map(|words| words.iter().map(Value::as_str));
    match (program, words.and_then(Iterator::collect::<Option<Vec<_>>>)) {
        (Some(program), Some(words)) if !words.is_empty() => {
            Some(Command::Argv(std::iter::once(program).chain(words).collect()))
        }
        _ => command(value),
    }
}

/// A text is shell text; a list of texts is an argv.
fn command(value: &Value) -> Option<Command<'_>> {
    match value {
        Value::String(text) => Some(Command::Text(text)),
        Value::Array(words) => words.iter().map(Value::as_str).collect::<Option<Vec<_>>>().map(Command::Argv),
        _ => None,
    }
}

/// Texts at a key: a text, a list of texts, or a list of objects with the same keys in them.
fn collect<'a>(value: Option<&'a Value>, keys: &[&str], found: &mut Vec<&'a str>) {
    match value {
        Some(Value::String(text)) => found.push(text),
        Some(Value::Array(items)) => {
            for item in items {
                match item {
                    Value::Object(fields) => {
                        for key in keys {
                            collect(fields.get(*key), keys, found);
                        }
                    }
                    item => collect(Some(item), keys, found),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_name_stands_in_the_table_twice() {
        let mut names: Vec<_> = TOOLS.iter().map(|row| row.name).collect();
        names.sort_unstable();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before);
    }

    #[test]
    fn commands_are_found_in_every_argument_shape() {
        let commands = |name, args| {
            let call = ToolCall::new(name, args);
            call.commands().iter().map(|command| format!("{command:?}")).collect::<Vec<_>>()
        };
        assert_eq!(commands("Bash", json!({"command": "ls", "description": "d"})), ["Text(\"ls\")"]);
        assert_eq!(commands("exec_command", json!({"cmd": "ls"})), ["Text(\"ls\")"]);
        assert_eq!(commands("shell", json!({"command": ["ls", "-l"]})), ["Argv([\"ls\", \"-l\"])"]);
        assert_eq!(
            commands("run_commands", json!({"commands": ["a", {"command": "b"}, ["c", "d"]]})),
            ["Text(\"a\")", "Text(\"b\")", "Argv([\"c\", \"d\"])"]
        );
        assert_eq!(
            commands("mcp__term__run", json!({"command": "rm", "args": ["-r", "x"]})),
            ["Argv([\"rm\", \"-r\", \"x\"])"]
        );
        assert_eq!(commands("mcp__term__run", json!({"arguments": {"command": "ls"}})), ["Text(\"ls\")"]);
        for key in ["command_line", "CommandLine"] {
            assert_eq!(commands("run_command", json!({key: "ls", "Cwd": "/w"})), ["Text(\"ls\")"]);
        }
        assert_eq!(commands("Read", json!({"command": "not a command here"})), [""; 0]);
        assert_eq!(commands("Bash", json!({"command": 7})), [""; 0]);
    }

    #[test]
    fn paths_and_contents_are_found_in_lists_and_in_lists_of_objects() {
        let read = ToolCall::new("read_files", json!({"files": ["a", {"path": "b"}]}));
        assert_eq!(read.paths(), ["a", "b"]);
        let edit = ToolCall::new(
            "MultiEdit",
            json!({"file_path": "f", "edits": [{"old_string": "x", "new_string": "y"}, {"new_string": "z"}]}),
        );
        assert_eq!((edit.paths(), edit.contents()), (vec!["f"], vec!["y", "z"]));
        let many = ToolCall::new(
            "multi_replace_string_in_file",
            json!({"replacements": [{"filePath": "a", "newString": "x"}, {"filePath": "b", "newString": "y"}]}),
        );
        assert_eq!((many.paths(), many.contents()), (vec!["a", "b"], vec!["x", "y"]));
        let nested = ToolCall::new("mcp__files__read", json!({"arguments": {"filename": "f"}, "code": "x"}));
        assert_eq!((nested.paths(), nested.codes()), (vec!["f"], vec!["x"]));
    }

    #[test]
    fn mcp_names_are_known_by_their_form() {
        let call = ToolCall::new("mcp__files__read_file", json!({"path": "/p"}));
        assert_eq!(call.class, ToolClass::Mcp);
        assert_eq!(call.mcp, Some(Mcp { server: "files".into(), tool: "read_file".into() }));
        assert_eq!(call.paths(), ["/p"]);
        assert_eq!(ToolCall::new("mcp_files_read", json!({})).class, ToolClass::Mcp);
        assert_eq!(ToolCall::new("mcp__", json!({})).class, ToolClass::Other);
    }
}
