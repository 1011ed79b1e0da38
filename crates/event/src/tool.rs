// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tool calls and tool classes. One table lists the native tool names, and each class has one set of argument roles.
//!
//! A rule for the class `shell` works in every harness: `Bash`, `run_shell_command` and `exec_command` all belong to
//! that class. Each class defines which argument keys contain a command, a path, content, a URL or a patch.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::McpToolId;
use crate::argument_roles::{
    SHELL_DIRECTORY_KEYS, all_texts, find_working_directories, same_key, texts_at_keys,
};

macro_rules! classes {
    ($($variant:ident $name:literal $doc:literal)*) => {
        /// What a tool does, independent of its name in a harness.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum ToolClass { $(#[doc = $doc] $variant,)* }

        impl ToolClass {
            /// All tool classes, in order.
            pub const ALL: &[ToolClass] = &[$(ToolClass::$variant),*];

            /// Returns the name used in rules, JSON and the API.
            pub fn name(self) -> &'static str {
                match self { $(ToolClass::$variant => $name,)* }
            }

            /// Returns the class with this name.
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
    Fetch "fetch" "fetches something from the network"
    Mcp "mcp" "a tool of an MCP server"
    Agent "agent" "starts or steers another agent"
    Todo "todo" "keeps the agent's task list"
    Other "other" "anything else"
}

/// One native tool name and its class.
#[derive(Debug, Clone, Copy)]
pub struct ToolRow {
    /// The name, in the exact spelling of the harness.
    pub name: &'static str,
    /// Class of the tool.
    pub class: ToolClass,
    /// Harnesses that use this name, separated by commas.
    pub used_by: &'static str,
}

const fn row(name: &'static str, class: ToolClass, used_by: &'static str) -> ToolRow {
    ToolRow { name, class, used_by }
}

/// Name of the tool call that stands for a network connection of a sandboxed run. The arguments are `host`, `port`,
/// `protocol`, `url` and, if known, `address`, `method` and `resolved_from`.
pub const NETWORK_CONNECT: &str = "NetworkConnect";

/// All known native tool names. Names are compared exactly; names of MCP tools are recognized by their format.
pub const TOOLS: &[ToolRow] = &[
    row("Bash", ToolClass::Shell, "claude-code, codex, copilot"),
    row("BashOutput", ToolClass::Other, "claude-code"),
    row("bash", ToolClass::Shell, "opencode, copilot, pi"),
    row("PowerShell", ToolClass::Shell, "claude-code"),
    row("powershell", ToolClass::Shell, "copilot, pi"),
    row("write_bash", ToolClass::Shell, "copilot"),
    row("write_powershell", ToolClass::Shell, "copilot"),
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
    row("read", ToolClass::Read, "opencode, pi"),
    row("view", ToolClass::Read, "copilot"),
    row("view_image", ToolClass::Read, "codex"),
    row("read_file", ToolClass::Read, "gemini, llxprt, qwen, vscode, cline"),
    row("read_many_files", ToolClass::Read, "gemini, llxprt, qwen"),
    row("read_files", ToolClass::Read, "cline"),
    row("read_line_range", ToolClass::Read, "llxprt"),
    row("ast_read_file", ToolClass::Read, "llxprt"),
    row("fs_read", ToolClass::Read, "kiro"),
    row("Write", ToolClass::Write, "claude-code, cursor, copilot"),
    row("Create", ToolClass::Write, "droid"),
    row("write", ToolClass::Write, "opencode, pi"),
    row("create", ToolClass::Write, "copilot"),
    row("create_file", ToolClass::Write, "vscode"),
    row("write_file", ToolClass::Write, "gemini, llxprt, qwen"),
    row("write_to_file", ToolClass::Write, "cline"),
    row("save-file", ToolClass::Write, "augment"),
    row("Edit", ToolClass::Edit, "claude-code, cursor, copilot, droid"),
    row("MultiEdit", ToolClass::Edit, "claude-code"),
    row("NotebookEdit", ToolClass::Edit, "claude-code"),
    row("edit", ToolClass::Edit, "opencode, copilot, qwen, pi"),
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
    row("ast_edit", ToolClass::Edit, "llxprt"),
    row("fs_write", ToolClass::Edit, "kiro"),
    row("developer__text_editor", ToolClass::Edit, "goose"),
    row("apply_patch", ToolClass::Patch, "codex, opencode, llxprt"),
    row("ApplyPatch", ToolClass::Patch, "droid"),
    row("patch", ToolClass::Patch, "opencode"),
    row("Glob", ToolClass::Search, "claude-code, cursor"),
    row("Grep", ToolClass::Search, "claude-code, cursor"),
    row("LS", ToolClass::Search, "claude-code, droid"),
    row("glob", ToolClass::Search, "opencode, gemini, llxprt, qwen"),
    row("grep", ToolClass::Search, "opencode, copilot, pi"),
    row("find", ToolClass::Search, "pi"),
    row("ls", ToolClass::Search, "pi"),
    row("list", ToolClass::Search, "opencode"),
    row("list_directory", ToolClass::Search, "gemini, llxprt, qwen"),
    row("search_file_content", ToolClass::Search, "gemini, llxprt"),
    row("ast_grep", ToolClass::Search, "llxprt"),
    row("structural_analysis", ToolClass::Search, "llxprt"),
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
    row(NETWORK_CONNECT, ToolClass::Fetch, "sandboxed runs"),
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

/// Tools that a harness is known to run in the directory that an argument names.
struct DirectoryRow {
    harness: &'static str,
    tools: &'static [&'static str],
    keys: &'static [&'static str],
}

