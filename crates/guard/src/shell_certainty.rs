// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decides which variables of earlier calls have certainly the value that the session assigned.
//!
//! `D=$(mktemp -d)` in one call and `rm -rf "$D"` in the next is ordinary work, and asking about a value that is known
//! only at run time would be a false alarm. The question is dropped only if the variable is either set to this value
//! or, in a new shell, not set at all: the assignment was the first statement of a call that succeeded, no later call
//! could have changed the variable, and no environment is likely to set it.

use tenterhook_event::Event;
use tenterhook_policy::{SessionFileChange, SessionState, ShellStatement};
use tenterhook_shell::{
    AssignmentValue, Command, Dialect, ParsedScript, SimpleCommand, Statement, TreeVisitor, UnparsedText,
    Word, parse, walk_command, walk_simple,
};

use crate::session_shell::{shell_command, variable_of, variable_uses};
use crate::undo_call::runs_in_background;

/// Programs for which an operand that is empty means nothing, or the working directory that they only read.
const OPERAND_PROGRAMS: &[&str] = &["rm", "ls", "echo", "test", "["];
/// Builtins that assign variables whose names are their operands.
const ASSIGNING_BUILTINS: &[&str] = &[
    "declare",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "select",
    "typeset",
    "unset",
    "vared",
    "wait",
];
/// Builtins after which any variable may have another value.
const OPAQUE_BUILTINS: &[&str] = &[".", "alias", "builtin", "enable", "eval", "exec", "source", "trap"];
/// Parts of the names of variables that environments usually set.
const ENVIRONMENT_NAME_PARTS: &[&str] = &[
    "_", "CONFIG", "DATA", "DIR", "EDITOR", "HOME", "HOST", "LANG", "LOGNAME", "MAIL", "PATH", "PREFIX",
    "PWD", "ROOT", "SHELL", "TEMP", "TERM", "TMP", "URL", "USER",
];

/// Returns what a call changes about the variables of the session's shell, other than by the statements that are stored.
pub(crate) fn find_uncertain(event: &Event, state: &SessionState) -> Vec<SessionFileChange> {
    let Some(command) = shell_command(event) else { return Vec::new() };
    let command = &*command;
    let mut changes: Vec<SessionFileChange> = Vec::new();
    let certain = state.shell.iter().filter(|statement| statement.is_certain);
    let changed = certain.filter(|statement| {
        variable_of(&statement.name).is_none_or(|name| names_of_words(command).any(|word| word == name))
    });
    changes.extend(changed.map(|statement| SessionFileChange::ShellUncertain(statement.name.clone())));
    if !state.is_shell_unknown && is_opaque(&parse(command, Dialect::Bash), command) {
        changes.push(SessionFileChange::ShellUnknown);
    }
    changes
}

/// Returns the statements of a call that have certainly run, now that the call has succeeded.
pub(crate) fn find_certain(event: &Event, state: &SessionState) -> Vec<SessionFileChange> {
    let Some(command) = shell_command(event).filter(|_| !state.shell.is_empty()) else {
        return Vec::new();
    };
    let command = &*command;
    if state.is_shell_unknown || runs_in_background(event) {
        return Vec::new();
    }
    let ran = first_assignments(&parse(command, Dialect::Bash), command).into_iter();
    let is_new = |(name, text): &(String, String)| {
        let latest = state.shell.iter().rfind(|known| known.name == *name);
        latest.is_some_and(|known| known.text == *text && !known.is_certain)
    };
    ran.filter(is_new).map(|(name, text)| SessionFileChange::ShellRan(name, text)).collect()
}

/// Returns the assignments with which a command begins, if nothing else in it assigns the same variable.
fn first_assignments(parsed: &ParsedScript, command: &str) -> Vec<(String, String)> {
    if is_opaque(parsed, command) {
        return Vec::new();
    }
    let mut found: Vec<(String, String)> = Vec::new();
    for statement in &parsed.script.statements {
        let Some(simple) = first_simple(statement) else { break };
        let is_plain =
            !simple.assignments.is_empty() && simple.words.is_empty() && simple.redirects.is_empty();
        if !is_plain {
            break;
        }
        for assignment in &simple.assignments {
            let is_whole = assignment.subscript.is_none()
                && !assignment.appends
                && matches!(assignment.value, AssignmentValue::Word(_));
            let named = names_of_words(command).filter(|word| **word == *assignment.name).count();
            if is_whole && named == 1 {
                found.push((format!("${}", assignment.name), assignment.span.text(command).to_owned()));
            }
        }
        if !statement.rest.is_empty() {
            break;
        }
    }
    found
}

