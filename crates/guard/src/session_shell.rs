// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Remembers the statements that change the shell of a session: variables, functions, aliases, and where a repository
//! pushes to.
//!
//! Some harnesses run all commands of a session in one shell, and others start a new shell for each call. A call that
//! uses such a name is evaluated together with the statement that defined it, as if both were written in one command.
//! If a path or a working directory would be another one in a new shell, where the variable is empty, the call is
//! evaluated without the statement as well, and the stricter verdict applies.

use tenterhook_event::{Event, EventKind};
use tenterhook_policy::{SessionState, ShellStatement};
use tenterhook_shell::{Command, Dialect, SimpleCommand, Word, parse};

use crate::known_hosts::{is_known_code_host, remote_host};

/// Maximum length of a statement that is remembered.
const MAX_STATEMENT_BYTES: usize = 1024;
/// Maximum number of statements of one call that are remembered.
const MAX_CALL_STATEMENTS: usize = 16;
/// Word that replaces a secret in a statement.
const REDACTED_VALUE: &str = "redacted";
/// Arguments that contain the command of a shell tool.
const COMMAND_KEYS: &[&str] = &["command", "cmd"];
/// Variables that change what later commands do without being named by them.
const AMBIENT_VARIABLES: &[&str] = &[
    "AWS_PROFILE",
    "BASH_ENV",
    "COMPOSE_FILE",
    "DATABASE_URL",
    "DOCKER_HOST",
    "GIT_CONFIG_GLOBAL",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_SSH_COMMAND",
    "GIT_WORK_TREE",
    "HOME",
    "KUBECONFIG",
    "LD_PRELOAD",
    "MYSQL_HOST",
    "NODE_OPTIONS",
    "PATH",
    "PGDATABASE",
    "PGHOST",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RAILS_ENV",
    "REDIS_URL",
];
/// Settings of git that change where a push goes, without the name of the remote or the address.
const PUSH_SETTINGS: &[&str] = &[".url", ".pushurl", ".insteadof", ".pushinsteadof"];

/// A call together with the statements that it depends on.
pub(crate) struct CallWithShell {
    /// The call, with the statements before its command.
    pub(crate) event: Event,
    /// Only the statements.
    pub(crate) statements: Event,
    /// Whether the call does the same in a new shell, or nothing.
    pub(crate) is_safe_in_new_shell: bool,
}

/// Returns the shell command of a call before it runs.
fn command_of(event: &Event) -> Option<(&'static str, &str)> {
    let tool = event.tool.as_ref().filter(|_| event.event == EventKind::PreTool)?;
    COMMAND_KEYS.iter().find_map(|key| Some((*key, tool.args.get(*key)?.as_str()?)))
}

/// Whether a call could depend on statements of earlier calls.
pub(crate) fn may_use_statements(event: &Event) -> bool {
    event.harness_session_id.is_some() && command_of(event).is_some()
}

/// Returns a call together with the statements of earlier calls that it uses; `None` if it uses none.
pub(crate) fn with_statements(event: &Event, state: &SessionState) -> Option<CallWithShell> {
    let (key, command) = command_of(event)?;
    // A statement may use names of earlier ones.
    let mut used: Vec<&ShellStatement> = Vec::new();
    for statement in state.shell.iter().rev() {
        let mut texts = std::iter::once(command).chain(used.iter().map(|later| later.text.as_str()));
        if is_ambient(&statement.name) || texts.any(|text| uses_name(text, &statement.name)) {
            used.push(statement);
        }
    }
    if used.is_empty() {
        return None;
    }
    let is_safe_in_new_shell = used.iter().all(|statement| is_whole_word(command, &statement.name));
    let texts = used.iter().rev().flat_map(|statement| [statement.text.as_str(), "\n"]);
    let before: String = texts.collect();
    let with_command = |text: String| {
        let mut event = event.clone();
        if let Some(field) = event.tool.as_mut().and_then(|tool| tool.args.get_mut(key)) {
            *field = text.into();
        }
        event
    };
    let (event, statements) = (with_command(format!("{before}{command}")), with_command(before));
    Some(CallWithShell { event, statements, is_safe_in_new_shell })
}

fn is_ambient(name: &str) -> bool {
    name.strip_prefix("export $").is_some_and(|name| AMBIENT_VARIABLES.contains(&name))
}

/// Whether a text uses a variable, or contains a name as a word.
fn uses_name(text: &str, name: &str) -> bool {
    match variable_of(name) {
        Some(variable) => variable_uses(text, variable).next().is_some(),
        None => text.split(|letter: char| !is_name_letter(letter)).any(|word| word == name),
    }
}

fn variable_of(name: &str) -> Option<&str> {
    name.strip_prefix('$').or_else(|| name.strip_prefix("export $"))
}

fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-')
}

