// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Remembers the statements that change the shell of a session: variables, functions, aliases, and where a repository
//! pushes to. `shell_definitions` finds them.
//!
//! Some harnesses run all commands of a session in one shell, and others start a new shell for each call. A call that
//! uses such a name is therefore evaluated twice: alone, and together with the statement that defined it, as if both
//! were written in one command. The stricter verdict applies. `shell_certainty` lists the only exception.

use std::borrow::Cow;

use serde_json::{Value, json};
use tenterhook_event::{Event, EventKind, ToolCall, ToolClass, ToolCommand};
use tenterhook_facts::{Facts, is_ambient_variable, is_redirecting_variable};
use tenterhook_policy::{SessionState, ShellStatement};
use tenterhook_shell::{Command, Dialect, ParsedScript, parse};

/// Shells that run the text after `-c`.
const SHELLS: &[&str] = &["bash", "dash", "ksh", "sh", "zsh"];
/// Variables that programs of ordinary projects read, and that rules do not know otherwise.
const PROJECT_VARIABLES: &[&str] = &[
    "AWS_PROFILE",
    "COMPOSE_FILE",
    "DATABASE_URL",
    "DOCKER_HOST",
    "KUBECONFIG",
    "MYSQL_HOST",
    "PATH",
    "PGDATABASE",
    "PGHOST",
    "RAILS_ENV",
    "REDIS_URL",
];

/// A call together with the statements that it may depend on.
#[derive(Debug)]
pub(crate) struct CallWithShell {
    /// The call, with the statements before its command.
    pub(crate) event: Event,
    /// The call, as one text.
    pub(crate) alone: Event,
    /// Only the statements, without definitions of functions, whose bodies do not run.
    pub(crate) statements: Event,
    pub(crate) used: Vec<ShellStatement>,
}

/// Returns the text that the shell of a call runs, before or after it runs. Several commands are joined, and a program
/// that is started without a shell is written as the command that starts it.
pub(crate) fn shell_command(event: &Event) -> Option<Cow<'_, str>> {
    let is_call = matches!(event.event, EventKind::PreTool | EventKind::PostTool);
    let tool = event.tool.as_ref().filter(|tool| is_call && tool.class == ToolClass::Shell)?;
    let mut texts = tool.commands().into_iter().map(|command| match command {
        ToolCommand::Text(text) => Cow::Borrowed(text),
        ToolCommand::Argv(words) => match words.as_slice() {
            [shell, option, text] if is_shell(shell) && is_command_option(option) => Cow::Borrowed(*text),
            words => Cow::Owned(words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")),
        },
    });
    let first = texts.next()?;
    Some(texts.fold(first, |all, text| Cow::Owned(format!("{all}\n{text}"))))
}

fn is_shell(program: &str) -> bool {
    program.rsplit('/').next().is_some_and(|name| SHELLS.contains(&name))
}

/// Whether an option is `-c`, also together with other letters: `-lc`.
fn is_command_option(option: &str) -> bool {
    option.strip_prefix('-').is_some_and(|letters| {
        letters.ends_with('c') && letters.bytes().all(|letter| letter.is_ascii_alphabetic())
    })
}

/// Returns a word in quotes of the shell, if it needs them.
pub(crate) fn quote(word: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "%+,-./:=@_".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")))
}

/// Returns a call of the same tool that runs another text.
fn with_command(event: &Event, text: &str) -> Event {
    let mut event = event.clone();
    if let Some(tool) = &mut event.tool {
        let is_command = |key: &str, value: &Value| {
            let alone = ToolCall { args: json!({ key: value }), ..tool.clone() };
            key == "args" || !alone.commands().is_empty()
        };
        let others = tool.args.as_object().into_iter().flatten();
        let others = others.filter(|(key, value)| !is_command(key, value));
        let mut args: serde_json::Map<String, Value> =
            others.map(|(key, value)| (key.clone(), value.clone())).collect();
        args.insert("command".to_owned(), text.into());
        tool.args = Value::Object(args);
    }
    event
}

/// Whether a call could depend on statements of earlier calls.
pub(crate) fn may_use_statements(event: &Event) -> bool {
    event.event == EventKind::PreTool && event.harness_session_id.is_some() && shell_command(event).is_some()
}