/// Returns the first command of a statement, if it runs in the shell itself.
fn first_simple(statement: &Statement) -> Option<&SimpleCommand> {
    match statement.first.stages.as_slice() {
        [stage] if statement.first.negations == 0 && !statement.is_background() => match &stage.command {
            Command::Simple(simple) => Some(simple),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the words of a text that could be names of variables, except plain uses: `$NAME` and `${NAME}`.
fn names_of_words(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = text.split(move |letter| !is_name(letter)).filter(|word| !word.is_empty());
    words.filter(move |word| {
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        let (before, after) =
            (text.get(..start).unwrap_or_default(), text.get(start + word.len()..).unwrap_or_default());
        let is_use = before.ends_with('$') || before.ends_with("${") && after.starts_with('}');
        !is_use
    })
}

/// Whether a command could change variables in a way that its words do not show.
fn is_opaque(parsed: &ParsedScript, text: &str) -> bool {
    let mut finder = OpaqueFinder { is_opaque: !parsed.is_complete() || has_hidden_names(text) };
    finder.script(&parsed.script);
    finder.is_opaque
}

/// Whether a text could contain names in arithmetic or as escapes: `$'\x44'`.
fn has_hidden_names(text: &str) -> bool {
    text.contains("((") || text.contains("$'")
}

/// Finds commands that could change any variable.
struct OpaqueFinder {
    is_opaque: bool,
}

impl TreeVisitor for OpaqueFinder {
    fn command(&mut self, command: &Command) {
        self.is_opaque |= matches!(command, Command::Function(_) | Command::Coprocess(_));
        walk_command(self, command);
    }

    fn simple(&mut self, command: &SimpleCommand) {
        let words: Vec<_> = command.words.iter().map(Word::literal_prefix).collect();
        if let Some((program, is_known)) = words.first() {
            // `alias` also counts as an argument: `command eval …`.
            let mut names = words.iter().map(|(word, _)| word.as_str());
            self.is_opaque |= !is_known || OPAQUE_BUILTINS.contains(&program.as_str());
            self.is_opaque |= program == "command" && names.any(|word| OPAQUE_BUILTINS.contains(&word));
        }
        let assigns = words.iter().any(|(word, _)| ASSIGNING_BUILTINS.contains(&word.as_str()));
        let is_named = |(word, is_known): &(String, bool)| *is_known || word.contains(['=', ' ', '%']);
        self.is_opaque |= assigns && !words.iter().all(is_named);
        walk_simple(self, command);
    }

    fn unparsed(&mut self, _unparsed: &UnparsedText) {
        self.is_opaque = true;
    }
}

/// Whether all of these statements are assignments whose variables have certainly the assigned value, or none, and the
/// command uses them only as whole operands of programs for which an empty operand does no harm.
pub(crate) fn are_certain(event: &Event, used: &[ShellStatement], state: &SessionState) -> bool {
    let Some(command) = shell_command(event).filter(|_| !state.is_shell_unknown) else { return false };
    let command = &*command;
    let parsed = parse(command, Dialect::Bash);
    if is_opaque(&parsed, command) || state.is_incomplete {
        return false;
    }
    used.iter().all(|statement| {
        let name = statement.name.strip_prefix('$').filter(|_| statement.is_certain);
        name.is_some_and(|name| {
            let mut operands = OperandCounter { source: command, name, count: 0 };
            operands.script(&parsed.script);
            !may_be_in_environment(name)
                && names_of_words(command).all(|word| word != name)
                && variable_uses(command, name).count() == operands.count
        })
    })
}

/// Whether an environment could set a variable. The environment of the harness is not visible if a daemon evaluates the
/// call, so names that environments usually contain count as well.
#[expect(clippy::disallowed_methods, reason = "the name of the variable comes from the call")]
fn may_be_in_environment(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    std::env::var_os(name).is_some() || ENVIRONMENT_NAME_PARTS.iter().any(|part| upper.contains(part))
}

/// Counts the uses of a variable that are whole operands of harmless programs.
struct OperandCounter<'t> {
    source: &'t str,
    name: &'t str,
    count: usize,
}

impl TreeVisitor for OperandCounter<'_> {
    fn simple(&mut self, command: &SimpleCommand) {
        let is_harmless = command.program().is_some_and(|program| OPERAND_PROGRAMS.contains(&&*program));
        for word in command.words.iter().skip(1).filter(|_| is_harmless) {
            let text = word.span.text(self.source).trim_matches('"');
            let name = text.strip_prefix("${").and_then(|text| text.strip_suffix('}'));
            self.count += usize::from(name.or_else(|| text.strip_prefix('$')) == Some(self.name));
        }
        walk_simple(self, command);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenterhook_event::{EventId, EventKind, Timestamp, ToolCall};
    use tenterhook_policy::StateDelta;

    use super::*;
    use crate::session_shell::with_statements;
    use crate::shell_definitions::find_definitions;

    fn call(kind: EventKind, command: &str) -> Event {
        let tool = ToolCall::new("Bash", json!({ "command": command }));
        let event =
            Event::new(EventId::from_parts(1, 1), Timestamp::from_unix_ms(1), "claude-code", kind, "x");
        Event { tool: Some(tool), harness_session_id: Some("s".to_owned()), ..event }
    }

    /// Applies a call to the state of its session.
    fn apply(state: &mut SessionState, command: &str, succeeds: bool) {
        let event = call(EventKind::PreTool, command);
        let mut files = find_uncertain(&event, state);
        let facts = tenterhook_facts::facts(&event, &tenterhook_facts::EvalEnvironment::default());
        files.extend(find_definitions(&event, &facts));
        state.apply(&StateDelta { files, ..StateDelta::default() });
        if succeeds {
            let files = find_certain(&call(EventKind::PostTool, command), state);
            state.apply(&StateDelta { files, ..StateDelta::default() });
        }
    }

    /// Whether all values are certain that a call takes from statements; `None` if it takes none.
    fn find_certainty(earlier: &[&str], command: &str) -> Option<bool> {
        let mut state = SessionState::default();
        for command in earlier {
            apply(&mut state, command, true);
        }
        let event = call(EventKind::PreTool, command);
        match &with_statements(&event, &state)[..] {
            [] => None,
            [with] => Some(are_certain(&event, &with.used, &state)),
            // A variable has several definitions.
            _ => Some(false),
        }
    }

    fn is_certain(earlier: &[&str], command: &str) -> bool {
        find_certainty(earlier, command).unwrap()
    }

    #[test]
    fn the_first_assignments_of_a_call_that_succeeded_are_certain() {
        for earlier in ["D=/tmp/x", "D=$(mktemp -d) && make", "A=1; D=/tmp/x; make", "D=/tmp/x\nls $D ${D}"] {
            assert!(is_certain(&[earlier], "rm -rf \"$D\""), "{earlier}");
        }
        assert!(is_certain(&["D=/tmp/x", "make $D", "export X=\"$Y\""], "rm -rf ${D}; ls"));
        for earlier in [
            "false && D=/tmp/x",
            "exit 0; D=/tmp/x",
            "! D=/tmp/x",
            "{ D=/tmp/x; }",
            "D=/tmp/x; read D",
            "D=/tmp/x; D=~/y",
            "D=/tmp/x; : ${D:=~/y}",
            "D=/tmp/x; eval \"$E\"",
            "D+=/x",
            "D[1]=/x",
            "D=/tmp/x > f",
        ] {
            assert!(!is_certain(&[earlier], "rm -rf \"$D\""), "{earlier}");
        }
        for earlier in ["D=/tmp/x | cat", "D=/tmp/x &", "(D=/tmp/x)"] {
            assert_eq!(find_certainty(&[earlier], "rm -rf \"$D\""), None, "{earlier}");
        }
        let mut state = SessionState::default();
        apply(&mut state, "D=/tmp/x", false);
        assert!(
            !are_certain(&call(EventKind::PreTool, "rm -rf $D"), &state.shell, &state),
            "it may not have run"
        );
    }

    #[test]
    fn a_call_that_could_change_a_variable_makes_it_uncertain() {
        for later in [
            "unset D",
            "read -r D < list",
            "for D in ~; do :; done",
            ". ./env.sh",
            "eval \"$(cat e)\"",
            "{ D=~/photos; }",
            &format!("D=$(: {}; echo ~/photos)", "x".repeat(4200)),
            "printf -v D %s ~",
            "read $X",
            "read $'\\x44'",
            "mapfile -t D",
            "declare -n E=D",
            "f() { D=~; }",
            "alias ls='D=~'",
            "$X",
            "((D=1))",
            "false && D=~/photos",
        ] {
            assert!(!is_certain(&["D=/tmp/x", later], "rm -rf \"$D\""), "{later}");
        }
    }

    #[test]
    fn a_variable_that_could_be_set_elsewhere_or_is_part_of_a_word_is_not_certain() {
        for name in ["HOME", "OLDPWD", "XDG_CONFIG_HOME", "TMPDIR", "DATABASE_URL", "GOPATH", "PATH"] {
            assert!(!is_certain(&[&format!("{name}=/tmp/x")], &format!("rm -rf \"${name}\"")), "{name}");
        }
        for command in [
            "rm -rf $D/*",
            "rm -rf /a/$D",
            "cd $D && rm -rf *",
            "find $D -delete",
            "for E in \"$D\"; do rm -rf \"$E\"/*; done",
            "E=$D; rm -rf $E/x",
            "D=~; rm -rf $D",
            "rm -rf ${D:-/}",
            "rm -rf '$D' $D$D",
        ] {
            assert!(!is_certain(&["D=/tmp/x"], command), "{command}");
        }
    }
}
