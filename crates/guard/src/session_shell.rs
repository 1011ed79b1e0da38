// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Remembers the statements that change the shell of a session: variables, functions, aliases, and where a repository
//! pushes to.
//!
//! Some harnesses run all commands of a session in one shell, and others start a new shell for each call. A call that
//! uses such a name is therefore evaluated twice: alone, and together with the statement that defined it, as if both
//! were written in one command. The stricter verdict applies. `shell_certainty` lists the only exception.

use tenterhook_event::{Event, EventKind, ToolClass};
use tenterhook_facts::Facts;
use tenterhook_policy::{SessionState, ShellStatement};
use tenterhook_shell::{Command, Dialect, ParsedScript, SimpleCommand, Word, parse};

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
    "BASHOPTS",
    "BASH_ENV",
    "CDPATH",
    "COMPOSE_FILE",
    "DATABASE_URL",
    "DOCKER_HOST",
    "GIT_CONFIG_GLOBAL",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_SSH_COMMAND",
    "GIT_WORK_TREE",
    "GLOBIGNORE",
    "HOME",
    "IFS",
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
    "SHELLOPTS",
    "TMPDIR",
];
/// Settings of git that change where a push goes, without the name of the remote or the address.
const PUSH_SETTINGS: &[&str] = &[".url", ".pushurl", ".insteadof", ".pushinsteadof"];

/// A call together with the statements that it may depend on.
#[derive(Debug)]
pub(crate) struct CallWithShell {
    /// The call, with the statements before its command.
    pub(crate) event: Event,
    /// Only the statements, without definitions of functions, whose bodies do not run.
    pub(crate) statements: Event,
    pub(crate) used: Vec<ShellStatement>,
}

/// Returns the command of a call of a shell tool, before or after it runs.
pub(crate) fn shell_command(event: &Event) -> Option<(&'static str, &str)> {
    let is_call = matches!(event.event, EventKind::PreTool | EventKind::PostTool);
    let tool = event.tool.as_ref().filter(|tool| is_call && tool.class == ToolClass::Shell)?;
    COMMAND_KEYS.iter().find_map(|key| Some((*key, tool.args.get(*key)?.as_str()?)))
}

/// Whether a call could depend on statements of earlier calls.
pub(crate) fn may_use_statements(event: &Event) -> bool {
    event.event == EventKind::PreTool && event.harness_session_id.is_some() && shell_command(event).is_some()
}

/// Returns a call together with the statements of earlier calls that it uses: with the latest definition of each name,
/// and with the one before it, because the latest one may not have run.
pub(crate) fn with_statements(event: &Event, state: &SessionState) -> Vec<CallWithShell> {
    let Some((key, command)) = shell_command(event) else { return Vec::new() };
    let is_later = |statement: &&ShellStatement, others: &[ShellStatement]| {
        others.iter().any(|other| other.name == statement.name)
    };
    let numbered = || state.shell.iter().enumerate();
    let latest = numbered().filter(|(at, own)| !is_later(own, state.shell.get(at + 1..).unwrap_or_default()));
    let earliest = numbered().filter(|(at, own)| !is_later(own, state.shell.get(..*at).unwrap_or_default()));
    let latest = select_used(command, latest.map(|(_, statement)| statement).collect());
    let earliest = select_used(command, earliest.map(|(_, statement)| statement).collect());
    let is_same = latest == earliest;
    let choices = [latest, if is_same { Vec::new() } else { earliest }];
    choices.into_iter().filter_map(|used| CallWithShell::new(event, key, command, &used)).collect()
}

/// Returns the statements that a command uses, in their order.
fn select_used<'s>(command: &str, statements: Vec<&'s ShellStatement>) -> Vec<&'s ShellStatement> {
    // A statement may use names of earlier ones.
    let mut used: Vec<&ShellStatement> = Vec::new();
    for statement in statements.into_iter().rev() {
        let mut texts = std::iter::once(command).chain(used.iter().map(|later| later.text.as_str()));
        if is_ambient(&statement.name) || texts.any(|text| uses_name(text, &statement.name)) {
            used.push(statement);
        }
    }
    used.reverse();
    used
}

impl CallWithShell {
    /// Writes the statements before the command. Returns `None` if there are none, or if the command would be parsed
    /// differently behind them.
    fn new(event: &Event, key: &str, command: &str, used: &[&ShellStatement]) -> Option<Self> {
        let mut texts: Vec<&str> = used.iter().map(|statement| statement.text.as_str()).collect();
        texts.dedup();
        if texts.is_empty() {
            return None;
        }
        let before = texts.join("\n");
        let combined = format!("{before}\n{command}");
        let (own, all) = (parse(command, Dialect::Bash), parse(&combined, Dialect::Bash));
        let mut expected = texts.clone();
        expected.extend(statement_texts(&own, command));
        if statement_texts(&all, &combined) != expected {
            return None;
        }
        let with_command = |text: String| {
            let mut event = event.clone();
            if let Some(field) = event.tool.as_mut().and_then(|tool| tool.args.get_mut(key)) {
                *field = text.into();
            }
            event
        };
        let is_run = |statement: &&&ShellStatement| !defines_function(&statement.text);
        let run: Vec<_> = used.iter().filter(is_run).map(|statement| statement.text.as_str()).collect();
        Some(Self {
            event: with_command(combined),
            statements: with_command(run.join("\n")),
            used: used.iter().map(|statement| (*statement).clone()).collect(),
        })
    }