/// Returns a call together with the statements of earlier calls that it uses: with the latest definition of each name,
/// and with the one before it, because the latest one may not have run.
pub(crate) fn with_statements(event: &Event, state: &SessionState) -> Vec<CallWithShell> {
    let Some(command) = shell_command(event) else { return Vec::new() };
    let command = &*command;
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
    choices.into_iter().filter_map(|used| CallWithShell::new(event, command, &used)).collect()
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
    fn new(event: &Event, command: &str, used: &[&ShellStatement]) -> Option<Self> {
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
        let is_run = |statement: &&&ShellStatement| !defines_function(&statement.text);
        let run: Vec<_> = used.iter().filter(is_run).map(|statement| statement.text.as_str()).collect();
        Some(Self {
            event: with_command(event, &combined),
            alone: with_command(event, command),
            statements: with_command(event, &run.join("\n")),
            used: used.iter().map(|statement| (*statement).clone()).collect(),
        })
    }

    /// Returns the call with only those statements that run no command.
    pub(crate) fn without_commands(&self, event: &Event) -> Option<Self> {
        let command = shell_command(event)?;
        let runs_command = |statement: &&ShellStatement| statement.text.contains(['`', '(']);
        let used: Vec<_> = self.used.iter().filter(|statement| !runs_command(statement)).collect();
        Self::new(event, &command, &used)
    }

    /// Whether a statement could direct commands to another place although the call does not name it.
    pub(crate) fn redirects_silently(&self, facts: &Facts) -> bool {
        let has_git = facts.commands.iter().any(|command| command.program == "git");
        let is_redirecting =
            |name: &str| if name.starts_with("GIT_") { has_git } else { is_redirecting_variable(name) };
        let mut names = self.used.iter().filter_map(|statement| variable_of(&statement.name));
        names.any(is_redirecting)
    }
}

pub(crate) fn statement_texts<'t>(parsed: &ParsedScript, text: &'t str) -> Vec<&'t str> {
    parsed.script.statements.as_slice().iter().map(|statement| statement.span.text(text)).collect()
}

fn defines_function(text: &str) -> bool {
    let parsed = parse(text, Dialect::Bash);
    let commands =
        parsed.script.statements.as_slice().iter().flat_map(|statement| statement.first.commands());
    commands.into_iter().any(|command| matches!(command, Command::Function(_)))
}

/// Whether a statement changes what later commands do without being named by them.
fn is_ambient(name: &str) -> bool {
    name.starts_with(AMBIENT_PREFIX)
}

/// Beginning of the names of statements that set a variable which matters to commands that do not name it.
const AMBIENT_PREFIX: &str = "export $";

/// Returns the name of a statement that sets a variable. Variables that the environment contains already need no
/// `export`.
pub(crate) fn variable_statement(variable: &str) -> String {
    let is_ambient = is_ambient_variable(variable) || PROJECT_VARIABLES.contains(&variable);
    format!("{}{variable}", if is_ambient { AMBIENT_PREFIX } else { "$" })
}

/// Whether a text uses a variable, or contains a name as a word.
fn uses_name(text: &str, name: &str) -> bool {
    match variable_of(name) {
        Some(variable) => variable_uses(text, variable).next().is_some(),
        None => text.split(|letter: char| !is_name_letter(letter)).any(|word| word == name),
    }
}

pub(crate) fn variable_of(name: &str) -> Option<&str> {
    name.strip_prefix('$').or_else(|| name.strip_prefix(AMBIENT_PREFIX))
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

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenterhook_event::{EventId, Timestamp, ToolCall};

    use super::*;
    use crate::shell_definitions::find_definitions;

    fn find_statements(event: &Event) -> Vec<ShellStatement> {
        let facts = tenterhook_facts::facts(event, &tenterhook_facts::EvalEnvironment::default());
        let changes = find_definitions(event, &facts).into_iter();
        let statements = changes.filter_map(|change| match change {
            tenterhook_policy::SessionFileChange::Shell(statement) => Some(statement),
            _ => None,
        });
        statements.collect()
    }

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
                "git config --global url.https://x.example/.insteadOf https://github.com/\ngit push",
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
        let define =
            |text: &str| ShellStatement { name: "$D".to_owned(), text: text.to_owned(), is_certain: false };
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