/// Returns the text before and after each use of a variable.
fn variable_uses<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    text.match_indices('$').filter_map(move |(at, _)| {
        let (before, rest) = (text.get(..at)?, text.get(at + 1..)?);
        let (rest, is_braced) = rest.strip_prefix('{').map_or((rest, false), |rest| (rest, true));
        let after = rest.strip_prefix(name)?;
        let ends = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '_');
        let after = if is_braced { after.strip_prefix('}').unwrap_or(after) } else { after };
        (after.is_empty() || after.starts_with(ends)).then_some((before, after))
    })
}

/// Whether every use of a variable is a word of its own, and not the directory that a command works in.
fn is_whole_word(text: &str, name: &str) -> bool {
    let Some(variable) = variable_of(name) else { return true };
    variable_uses(text, variable).all(|(before, after)| {
        let start = before.trim_end_matches('"');
        let word = start.rsplit(char::is_whitespace).next().unwrap_or_default();
        let earlier = start.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
        let ends = after.trim_start_matches('"');
        word.is_empty()
            && !matches!(earlier, "cd" | "pushd" | "-C" | "--directory")
            && (ends.is_empty() || ends.starts_with([' ', '\t', '\n', ';', '&', '|', ')']))
    })
}

/// Returns the statements of a call whose effect lasts in the shell or in the settings of a repository.
pub(crate) fn find_statements(event: &Event) -> Vec<ShellStatement> {
    let Some((_, command)) = command_of(event).filter(|_| event.harness_session_id.is_some()) else {
        return Vec::new();
    };
    // Most commands contain none of these and are not parsed again.
    if !["=", "()", "function ", "remote", "git config"].iter().any(|sign| command.contains(sign)) {
        return Vec::new();
    }
    let parsed = parse(command, Dialect::Bash);
    let mut found = Vec::new();
    for statement in parsed.script.statements.as_slice().iter().filter(|statement| !statement.is_background())
    {
        for pipeline in statement.pipelines() {
            if let [stage] = pipeline.stages.as_slice() {
                add_definitions(&stage.command, command, &mut found);
            }
        }
    }
    found.retain(|statement| statement.text.len() <= MAX_STATEMENT_BYTES);
    found.truncate(MAX_CALL_STATEMENTS);
    for statement in &mut found {
        remove_secrets(&mut statement.text);
    }
    found
}

/// Replaces the secrets in a statement, because statements are stored on disk.
fn remove_secrets(text: &mut String) {
    let mut spans: Vec<_> = tenterhook_records::secrets(text).into_iter().map(|(span, _)| span).collect();
    spans.sort_unstable_by_key(|span| std::cmp::Reverse(span.start));
    for span in spans {
        if text.get(span.clone()).is_some() {
            text.replace_range(span, REDACTED_VALUE);
        }
    }
}

fn add_definitions(command: &Command, source: &str, found: &mut Vec<ShellStatement>) {
    let text = command.span().text(source).to_owned();
    match command {
        Command::Function(function) => {
            let names = function.names.iter().filter_map(Word::literal);
            found.extend(names.map(|name| ShellStatement { name: name.into_owned(), text: text.clone() }));
        }
        Command::Simple(simple) if simple.words.is_empty() => {
            found.extend(simple.assignments.iter().map(|assignment| ShellStatement {
                name: format!("${}", assignment.name),
                text: assignment.span.text(source).to_owned(),
            }));
        }
        Command::Simple(simple) => {
            let names = defined_names(simple);
            found.extend(names.into_iter().map(|name| ShellStatement { name, text: text.clone() }));
        }
        _ => {}
    }
}

