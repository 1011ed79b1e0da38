// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Recognises shell commands, SQL and code in the arguments of tools by their content, under keys that say nothing.
//!
//! Prose often quotes commands. So a text is a command only if it begins with the name of a program and continues
//! like its arguments, and not under a key of prose or in a tool that stores, finds or sends text.

mod content_words;

use serde_json::{Map, Value, json};

use super::tool_words::split_written_words;
use content_words::{
    CODE_RUNNERS, COMMAND_PROGRAMS, DATABASE_KEYS, DATABASE_WORDS, NARRATING_WORDS, PARAMETER_KEYS,
    PROSE_KEYS, PROSE_WORDS, RUN_WORDS, SERVICE_KEYS, SERVICE_OPERATION_KEYS, SERVICE_PROGRAMS, SHELL_NAMES,
    TYPE_WORDS,
};

/// Maximum length of a text that is recognised by its content.
const MAX_CONTENT_BYTES: usize = 16 * 1024;

/// Returns the commands that the fields of an object contain under keys that say nothing. `words` are the words of
/// the server's and the tool's name.
pub(crate) fn find_commands(fields: &Map<String, Value>, words: &[String]) -> Vec<Value> {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_narrating = has(NARRATING_WORDS);
    let is_database = has(DATABASE_WORDS);
    let runs = has(RUN_WORDS);
    let types = has(TYPE_WORDS) && !has(&["browser", "page", "playwright", "puppeteer", "selenium"]);
    let is_statement = |item: &Value| item.as_str().is_some_and(is_sql_statement);
    let named = names_runner(fields);
    let mut found = Vec::new();
    for (key, value) in fields {
        let key = fold_key(key);
        let is_prose = PROSE_KEYS.contains(&key.as_str());
        match value {
            Value::Array(items) if is_database && items.iter().any(is_statement) => {
                let texts = items.iter().filter_map(Value::as_str).filter(|text| is_sql_statement(text));
                found.extend(texts.map(|text| sql_command(text, fields, words)));
            }
            Value::String(text) if text.len() <= MAX_CONTENT_BYTES => {
                if is_database && is_sql_statement(text) {
                    found.push(sql_command(text, fields, words));
                } else if is_narrating {
                } else if let Some(runner) = named.filter(|_| is_code(text)) {
                    found.push(runner.command(text));
                } else if (!is_prose
                    || runs
                    || named == Some(NamedRunner::Shell)
                    || types && text.ends_with('\n'))
                    && is_command(text)
                {
                    found.push(json!(text));
                }
            }
            Value::Array(items) if !is_narrating => found.extend(command_of_list(items, named)),
            _ => {}
        }
    }
    found
}

/// The program that runs the other arguments of a call, according to one of its arguments: `"lang": "python"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamedRunner {
    Shell,
    Code(&'static str, &'static str),
}

impl NamedRunner {
    fn command(self, text: &str) -> Value {
        match self {
            Self::Shell => json!(text),
            Self::Code(program, option) => json!([program, option, text]),
        }
    }
}

fn names_runner(fields: &Map<String, Value>) -> Option<NamedRunner> {
    let names = fields.values().filter_map(Value::as_str).filter(|text| text.len() <= 16);
    names.map(str::to_ascii_lowercase).find_map(|name| {
        if SHELL_NAMES.contains(&name.as_str()) {
            return Some(NamedRunner::Shell);
        }
        let runner = CODE_RUNNERS.iter().find(|(names, ..)| names.contains(&name.as_str()));
        runner.map(|(_, program, option)| NamedRunner::Code(program, option))
    })
}

/// Whether a text next to the name of a language is code in that language.
fn is_code(text: &str) -> bool {
    text.len() > 8 && text.contains(['(', '\n', ' ', '=']) && !is_prose(text)
}

/// Returns the command in a list of words. The program may be in another argument: `"x": "bash", "y": ["-c", …]`.
fn command_of_list(items: &[Value], named: Option<NamedRunner>) -> Option<Value> {
    let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    let words = words.filter(|words| words.len() > 1)?;
    let first = words.first()?;
    // Several command lines, or the words of one.
    if words.iter().any(|line| is_command(line)) && !words.iter().any(|line| is_prose(line)) {
        return Some(json!(words.join("\n")));
    }
    if COMMAND_PROGRAMS.contains(&first.rsplit('/').next().unwrap_or(first)) {
        return Some(json!(words));
    }
    let runs_option = named == Some(NamedRunner::Shell) && matches!(*first, "-c" | "-lc");
    runs_option.then(|| json!(std::iter::once("sh").chain(words).collect::<Vec<_>>()))
}

