// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds commands, SQL, code and paths in the arguments of MCP tools and unknown tools.
//!
//! The meaning of such a tool's arguments is not known, so each argument is classified by its key and its content.
//! The result is a copy of the call whose arguments have the usual keys: `commands`, `path`, `url`.

mod argument_words;

use serde_json::{Map, Value, json};
use tenterhook_event::{ToolCall, ToolClass};

use super::tool_content::{find_commands, fold_key, service_command, sql_command};
use super::tool_words::split_written_words;
use super::typed_input::{self, PromptSession};
use argument_words::{
    BASE_KEYS, CELL_WORDS, CHANGING_WORDS, CODE_KEYS, CODE_WORDS, FILE_NAME_KEYS, KEY_STORE_WORDS,
    LOOSE_PATH_KEYS, MONGO_WORDS, NESTED_SHELL_KEYS, OPERATION_KEYS, OTHER_COMMAND_KEYS, PAGE_WORDS,
    PATH_KEY_ENDS, PROGRAM_KEYS, READING_WORDS, RUNNING_WORDS, SEARCH_WORDS, SHELL_KEY_ENDS, SHELL_KEYS,
    SQL_KEYS, SQL_VERBS, SUBCOMMAND_OPERANDS, SUBCOMMAND_PROGRAMS, TERMINAL_WORDS, TYPED_KEYS, WORDS_KEYS,
    WRAPPED_PROGRAMS, WRITING_WORDS,
};

/// Maximum nesting depth of arguments, including JSON in strings.
const MAX_ARGUMENT_DEPTH: usize = 8;
/// Maximum number of commands that are found in the arguments of one call.
const MAX_FOUND_COMMANDS: usize = 32;
/// Maximum number of paths that are found in the arguments of one call.
const MAX_FOUND_PATHS: usize = 64;
/// Maximum length of a string that is parsed as JSON.
const MAX_JSON_BYTES: usize = 64 * 1024;

/// Tools of harnesses that only talk to the user or manage the conversation.
const TALKING_TOOLS: &[&str] = &[
    "ExitPlanMode",
    "EnterPlanMode",
    "exit_plan_mode",
    "enter_plan_mode",
    "AskUserQuestion",
    "ask_user",
    "ask_user_question",
    "ask_followup_question",
    "attempt_completion",
    "SendUserMessage",
    "send_user_message",
];

/// Returns the call with the meaning of its arguments made explicit; `None` if there is nothing to add.
pub(crate) fn expand_arguments(tool: &ToolCall) -> Option<ToolCall> {
    if !matches!(tool.class, ToolClass::Mcp | ToolClass::Other) || !tool.args.is_object() {
        return None;
    }
    // The arguments are text for the user.
    if tool.class == ToolClass::Other && TALKING_TOOLS.contains(&tool.name.as_str()) {
        return None;
    }
    let name = tool.unprefixed_name().to_ascii_lowercase();
    let mut found = FoundArguments::new(
        name,
        split_written_words(tool.unprefixed_name()),
        split_written_words(&tool.name),
    );
    found.find_terminal(&tool.args);
    found.visit(&tool.args, 0);
    if let Value::Object(fields) = &tool.args {
        found.add_subcommand(fields);
    }
    found.into_call(tool)
}

/// What was found in the arguments of one call.
#[derive(Debug, Default)]
struct FoundArguments {
    /// Name of the tool, in lower case.
    name: String,
    /// Words of the tool's name.
    name_words: Vec<String>,
    /// Words of the server's and the tool's name.
    all_words: Vec<String>,
    /// Whether the tool types text into a terminal.
    types: bool,
    /// The session into which the tool types.
    prompt: PromptSession,
    /// Whether the tool runs code.
    runs_code: bool,
    commands: Vec<Value>,
    codes: Vec<Value>,
    contents: Vec<Value>,
    paths: Vec<String>,
    outputs: Vec<String>,
    /// Keys of arguments that do not have their usual meaning in this call.
    replaced_keys: Vec<String>,
    operation: Option<String>,
}

