// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds what a tool types into a running program: a shell, or the prompt of a database or a language.
//!
//! The arguments often tell which program reads the text, because sessions are named after it: `psql-prod`. Without such
//! a name, statements of SQL and Redis are recognised by their first word.

use serde_json::{Map, Value, json};

use super::tool_words::split_written_words;

/// Maximum length of text that is read as the input of a prompt.
const MAX_TYPED_BYTES: usize = 16 * 1024;
/// Keys of the session, window or process into which a tool types.
const SESSION_KEYS: &[&str] = &[
    "bash_id",
    "id",
    "name",
    "pane",
    "process",
    "pty",
    "session",
    "session_id",
    "sessionid",
    "shell_id",
    "shellid",
    "target",
    "terminal",
    "terminal_id",
    "title",
    "window",
];
/// Keys of an element of a page, into which browser tools type.
const PAGE_KEYS: &[&str] = &["element", "locator", "ref", "selector", "uid", "xpath"];
/// Programs with a prompt, with the words in the names of their sessions.
const PROMPT_PROGRAMS: &[(&str, &[&str])] = &[
    ("psql", &["psql", "postgres", "postgresql", "pg", "pgcli", "cockroach"]),
    ("mysql", &["mysql", "mariadb", "mycli"]),
    ("sqlite3", &["sqlite", "sqlite3"]),
    ("redis-cli", &["redis", "valkey", "rediscli"]),
    ("mongosh", &["mongo", "mongosh", "mongodb"]),
    ("python3", &["python", "python3", "ipython", "py", "django"]),
    ("node", &["node", "nodejs"]),
    ("irb", &["irb", "rails", "ruby", "pry"]),
];
/// Commands of Redis that no shell has.
const REDIS_COMMANDS: &[&str] = &["FLUSHALL", "FLUSHDB", "SHUTDOWN", "SLAVEOF", "REPLICAOF"];
/// First words of SQL statements that change or delete data.
const SQL_WORDS: &[&str] =
    &["alter", "copy", "create", "delete", "drop", "grant", "insert", "revoke", "truncate", "update"];
/// Names of keys that end a line.
const LINE_KEYS: &[&str] =
    &["enter", "return", "kpenter", "c-m", "c-j", "<enter>", "<cr>", "{enter}", "\\n", "\n", "\r"];
/// Names of other keys.
const OTHER_KEYS: &[&str] = &[
    "backspace",
    "bspace",
    "c-a",
    "c-c",
    "c-d",
    "c-e",
    "c-l",
    "c-u",
    "c-w",
    "c-z",
    "delete",
    "down",
    "end",
    "esc",
    "escape",
    "home",
    "left",
    "right",
    "up",
];

/// Whether a tool sends keys to a terminal, and not to an element of a page.
pub(crate) fn sends_keys(name_words: &[String], fields: &Map<String, Value>) -> bool {
    let has = |word: &str| name_words.iter().any(|own| own == word);
    let types = has("send") && (has("keys") || has("key") || has("input")) || has("type") && has("text");
    types && !fields.keys().any(|key| PAGE_KEYS.contains(&key.as_str()))
}

/// What the name of a session tells about the program that reads what is typed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PromptSession {
    /// The program, if it is not a shell.
    program: Option<&'static str>,
    /// Whether the program is connected to this machine.
    is_local: bool,
    /// Whether its data is for tests.
    is_test: bool,
}

impl PromptSession {
    /// Reads the arguments that name a session.
    pub(crate) fn read(fields: &Map<String, Value>) -> Self {
        let named =
            fields.iter().filter(|(key, _)| SESSION_KEYS.contains(&key.to_ascii_lowercase().as_str()));
        let words: Vec<String> =
            named.filter_map(|(_, value)| value.as_str()).flat_map(split_written_words).collect();
        let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
        let program = PROMPT_PROGRAMS.iter().find(|(_, names)| has(names)).map(|(program, _)| *program);
        Self {
            program,
            is_local: has(&["local", "localhost"]),
            is_test: has(&["test", "tests", "scratch", "tmp"]),
        }
    }
}