    /// Returns the call with only those statements that run no command.
    pub(crate) fn without_commands(&self, event: &Event) -> Option<Self> {
        let (key, command) = shell_command(event)?;
        let runs_command = |statement: &&ShellStatement| statement.text.contains(['`', '(']);
        let used: Vec<_> = self.used.iter().filter(|statement| !runs_command(statement)).collect();
        Self::new(event, key, command, &used)
    }

    /// Whether a statement could direct commands to another place although the call does not name it.
    pub(crate) fn redirects_silently(&self, facts: &Facts) -> bool {
        let has_git = facts.commands.iter().any(|command| command.program == "git");
        let is_redirecting = |name: &str| {
            has_git && name.starts_with("GIT_")
                || matches!(name, "HOME" | "CDPATH" | "GLOBIGNORE" | "BASH_ENV")
        };
        let mut names = self.used.iter().filter_map(|statement| variable_of(&statement.name));
        names.any(is_redirecting)
    }
}

fn statement_texts<'t>(parsed: &ParsedScript, text: &'t str) -> Vec<&'t str> {
    parsed.script.statements.as_slice().iter().map(|statement| statement.span.text(text)).collect()
}

fn defines_function(text: &str) -> bool {
    let parsed = parse(text, Dialect::Bash);
    let commands =
        parsed.script.statements.as_slice().iter().flat_map(|statement| statement.first.commands());
    commands.into_iter().any(|command| matches!(command, Command::Function(_)))
}

/// Whether a text is one complete statement that no next line can continue.
fn is_self_contained(text: &str) -> bool {
    let with_end = format!("{text}\n");
    let parsed = parse(&with_end, Dialect::Bash);
    parsed.is_complete()
        && !text.contains("<<")
        && !text.ends_with('\\')
        && statement_texts(&parsed, &with_end) == [text]
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

pub(crate) fn variable_of(name: &str) -> Option<&str> {
    name.strip_prefix('$').or_else(|| name.strip_prefix("export $"))
}

fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-')
}

/// Returns the text before and after each use of a variable.
pub(crate) fn variable_uses<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    text.match_indices('$').filter_map(move |(at, _)| {
        let (before, rest) = (text.get(..at)?, text.get(at + 1..)?);
        let (rest, is_braced) = rest.strip_prefix('{').map_or((rest, false), |rest| (rest, true));
        let after = rest.strip_prefix(name)?;
        let ends = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '_');
        let after = if is_braced { after.strip_prefix('}').unwrap_or(after) } else { after };
        (after.is_empty() || after.starts_with(ends)).then_some((before, after))
    })
}

/// Returns the statements of a call whose effect may last in the shell or in the settings of a repository. They may
/// also depend on a condition.
pub(crate) fn find_statements(event: &Event) -> Vec<ShellStatement> {
    let Some((_, command)) = shell_command(event).filter(|_| event.harness_session_id.is_some()) else {
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
    found.retain(|statement| {
        statement.text.len() <= MAX_STATEMENT_BYTES && is_self_contained(&statement.text)
    });
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
            found.extend(names.map(|name| define(name.into_owned(), &text)));
        }
        Command::Simple(simple) if simple.words.is_empty() => {
            found.extend(
                simple
                    .assignments
                    .iter()
                    .map(|assignment| define(format!("${}", assignment.name), assignment.span.text(source))),
            );
        }
        Command::Simple(simple) => {
            let names = defined_names(simple);
            found.extend(names.into_iter().map(|name| define(name, &text)));
        }
        _ => {}
    }
}

fn define(name: String, text: &str) -> ShellStatement {
    ShellStatement { name, text: text.to_owned(), is_certain: false }
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
        let with = with_statements(&call(command), &after(before)).into_iter().next()?;
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
    fn only_complete_statements_are_stored() {
        for command in [
            "alias zz=ls <<EOF\nx\nEOF",
            "f() { cat <<EOF; }\nhello\nEOF",
            "D=/tmp\\",
            "D=$(cat <<EOF)\nx\nEOF\n",
            "D='/tmp",
            "D=$(ls",
        ] {
            assert_eq!(find_statements(&call(command)), [], "{command}");
        }
        let notes = ToolCall::new("mcp__notes__save", json!({ "cmd": "D=/tmp/x" }));
        assert_eq!(find_statements(&Event { tool: Some(notes), ..call("ls") }), []);
    }

    #[test]
    fn the_definition_before_the_latest_one_is_used_as_well() {
        let define = |text: &str| define("$D".to_owned(), text);
        let state = SessionState { shell: vec![define("D=a"), define("D=b")], ..SessionState::default() };
        let all = with_statements(&call("ls $D"), &state);
        let texts: Vec<_> = all
            .iter()
            .map(|with| with.event.tool.as_ref().unwrap().args["command"].as_str().unwrap())
            .collect();
        assert_eq!(texts, ["D=b\nls $D", "D=a\nls $D"]);
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