impl FoundArguments {
    fn new(name: String, name_words: Vec<String>, all_words: Vec<String>) -> Self {
        let has_any =
            |words: &[String], list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        let is_page = has_any(&all_words, PAGE_WORDS);
        let types = has_any(&all_words, TERMINAL_WORDS) && !is_page && !has_any(&name_words, READING_WORDS);
        let runs_code = has_any(&all_words, CODE_WORDS) && !has_any(&name_words, READING_WORDS);
        Self { name, name_words, all_words, types, runs_code, ..Self::default() }
    }

    /// Finds out whether the tool types text into a terminal, and into which session.
    fn find_terminal(&mut self, args: &Value) {
        let Value::Object(fields) = args else { return };
        self.types |= typed_input::sends_keys(&self.name_words, fields);
        self.prompt = PromptSession::read(fields);
    }

    fn visit(&mut self, value: &Value, depth: usize) {
        if depth >= MAX_ARGUMENT_DEPTH || self.commands.len() >= MAX_FOUND_COMMANDS {
            return;
        }
        match value {
            Value::Object(fields) => {
                self.add_program(fields);
                self.add_file_names(fields);
                self.add_commands_by_content(fields);
                for (key, value) in fields {
                    self.add_field(key, value, fields, depth);
                    self.visit(value, depth + 1);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.visit(item, depth + 1)),
            Value::String(text) if depth > 0 && text.len() <= MAX_JSON_BYTES && looks_like_json(text) => {
                if let Ok(inner) = serde_json::from_str::<Value>(text) {
                    self.visit(&inner, depth + 1);
                }
            }
            _ => {}
        }
    }

    /// Adds the commands that are recognised by their content.
    fn add_commands_by_content(&mut self, fields: &Map<String, Value>) {
        let mut found = find_commands(fields, &self.all_words);
        found.extend(self.wrapped_program().and_then(|program| service_command(fields, program)));
        for command in found {
            if self.commands.len() < MAX_FOUND_COMMANDS && !self.commands.contains(&command) {
                self.commands.push(command);
            }
        }
    }

    /// Classifies one argument by its key.
    fn add_field(&mut self, written_key: &str, value: &Value, fields: &Map<String, Value>, depth: usize) {
        let key = fold_key(written_key);
        let key = key.as_str();
        if key == "argv" && value.as_array().is_some_and(|words| words.iter().all(Value::is_string)) {
            return self.commands.push(value.clone());
        }
        if WORDS_KEYS.contains(&key) || NESTED_SHELL_KEYS.contains(&key) {
            self.add_wrapped_words(value);
        }
        if let (true, Value::String(text)) = (WORDS_KEYS.contains(&key), value)
            && !looks_like_json(text)
        {
            self.add_wrapped(text);
        }
        let texts: Vec<&str> = match value {
            Value::String(text) => vec![text.as_str()],
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            _ => return,
        };
        let is_code = self.runs_code && CODE_KEYS.contains(&key);
        let is_shell = !is_code
            && (SHELL_KEYS.contains(&key)
                || depth > 0 && NESTED_SHELL_KEYS.contains(&key)
                || !NESTED_SHELL_KEYS.contains(&key)
                    && !OTHER_COMMAND_KEYS.contains(&key)
                    && SHELL_KEY_ENDS.iter().any(|end| key.ends_with(end))
                || self.types && TYPED_KEYS.contains(&key)
                || key == "input" && self.name_has(RUNNING_WORDS));
        if is_code {
            if depth == 0 {
                self.replaced_keys.push(written_key.to_owned());
            }
            // The lines of a cell may be a list.
            let separator = if texts.iter().any(|text| text.ends_with('\n')) { "" } else { "\n" };
            self.add_code(&texts.join(separator));
        } else if self.runs_code && key == "code" {
            self.add_cell_commands(&texts.join("\n"));
        }
        let typed = typed_input::join_keys(&texts).filter(|_| self.types && TYPED_KEYS.contains(&key));
        let texts = typed.as_deref().map_or(texts, |typed| vec![typed]);
        for text in texts {
            if self.types && TYPED_KEYS.contains(&key) {
                let commands = typed_input::typed_commands(text, &self.prompt);
                let left = MAX_FOUND_COMMANDS.saturating_sub(self.commands.len());
                self.commands.extend(commands.into_iter().take(left));
            }
            if (is_shell || !is_code && NESTED_SHELL_KEYS.contains(&key))
                && self.commands.len() < MAX_FOUND_COMMANDS
            {
                if is_shell {
                    let typed = self.types && TYPED_KEYS.contains(&key);
                    // The return key ends a typed line.
                    let line =
                        if typed { typed_input::without_controls(text) } else { text.replace('\r', "\n") };
                    self.commands.push(json!(line.trim_end_matches('\n')));
                }
                self.add_wrapped(text);
            }
            if key == "cypher" || key == "query" && self.has_word(&["cypher", "neo4j"]) {
                self.commands.push(json!(["cypher-shell", text]));
            }
            let is_search = matches!(key, "query" | "queries" | "q") && self.has_word(SEARCH_WORDS);
            if matches!(key, "code" | "expression" | "javascript") && self.has_word(MONGO_WORDS) {
                self.commands.push(json!(["mongosh", "--eval", text]));
            }
            if matches!(key, "script" | "code" | "lua") && self.has_word(KEY_STORE_WORDS) {
                self.commands.push(json!(["redis-cli", "--eval", text]));
            }
            if matches!(key, "script" | "code") && self.has_word(&["osascript", "applescript"]) {
                self.commands.push(json!(["osascript", "-e", text]));
            }
            if SQL_KEYS.contains(&key) && is_sql(text) && !is_search {
                self.commands.push(sql_command(text, fields, &self.all_words));
            }
            match key {
                "python" | "pythoncode" | "py" => self.commands.push(json!(["python3", "-c", text])),
                "javascript" | "js" | "node" => self.commands.push(json!(["node", "-e", text])),
                "powershell" | "pwsh" | "powershellscript" | "powershellcommand" => {
                    self.commands.push(json!(["pwsh", "-Command", text]));
                }
                _ => {}
            }
            self.add_path(key, text);
            // The method of an HTTP request says nothing about files.
            let is_request = key == "method" && text.chars().all(|letter| letter.is_ascii_uppercase());
            if OPERATION_KEYS.contains(&key) && text.len() < 32 && !is_request {
                self.operation = Some(text.to_ascii_lowercase());
            }
        }
    }

    /// Adds the path that an argument names.
    fn add_path(&mut self, key: &str, text: &str) {
        if let Some(path) = file_url_path(text) {
            return self.paths.push(path);
        }
        let below_home =
            ["$HOME/", "${HOME}/", "%USERPROFILE%/"].iter().find_map(|home| text.strip_prefix(home));
        if let Some(path) = below_home.filter(|_| PATH_KEY_ENDS.iter().any(|end| key.ends_with(end))) {
            return self.paths.push(format!("~/{path}"));
        }
        let is_absolute = text.starts_with('/') || text.starts_with("~/");
        let is_one_line = text.len() < 4096 && !text.contains(['\n', '\0']);
        if !is_one_line || self.paths.len() >= MAX_FOUND_PATHS {
            return;
        }
        if LOOSE_PATH_KEYS.contains(&key) && text.starts_with(['/', '~']) {
            if self.name_has(WRITING_WORDS) && !self.name_has(&["upload"]) {
                self.outputs.push(text.to_owned());
            } else {
                self.paths.push(text.to_owned());
            }
        } else if PATH_KEY_ENDS.iter().any(|end| key.ends_with(end)) && (is_absolute || text.starts_with('.'))
            || is_absolute
                && !text.contains(char::is_whitespace)
                && !self.name_has(CHANGING_WORDS)
                && (!self.name_has(WRITING_WORDS) || self.name_has(&["upload"]))
        {
            self.paths.push(text.to_owned());
        }
    }

    /// Adds files whose name is relative to a directory in another argument.
    fn add_file_names(&mut self, fields: &Map<String, Value>) {
        let find = |keys: &[&str]| {
            let field = fields.iter().find(|(key, _)| keys.contains(&fold_key(key).as_str()));
            field.and_then(|(_, value)| value.as_str())
        };
        let (Some(base), Some(name)) = (find(BASE_KEYS), find(FILE_NAME_KEYS)) else { return };
        if !base.starts_with(['/', '~']) || name.is_empty() || name.starts_with(['/', '~']) {
            return;
        }
        let path = format!("{}/{name}", base.trim_end_matches('/'));
        if self.name_has(WRITING_WORDS) {
            self.outputs.push(path);
            self.contents.extend(find(&["data", "body"]).map(Value::from));
        } else {
            self.paths.push(path);
        }
    }

    /// Adds code that the tool runs, and the shell commands in a cell of a notebook.
    fn add_code(&mut self, code: &str) {
        self.add_cell_commands(code);
        self.codes.push(json!(code));
    }

    /// Adds the shell commands in a cell of a notebook: `!command`, `%sx command`, `%%bash`.
    fn add_cell_commands(&mut self, code: &str) {
        if !self.all_words.iter().any(|word| CELL_WORDS.contains(&word.as_str())) {
            return;
        }
        let (first, rest) = code.trim_start().split_once('\n').unwrap_or((code, ""));
        if ["%%bash", "%%sh", "%%script bash", "%%script sh", "%%system", "%sh"].contains(&first.trim()) {
            return self.commands.push(json!(rest));
        }
        for line in code.lines().map(str::trim_start) {
            let magic =
                ["!!", "!", "%sx ", "%system ", "%sh "].iter().find_map(|start| line.strip_prefix(start));
            if let Some(command) = magic.filter(|_| self.commands.len() < MAX_FOUND_COMMANDS) {
                self.commands.push(json!(command.trim_start()));
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
                let command: Vec<Value> =
                    std::iter::once(&Value::from(program.as_str())).chain(words).cloned().collect();
                self.add_wrapped_words(&Value::Array(command.clone()));
                self.commands.push(Value::Array(command));
            }
            Value::String(words) if !looks_like_json(words) => {
                self.commands.push(json!(format!("{program} {words}")));
            }
            _ => {}
        }
    }

    /// Adds the command of a tool that wraps a program: `kubectl` with `delete ns prod`.
    fn add_wrapped(&mut self, text: &str) {
        let first = text.split_whitespace().next().unwrap_or_default();
        if first.is_empty() || first == "sudo" || is_wrapped_program(first) || first.contains('/') {
            return;
        }
        if self.all_words.iter().any(|word| MONGO_WORDS.contains(&word.as_str())) {
            self.commands.push(json!(["mongosh", "--eval", text]));
        }
        if let Some(program) = self.wrapped_program() {
            self.commands.push(json!(format!("{program} {text}")));
        }
    }

    /// Adds the command of a tool that wraps a program and gets its arguments as a list.
    fn add_wrapped_words(&mut self, words: &Value) {
        let Some(list) = words.as_array().filter(|list| list.iter().all(Value::is_string)) else { return };
        let Some(first) = list.first().and_then(Value::as_str) else { return };
        if is_wrapped_program(first) {
            self.commands.push(words.clone());
        } else if let Some(program) = self.wrapped_program().filter(|_| !first.contains('/')) {
            self.commands.push(std::iter::once(Value::from(program)).chain(list.iter().cloned()).collect());
        }
    }

    /// Adds the command of a tool whose name or `action` is a subcommand of the program that it wraps. Arguments that
    /// are `true` are options.
    fn add_subcommand(&mut self, fields: &Map<String, Value>) {
        let Some(program) = self.wrapped_program().filter(|program| SUBCOMMAND_PROGRAMS.contains(program))
        else {
            return;
        };
        let has_arguments = |key: &String| {
            let key = fold_key(key);
            WORDS_KEYS.contains(&key.as_str()) || NESTED_SHELL_KEYS.contains(&key.as_str())
        };
        if fields.keys().any(has_arguments) {
            return;
        }
        let by_action =
            self.operation.as_deref().filter(|operation| operation.chars().all(|c| c.is_ascii_lowercase()));
        let mut words = vec![program.to_owned()];
        match by_action.filter(|_| self.name_has(RUNNING_WORDS) || self.name == program) {
            Some(action) => words.push(action.to_owned()),
            None => words.extend(self.name_words.iter().filter(|word| *word != program).cloned()),
        }
        for (key, value) in fields {
            let folded = key.replace('_', "-").to_ascii_lowercase();
            match value {
                Value::String(subcommand) if folded == "subcommand" => words.push(subcommand.clone()),
                Value::Bool(true) => words.push(format!("--{folded}")),
                Value::String(mode) if folded == "mode" && words.iter().any(|word| word == "reset") => {
                    words.push(format!("--{}", mode.trim_start_matches('-')));
                }
                Value::String(operand) if SUBCOMMAND_OPERANDS.contains(&folded.as_str()) => {
                    words.push(operand.clone());
                }
                Value::Array(operands) if SUBCOMMAND_OPERANDS.contains(&folded.as_str()) => {
                    words.extend(operands.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                _ => {}
            }
        }
        self.commands.push(words.into_iter().map(Value::from).collect());
    }

    /// Returns the program that the tool wraps.
    fn wrapped_program(&self) -> Option<&'static str> {
        let find = |names: &[String]| {
            let is_named = |words: &[&str]| names.iter().any(|word| words.contains(&word.as_str()));
            WRAPPED_PROGRAMS
                .iter()
                .find(|(program, words)| is_named(words) || program.len() > 4 && self.name.contains(program))
        };
        // A server may wrap several programs, and then the tool's name shows which one it uses.
        find(&self.name_words).or_else(|| find(&self.all_words)).map(|(program, _)| *program)
    }

    fn has_word(&self, words: &[&str]) -> bool {
        self.all_words.iter().any(|word| words.contains(&word.as_str()))
    }

    fn name_has(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.name.contains(word))
    }

    fn into_call(self, tool: &ToolCall) -> Option<ToolCall> {
        let Self {
            commands, codes, contents, mut paths, mut outputs, operation, name, replaced_keys, ..
        } = self;
        let (written, mut named) = (tool.outputs(), tool.paths());
        // Output paths come last.
        named.truncate(named.len().saturating_sub(written.len()));
        paths.retain(|path| !named.contains(&path.as_str()));
        outputs.retain(|path| !written.contains(&path.as_str()));
        let deletes = operation.as_deref().is_some_and(|operation| {
            ["delete", "remove", "unlink", "rmdir", "trash", "purge"].contains(&operation)
        });
        if commands.is_empty() && codes.is_empty() && paths.is_empty() && outputs.is_empty() && !deletes {
            return None;
        }
        let mut call = tool.clone();
        let fields = call.args.as_object_mut()?;
        for key in &replaced_keys {
            fields.remove(key);
        }
        append_to(fields, "commands", commands);
        append_to(fields, "code", codes);
        append_to(fields, "content", contents);
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

/// Whether a word is a program that tools wrap.
fn is_wrapped_program(word: &str) -> bool {
    WRAPPED_PROGRAMS.iter().any(|(program, _)| *program == word)
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

fn looks_like_json(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('{') && text.ends_with('}') || text.starts_with('[') && text.ends_with(']')
}

fn is_sql(text: &str) -> bool {
    let mut text = text.trim_start();
    // Comments before the statement.
    while let Some(rest) = text
        .strip_prefix("/*")
        .and_then(|rest| rest.split_once("*/"))
        .or_else(|| text.strip_prefix("--").and_then(|rest| rest.split_once('\n')))
        .map(|(_, rest)| rest.trim_start())
    {
        text = rest;
    }
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
mod tests;