const DIRECTORY_ROWS: &[DirectoryRow] = &[
    DirectoryRow { harness: "opencode", tools: &["bash"], keys: &["workdir"] },
    DirectoryRow { harness: "gemini", tools: &["run_shell_command"], keys: &["dir_path"] },
    DirectoryRow { harness: "llxprt", tools: &["run_shell_command"], keys: &["dir_path", "directory"] },
    DirectoryRow { harness: "qwen", tools: &["run_shell_command"], keys: &["directory"] },
    DirectoryRow { harness: "codex", tools: &["exec_command", "shell", "local_shell"], keys: &["workdir"] },
    DirectoryRow {
        harness: "codex-desktop",
        tools: &["exec_command", "shell", "local_shell"],
        keys: &["workdir"],
    },
    DirectoryRow { harness: "cursor", tools: &["Shell"], keys: &["working_directory"] },
];

/// Returns the row of a native tool name; `None` if the name is unknown.
pub fn tool_row(name: &str) -> Option<&'static ToolRow> {
    TOOLS.iter().find(|row| row.name == name)
}

/// A tool call: the tool's native name, its class, and the arguments as the harness sent them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCall {
    /// The harness's name for the tool.
    pub name: String,
    /// Class of the tool.
    pub class: ToolClass,
    /// The arguments, as the harness sent them.
    pub args: Value,
    /// Server and tool name, if the tool belongs to an MCP server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpToolId>,
}