/// Returns the names that a command defines.
fn defined_names(command: &SimpleCommand) -> Vec<String> {
    let words: Vec<_> = command.words.iter().map(|word| word.literal_prefix().0).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["export" | "declare" | "typeset" | "readonly", rest @ ..] => {
            let is_exported = words.first() == Some(&"export") || rest.contains(&"-x");
            let start = if is_exported { "export $" } else { "$" };
            let names = rest.iter().filter_map(|word| word.split_once('=').map(|(name, _)| name));
            let written = command.assignments.iter().map(|assignment| &*assignment.name);
            names.chain(written).map(|name| format!("{start}{name}")).collect()
        }
        ["alias", ..] => command.alias_definitions().map(|(name, _)| name.to_owned()).collect(),
        ["git", "remote", "add" | "set-url", rest @ ..] => {
            push_address(rest.last().copied()).into_iter().map(str::to_owned).collect()
        }
        ["git", "config", rest @ ..] => {
            let mut settings = rest.windows(2).filter_map(|pair| match pair {
                [key, value] => Some((key.to_ascii_lowercase(), *key, *value)),
                _ => None,
            });
            let setting = settings.find(|(key, ..)| PUSH_SETTINGS.iter().any(|end| key.ends_with(end)));
            let address = setting.map(|(_, key, value)| match key.strip_prefix("url.") {
                Some(address) => address,
                None => value,
            });
            push_address(address).into_iter().map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the subcommand that depends on an address, if the address is not on a well-known host.
fn push_address(address: Option<&str>) -> Option<&'static str> {
    let host = remote_host(address?)?;
    (!is_known_code_host(host)).then_some("push")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenterhook_event::{EventId, Timestamp, ToolCall};

    use super::*;

    fn call(command: &str) -> Event {
        let tool = ToolCall::new("Bash", json!({ "command": command }));
        let event = Event::new(
            EventId::from_parts(1, 1),
            Timestamp::from_unix_ms(1),
            "claude-code",
            EventKind::PreTool,
            "PreToolUse",
        );
        Event { tool: Some(tool), harness_session_id: Some("s".to_owned()), ..event }
    }

    fn after(commands: &[&str]) -> SessionState {
        let shell = commands.iter().flat_map(|command| find_statements(&call(command))).collect();
        SessionState { shell, ..SessionState::default() }
    }

    fn expanded(before: &[&str], command: &str) -> Option<String> {
        let with = with_statements(&call(command), &after(before))?;
        Some(with.event.tool?.args["command"].as_str()?.to_owned())
    }

    #[test]
    fn a_call_is_evaluated_with_the_statements_that_it_uses() {
        for (before, command, expected) in [
            ("D=$(mktemp -d); ls", "rm -rf \"$D\"", "D=$(mktemp -d)\nrm -rf \"$D\""),
            ("A=1 B=$A/x && true", "echo ${B}", "A=1\nB=$A/x\necho ${B}"),
            ("export X=a Y=b", "echo $Y", "export X=a Y=b\necho $Y"),
            ("alias g='git -c a=b'", "g push", "alias g='git -c a=b'\ng push"),
            ("f() { rm x; }", "f a", "f() { rm x; }\nf a"),
            ("export GIT_DIR=/x/.git", "git status", "export GIT_DIR=/x/.git\ngit status"),
            (
                "git remote set-url origin https://x.example/a.git",
                "git push",
                "git remote set-url origin https://x.example/a.git\ngit push",
            ),
            (
                "git config --global url.\"https://x.example/\".insteadOf \"https://github.com/\"",
                "git push",
                "git config --global url.\"https://x.example/\".insteadOf \"https://github.com/\"\ngit push",
            ),
        ] {
            assert_eq!(expanded(&[before], command).as_deref(), Some(expected), "{before}");
        }
        for (before, command) in [
            ("D=1 make", "echo $D"),
            ("D=1 &", "echo $D"),
            ("(D=1)", "echo $D"),
            ("echo 1 | read D", "echo $D"),
            ("D=1", "echo $DIR ${DX}"),
            ("git remote add up git@github.com:a/b.git", "git push up"),
            ("git remote set-url origin ../b.git", "git push"),
            ("git config user.url https://x.example", "git status"),
        ] {
            assert_eq!(expanded(&[before], command), None, "{before}");
        }
    }

    #[test]
    fn a_variable_that_is_part_of_a_path_may_be_empty_in_a_new_shell() {
        let is_safe =
            |command: &str| with_statements(&call(command), &after(&["D=x"])).unwrap().is_safe_in_new_shell;
        for command in ["rm -rf $D", "rm -rf \"$D\"; ls", "rm -rf \"${D}\" && true"] {
            assert!(is_safe(command), "{command}");
        }
        for command in ["rm -rf $D/*", "rm -rf \"$D\"/a", "cd $D && rm -rf *", "rm -rf /a/$D", "x --a=$D"] {
            assert!(!is_safe(command), "{command}");
        }
    }

    #[test]
    fn statements_are_stored_without_secrets() {
        // Contains a valid checksum.
        let token = format!("ghp_{}", "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17");
        let found = find_statements(&call(&format!("export GH=\"{token}\" B={token}; C=plain")));
        let texts: Vec<_> = found.iter().map(|statement| statement.text.as_str()).collect();
        let export = "export GH=\"redacted\" B=redacted";
        assert_eq!(texts, [export, export, "C=plain"]);
    }

    #[test]
    fn the_statements_of_a_session_are_bounded() {
        let mut state = SessionState::default();
        let many: Vec<String> = (0..200).map(|at| format!("V{at}=1")).collect();
        for statement in many.iter().flat_map(|text| find_statements(&call(text))) {
            let files = vec![tenterhook_policy::SessionFileChange::Shell(statement)];
            state.apply(&tenterhook_policy::StateDelta { files, ..Default::default() });
        }
        assert!(state.shell.len() <= 64 && state.shell.last().is_some_and(|last| last.name == "$V199"));
        assert!(find_statements(&call(&format!("A={}", "x".repeat(4096)))).is_empty());
    }
}