/// Joins a list of keys as they are typed; `None` if the list does not name a key.
pub(crate) fn join_keys(keys: &[&str]) -> Option<String> {
    let kind = |key: &str| {
        let key = key.to_ascii_lowercase();
        if LINE_KEYS.contains(&key.as_str()) {
            Some("\n")
        } else if key == "space" {
            Some(" ")
        } else {
            OTHER_KEYS.contains(&key.as_str()).then_some("\n")
        }
    };
    let is_named = keys.len() > 1 && keys.iter().any(|key| kind(key).is_some());
    is_named.then(|| keys.iter().map(|key| kind(key).unwrap_or(key)).collect())
}

/// Returns the commands that have the same effect as text typed into a prompt. The text is also read as shell text.
pub(crate) fn typed_commands(text: &str, session: &PromptSession) -> Vec<Value> {
    if text.len() > MAX_TYPED_BYTES {
        return Vec::new();
    }
    let plain = without_controls(text);
    let lines = || plain.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut commands: Vec<Value> = Vec::new();
    match session.program {
        Some(program @ ("psql" | "mysql" | "sqlite3")) => {
            commands.push(sql_command(program, &plain, session));
        }
        Some("redis-cli") => commands.extend(lines().map(redis_command)),
        Some("mongosh") => commands.push(json!(["mongosh", "--eval", plain])),
        Some("python3") => commands.push(json!(["python3", "-c", plain])),
        Some("irb") => commands.push(json!(["ruby", "-e", plain])),
        Some("node") => commands.push(json!(["node", "-e", plain])),
        _ => {
            if is_sql_statement(&plain) {
                commands.push(sql_command("psql", &plain, session));
            }
            let is_redis = |line: &&str| {
                line.split_whitespace().next().is_some_and(|first| REDIS_COMMANDS.contains(&first))
            };
            commands.extend(lines().filter(is_redis).map(redis_command));
            commands.extend(guessed_command(&plain));
        }
    }
    commands.extend(lines().filter_map(escaped_command).map(Value::from));
    commands
}

/// Returns typed text without control characters, such as those that interrupt a program. A carriage return ends a line.
pub(crate) fn without_controls(text: &str) -> String {
    let plain = text.replace("\r\n", "\n").replace('\r', "\n");
    plain.replace(|letter: char| letter.is_control() && !matches!(letter, '\n' | '\t'), "\n")
}

/// Programs with a prompt, each with text that only its language contains.
const PROMPT_SIGNS: &[(&[&str], &[&str])] = &[
    (&["mongosh", "--eval"], &["db.getCollection", "db.dropDatabase", ".deleteMany(", ".drop()"]),
    (&["node", "-e"], &["require(", "process.env", "child_process", "globalThis."]),
    (&["python3", "-c"], &["import ", "__import__(", "os.system(", "shutil.", "subprocess."]),
    (&["ruby", "-e"], &["FileUtils.", "File.delete", "Dir.home", "Kernel.", "%x(", "ENV["]),
];

/// Returns text as code of the program whose language it looks like.
fn guessed_command(text: &str) -> Option<Value> {
    let (words, _) = PROMPT_SIGNS.iter().find(|(_, signs)| signs.iter().any(|sign| text.contains(sign)))?;
    Some(words.iter().copied().chain([text]).map(Value::from).collect())
}

/// Returns the command of a database client, with the database and the machine that the session is connected to, as
/// far as its name or the text tell.
fn sql_command(program: &str, text: &str, session: &PromptSession) -> Value {
    let mut words = vec![program];
    if session.is_local && program != "sqlite3" {
        words.extend(["-h", "localhost"]);
    }
    // `\\c name`, `USE name;`
    let selected = text.lines().find_map(|line| {
        let mut parts = line.split_whitespace();
        let verb = parts.next()?;
        let selects = matches!(verb, "\\c" | "\\connect") || verb.eq_ignore_ascii_case("use");
        parts.next().filter(|_| selects).map(|name| name.trim_matches([';', '"', '`']))
    });
    let database = selected.or(session.is_test.then_some("app_test"));
    match program {
        "sqlite3" => words.extend([if session.is_test { "test.db" } else { "app.db" }, text]),
        "mysql" => {
            words.extend(database.into_iter().flat_map(|name| ["-D", name]));
            words.extend(["-e", text]);
        }
        _ => {
            words.extend(database.into_iter().flat_map(|name| ["-d", name]));
            words.extend(["-c", text]);
        }
    }
    words.into_iter().map(Value::from).collect()
}