/// Whether a text is a shell command.
fn is_command(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let program = first.rsplit('/').next().unwrap_or(first);
    let Some(second) = words.next() else { return false };
    let is_argument = |word: &str| {
        word.starts_with(|letter: char| letter.is_ascii_lowercase() || "-/~.$\"'|>@{".contains(letter))
    };
    COMMAND_PROGRAMS.contains(&program) && is_argument(second) && !is_prose(text)
}

fn is_prose(text: &str) -> bool {
    let mut words = text.split(|letter: char| letter.is_whitespace() || letter == ',').take(64);
    words.any(|word| PROSE_WORDS.contains(&word))
}

/// Whether a text is an SQL statement that changes something. The words after the verb are required.
fn is_sql_statement(text: &str) -> bool {
    let mut words = text.split_whitespace().map(str::to_ascii_lowercase);
    let (Some(first), Some(second)) = (words.next(), words.next()) else { return false };
    let third = words.next();
    match first.as_str() {
        "drop" | "create" | "alter" => matches!(
            second.as_str(),
            "table"
                | "database"
                | "schema"
                | "view"
                | "user"
                | "role"
                | "index"
                | "or"
                | "owned"
                | "materialized"
                | "policy"
                | "extension"
                | "function"
                | "keyspace"
                | "system"
        ),
        "truncate" | "copy" | "grant" | "revoke" | "merge" => true,
        "delete" => second == "from",
        "insert" | "replace" => second == "into",
        "update" => third.is_some_and(|third| third == "set") || text.to_ascii_lowercase().contains(" set "),
        "exec" | "execute" => second.contains("xp_") || second.contains("sp_"),
        "with" => third.is_some_and(|third| third.starts_with("as") || third.starts_with('(')),
        _ => false,
    }
}

/// Returns the command that runs an SQL statement, with the database that another argument names.
pub(crate) fn sql_command(text: &str, fields: &Map<String, Value>, words: &[String]) -> Value {
    if words.iter().any(|word| word.starts_with("sqlite")) {
        return json!(["sqlite3", "app.db", text]);
    }
    let is_name = |name: &&str| {
        !name.is_empty()
            && name.len() <= 64
            && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
    };
    let database = fields.iter().find(|(key, _)| DATABASE_KEYS.contains(&fold_key(key).as_str()));
    match database.and_then(|(_, value)| value.as_str()).filter(is_name) {
        Some(name) => json!(["psql", "-d", name, "-c", text]),
        None => json!(["psql", "-c", text]),
    }
}

/// Returns the command line of a call of a service: `{"service": "ec2", "operation": "TerminateInstances"}`.
pub(crate) fn service_command(fields: &Map<String, Value>, program: &str) -> Option<Value> {
    if !SERVICE_PROGRAMS.contains(&program) {
        return None;
    }
    let find = |keys: &[&str]| {
        fields.iter().find(|(key, _)| keys.contains(&fold_key(key).as_str())).map(|(_, value)| value)
    };
    let service = find(SERVICE_KEYS).and_then(Value::as_str);
    let operation = find(SERVICE_OPERATION_KEYS).and_then(Value::as_str).filter(|text| text.len() <= 128)?;
    // `s3api put-bucket-policy` names the service too.
    let mut parts: Vec<String> = operation.split_whitespace().map(to_kebab).collect();
    match service {
        Some(service) => parts.insert(0, service.to_ascii_lowercase()),
        None if parts.len() == 2 => {}
        None => return None,
    }
    let mut command = vec![program.to_owned()];
    command.extend(parts);
    match find(PARAMETER_KEYS) {
        Some(Value::Object(parameters)) => {
            for (name, value) in parameters.iter().take(32) {
                add_parameter(&mut command, name, value);
            }
        }
        Some(Value::Array(words)) => {
            command.extend(words.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        _ => {}
    }
    Some(json!(command))
}

fn add_parameter(command: &mut Vec<String>, name: &str, value: &Value) {
    let option = to_kebab(name);
    match value {
        Value::Bool(true) => command.push(format!("--{option}")),
        Value::Bool(false) => command.push(format!("--no-{option}")),
        Value::String(text) => command.extend([format!("--{option}"), text.clone()]),
        Value::Null => {}
        other => command.extend([format!("--{option}"), other.to_string()]),
    }
}

/// Returns a name as the command line writes it: `TerminateInstances`, `terminate_instances` → `terminate-instances`.
fn to_kebab(name: &str) -> String {
    split_written_words(name).join("-")
}

/// Returns a key in lower case, without separators.
pub(crate) fn fold_key(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_lowercase()).collect()
}