/// A command that a tool call would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolCommand<'a> {
    /// Text that a shell runs.
    Text(&'a str),
    /// A program and its arguments, run without a shell.
    Argv(Vec<&'a str>),
}

// === impl ToolCall ===

impl ToolCall {
    /// Creates a call of the tool with this native name; its class comes from [`TOOLS`].
    pub fn new(name: &str, args: Value) -> Self {
        let mcp = McpToolId::from_tool_name(name);
        let class = match (&mcp, tool_row(name)) {
            (_, Some(row)) => row.class,
            (Some(_), None) => ToolClass::Mcp,
            (None, None) => ToolClass::Other,
        };
        Self { name: name.to_owned(), class, args, mcp }
    }

    /// Returns all commands that the call would run.
    pub fn commands(&self) -> Vec<ToolCommand<'_>> {
        let roles = self.class.roles();
        let mut commands = Vec::new();
        if roles.command.is_empty() {
            return commands;
        }
        for args in self.arguments().filter_map(Value::as_object) {
            let named = |keys: &'static [&'static str]| {
                keys.iter().flat_map(|key| args.iter().filter(|(name, _)| same_key(name, key)))
            };
            let words = args.get("args");
            commands
                .extend(named(roles.command).filter_map(|(_, value)| parse_command_and_args(value, words)));
            let many = named(roles.commands).filter_map(|(_, value)| value.as_array()).flatten();
            commands.extend(many.filter_map(|item| {
                let inner = || {
                    roles
                        .command
                        .iter()
                        .find_map(|key| parse_command_and_args(item.get(key)?, item.get("args")))
                };
                parse_command(item).or_else(inner)
            }));
        }
        commands
    }

    /// Returns all source code, in any programming language, that the call would run.
    pub fn code_texts(&self) -> Vec<&str> {
        match self.class {
            ToolClass::Mcp | ToolClass::Other => self.texts(&["code"]),
            _ => Vec::new(),
        }
    }

    /// Iterates over the arguments. For unknown tools, this includes the nested objects in which they may wrap their
    /// arguments.
    fn arguments(&self) -> impl Iterator<Item = &Value> {
        let nested: &[&str] = match self.class {
            ToolClass::Mcp | ToolClass::Other => &["arguments", "params", "parameters", "input"],
            _ => &[],
        };
        let inner = nested.iter().filter_map(|key| self.args.get(key)).filter(|value| value.is_object());
        std::iter::once(&self.args).chain(inner)
    }

    /// Returns all paths in the arguments, including paths that are written, but not paths in commands or patches.
    pub fn paths(&self) -> Vec<&str> {
        let mut paths = self.texts(self.class.roles().path);
        paths.extend(self.outputs());
        paths
    }

    /// Returns all output paths. These are written, even if the tool only reads the other paths.
    pub fn outputs(&self) -> Vec<&str> {
        let roles = self.class.roles();
        let mut paths = self.texts(roles.output);
        // The values of these keys are often not paths.
        let is_path = |text: &&str| text.contains('/') || text.starts_with(['~', '.']);
        paths.extend(self.texts(roles.loose_output).into_iter().filter(is_path));
        paths
    }

    /// Returns all working directories in the arguments, as written. A `None` in the list means that a directory
    /// argument is not a string. If the list is empty, the call runs in the agent's working directory.
    pub fn working_directories(&self) -> Vec<Option<&str>> {
        let unknown_tool = matches!(self.class, ToolClass::Mcp | ToolClass::Other);
        let runs = unknown_tool && (!self.commands().is_empty() || !self.code_texts().is_empty());
        let keys = if runs { SHELL_DIRECTORY_KEYS } else { self.class.roles().directory };
        if keys.is_empty() { Vec::new() } else { find_working_directories(&self.args, keys) }
    }

    /// Returns whether this harness is known to run the tool in the directory that the arguments name. If not, the
    /// harness may ignore the argument, and the agent's own directory has to be considered too.
    pub fn honours_working_directory(&self, harness: &str) -> bool {
        let row = DIRECTORY_ROWS
            .iter()
            .find(|row| row.harness == harness && row.tools.contains(&self.name.as_str()));
        let given = |key: &&str| {
            self.args.get(key).is_some_and(|value| value.as_str().is_some_and(|text| !text.trim().is_empty()))
        };
        row.is_some_and(|row| row.keys.iter().any(given))
    }

    /// Returns all texts that the call would write to files.
    pub fn contents(&self) -> Vec<&str> {
        self.texts(self.class.roles().content)
    }

    /// Returns all URLs in the arguments, but not URLs in commands.
    pub fn urls(&self) -> Vec<&str> {
        self.texts(self.class.roles().url)
    }

    /// Returns all patches that the call would apply. Patch tools accept a patch under any key, so every string
    /// argument is checked for the format of a patch.
    pub fn patches(&self) -> Vec<&str> {
        let roles = self.class.roles();
        let mut patches = self.texts(roles.patch);
        if self.class == ToolClass::Patch || self.is_named_for_patches() {
            for text in all_texts(&self.args) {
                if is_patch(text) && !patches.contains(&text) {
                    patches.push(text);
                }
            }
        }
        patches
    }

    /// Returns whether the call changes a file. This depends on the tool's class or, for an unknown tool, on its
    /// name.
    pub fn is_edit(&self) -> bool {
        match self.class {
            ToolClass::Write | ToolClass::Edit | ToolClass::Patch => true,
            ToolClass::Mcp | ToolClass::Other => self.is_named_for_patches() || self.is_named_for_edits(),
            _ => false,
        }
    }

    /// Returns the tool's name without a server prefix. For an MCP tool, this is the name that its server defines.
    pub fn unprefixed_name(&self) -> &str {
        self.mcp.as_ref().map_or(self.name.as_str(), |mcp| mcp.tool.as_str())
    }

    fn is_named_for_patches(&self) -> bool {
        let unknown_tool = matches!(self.class, ToolClass::Mcp | ToolClass::Other);
        let mut words = name_words(self.unprefixed_name());
        let reads = name_words(self.unprefixed_name()).any(|word| is_one_of(word, READING_WORDS));
        unknown_tool
            && !reads
            && words.any(|word| is_one_of(word, &["patch", "diff", "applypatch", "applydiff"]))
    }

    fn is_named_for_edits(&self) -> bool {
        let name = self.unprefixed_name();
        let has_word_of = |list: &[&str]| name_words(name).any(|word| is_one_of(word, list));
        let bare = self.mcp.is_none()
            && name_words(name)
                .all(|word| is_one_of(word, EDIT_WORDS) || is_one_of(word, &["str", "multi", "string"]));
        has_word_of(EDIT_WORDS) && (bare || has_word_of(FILE_WORDS))
    }

    /// Returns a one-line summary for users: the command, path or URL of the call, and the working directory if the
    /// arguments contain one.
    pub fn gist(&self) -> Cow<'_, str> {
        let command = match self.commands().first() {
            Some(ToolCommand::Text(text)) => Some(Cow::Borrowed(*text)),
            Some(ToolCommand::Argv(words)) => Some(Cow::Owned(words.join(" "))),
            None => None,
        };
        if let Some(command) = command {
            let directories = self.working_directories();
            if directories.is_empty() {
                return command;
            }
            let named: Vec<_> =
                directories.iter().map(|text| text.unwrap_or("an unreadable directory")).collect();
            return Cow::Owned(format!("{command} (in {})", named.join(" or ")));
        }
        let named = [self.paths(), self.urls()].into_iter().flatten().next();
        named.map_or_else(|| Cow::Owned(self.args.to_string()), Cow::Borrowed)
    }

    fn texts(&self, keys: &'static [&'static str]) -> Vec<&str> {
        if keys.is_empty() { Vec::new() } else { texts_at_keys(&self.args, keys) }
    }
}