fn redis_command(line: &str) -> Value {
    std::iter::once("redis-cli").chain(line.split_whitespace()).map(Value::from).collect()
}

/// Whether text is a statement of SQL that ends with a semicolon.
fn is_sql_statement(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default().to_ascii_lowercase();
    SQL_WORDS.contains(&first.as_str()) && words.count() > 1 && text.contains(';')
}

/// Returns the shell command in a line for an editor, a pager or a database client: `:!ls`, `:w !tee x`, `\\! ls`.
fn escaped_command(line: &str) -> Option<&str> {
    if let Some(command) = line.strip_prefix("\\!").or_else(|| line.strip_prefix('!')) {
        return Some(command.trim());
    }
    let (range, command) = line.strip_prefix(':')?.split_once('!')?;
    let is_escape = |letter: char| letter.is_alphanumeric() || "%.,$' ".contains(letter);
    range.chars().all(is_escape).then(|| command.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_named_after_the_program_that_reads() {
        for (fields, program) in [
            (json!({"shell_id": "psql-prod"}), Some("psql")),
            (json!({"session_id": "redis_cache"}), Some("redis-cli")),
            (json!({"target": "repl:node"}), Some("node")),
            (json!({"target": "agent:1"}), None),
            (json!({"text": "psql"}), None),
        ] {
            assert_eq!(PromptSession::read(fields.as_object().unwrap()).program, program, "{fields}");
        }
    }

    #[test]
    fn typed_text_becomes_commands_of_the_program() {
        for (text, program, expected) in [
            ("DROP DATABASE a;\n", None, json!([["psql", "-c", "DROP DATABASE a;\n"]])),
            ("SELECT 1;", Some("psql"), json!([["psql", "-c", "SELECT 1;"]])),
            (
                "GET a\r\nFLUSHALL\r\n",
                Some("redis-cli"),
                json!([["redis-cli", "GET", "a"], ["redis-cli", "FLUSHALL"]]),
            ),
            ("import os\n", Some("python3"), json!([["python3", "-c", "import os\n"]])),
            ("\n:w !sudo tee /x\n", None, json!(["sudo tee /x"])),
            (":%!sort\n", None, json!(["sort"])),
            ("\\! ls", Some("psql"), json!([["psql", "-c", "\\! ls"], "ls"])),
            ("update the docs; please", None, json!([["psql", "-c", "update the docs; please"]])),
            ("ls -la\n", None, json!([])),
            (":wq", None, json!([])),
        ] {
            let session = PromptSession { program, ..PromptSession::default() };
            assert_eq!(Value::from(typed_commands(text, &session)), expected, "{text}");
        }
        let local = PromptSession { program: Some("psql"), is_local: true, is_test: true };
        let expected =
            json!([["psql", "-h", "localhost", "-d", "a_test", "-c", "\\c a_test\nDROP TABLE b;"]]);
        assert_eq!(Value::from(typed_commands("\\c a_test\nDROP TABLE b;", &local)), expected);
    }

    #[test]
    fn text_for_an_unknown_prompt_becomes_code_of_its_language() {
        let unknown = PromptSession::default();
        for (text, program) in [
            ("require('fs').rmSync(process.env.HOME, {recursive: true})\n", "node"),
            ("import shutil; shutil.rmtree('/srv/x')\n", "python3"),
            ("db.getCollectionNames().forEach(c => db[c].drop())\n", "mongosh"),
            ("FileUtils.rm_rf('/srv/x')\n", "ruby"),
        ] {
            let commands = typed_commands(text, &unknown);
            assert!(commands.iter().any(|command| command[0] == program), "{text}: {commands:?}");
        }
        assert!(typed_commands("ls -la\n", &unknown).is_empty());
        assert_eq!(without_controls("yes\n\u{3}ls\r\n"), "yes\n\nls\n");
    }

    #[test]
    fn keys_are_joined_as_they_are_typed() {
        assert_eq!(join_keys(&["ls", "Space", "-a", "Enter"]).as_deref(), Some("ls -a\n"));
        assert_eq!(join_keys(&["Escape", ":q", "Enter"]).as_deref(), Some("\n:q\n"));
        assert_eq!((join_keys(&["ls", "pwd"]), join_keys(&["Enter"])), (None, None));
    }
}