/// Words that occur in the names of tools that change something.
const EDIT_WORDS: &[&str] = &[
    "edit",
    "write",
    "replace",
    "insert",
    "append",
    "create",
    "save",
    "update",
    "delete",
    "remove",
    "rename",
    "move",
    "overwrite",
    "modify",
    "truncate",
    "copy",
    "multiedit",
    "writefile",
    "editfile",
    "createfile",
];
/// Words that occur in the names of tools that only show something, such as `get_pull_request_diff`.
const READING_WORDS: &[&str] = &["get", "fetch", "list", "read", "show", "view"];
/// Words that occur in the names of tools that work on files.
const FILE_WORDS: &[&str] = &[
    "file",
    "files",
    "line",
    "lines",
    "path",
    "directory",
    "dir",
    "folder",
    "notebook",
    "writefile",
    "editfile",
    "createfile",
    "multiedit",
];

/// Splits a name into words: `applyPatch_to-file` has four words.
fn name_words(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|letter: char| !letter.is_alphanumeric());
        let mut letters = rest.char_indices().peekable();
        let mut end = rest.len();
        while let Some((_, letter)) = letters.next() {
            if let Some((at, next)) = letters.peek()
                && (!next.is_alphanumeric() || letter.is_lowercase() && next.is_uppercase())
            {
                end = *at;
                break;
            }
        }
        let (word, after) = rest.split_at_checked(end)?;
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

fn is_one_of(word: &str, list: &[&str]) -> bool {
    list.iter().any(|other| word.eq_ignore_ascii_case(other))
}

/// Returns whether a text looks like a patch, in the format of `apply_patch` or as a unified diff.
fn is_patch(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    lines.any(|line| {
        [
            "*** Begin Patch",
            "*** Add File: ",
            "*** Update File: ",
            "*** Delete File: ",
            "diff --git ",
            "+++ ",
            "@@ ",
        ]
        .iter()
        .any(|start| line.starts_with(start))
    })
}

/// Parses a command whose arguments may be in a separate list: `{"command": "rm", "args": ["-rf", "x"]}`.
fn parse_command_and_args<'a>(value: &'a Value, words: Option<&'a Value>) -> Option<ToolCommand<'a>> {
    let program = value.as_str().filter(|text| !text.contains(char::is_whitespace));
    let words = words.and_then(Value::as_array).map(|words| words.iter().map(Value::as_str));
    match (program, words.and_then(Iterator::collect::<Option<Vec<_>>>)) {
        (Some(program), Some(words)) if !words.is_empty() => {
            Some(ToolCommand::Argv(std::iter::once(program).chain(words).collect()))
        }
        _ => parse_command(value),
    }
}

/// Parses a string as shell text, and a list of strings as an argument vector.
fn parse_command(value: &Value) -> Option<ToolCommand<'_>> {
    match value {
        Value::String(text) => Some(ToolCommand::Text(text)),
        Value::Array(words) => {
            words.iter().map(Value::as_str).collect::<Option<Vec<_>>>().map(ToolCommand::Argv)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tool_that_shows_a_diff_is_not_an_edit() {
        let is_edit = |name: &str| ToolCall::new(name, serde_json::json!({})).is_edit();
        assert!(is_edit("mcp__fs__apply_patch") && is_edit("mcp__fs__applyDiff"));
        assert!(!is_edit("mcp__github__get_pull_request_diff") && !is_edit("mcp__git__show_patch"));
    }

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
        assert_eq!((nested.paths(), nested.code_texts()), (vec!["f"], vec!["x"]));
    }

    #[test]
    fn mcp_names_are_known_by_their_form() {
        let call = ToolCall::new("mcp__files__read_file", json!({"path": "/p"}));
        assert_eq!(call.class, ToolClass::Mcp);
        assert_eq!(call.mcp, Some(McpToolId::new("files", "read_file")));
        assert_eq!(call.paths(), ["/p"]);
        assert_eq!(ToolCall::new("mcp_files_read", json!({})).class, ToolClass::Mcp);
        assert_eq!(ToolCall::new("mcp__", json!({})).class, ToolClass::Other);
    }
}
