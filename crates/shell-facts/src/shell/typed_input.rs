// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Detects programs that read their code from a terminal. This matters for harnesses whose tool for typing into a
//! running process does not fire a hook.
//!
//! A here-document, a file, `-c` and the output of another program are visible to a hook. Typed text is not. The
//! reader tracks whether standard input is still the terminal ([`super::scope::InputStream::from_terminal`]) and
//! which commands print text that came from there ([`ShellCommand::from_terminal`]).

use tenterhook_paths::resolve;
use tenterhook_programs::{Language, ParsedArgs, Programs, Role, StandardInput};

use super::super::described_command::DescribedCommand;
use super::ShellReader;
use super::builtin::is_stdin;
use super::command::ShellCommand;
use super::interpreter::language_of;
use super::scope::ShellScope;
use super::word::ShellWord;

/// Behaviour label of a command that reads its code from a terminal.
pub(super) const TYPED_PROGRAM: &str = "typed-program";

/// Programs that print their standard input, with the number of operands that are not files.
const PASS_THROUGH_PROGRAMS: &[(&str, usize)] = &[
    ("cat", 0),
    ("tac", 0),
    ("nl", 0),
    ("rev", 0),
    ("head", 0),
    ("tail", 0),
    ("sort", 0),
    ("uniq", 0),
    ("cut", 1),
    ("fold", 0),
    ("fmt", 0),
    ("expand", 0),
    ("base64", 0),
    ("base32", 0),
    ("gunzip", 0),
    ("zcat", 0),
    ("gzip", 0),
    ("xz", 0),
    ("zstd", 0),
    ("xxd", 0),
    ("dos2unix", 0),
    ("sponge", usize::MAX),
    ("tee", usize::MAX),
    ("dd", usize::MAX),
    ("tr", usize::MAX),
    ("pv", 0),
    ("sed", 1),
    ("gsed", 1),
    ("awk", 1),
    ("gawk", 1),
    ("mawk", 1),
    ("grep", 1),
    ("egrep", 1),
    ("fgrep", 1),
    ("jq", 1),
    ("envsubst", 1),
    ("m4", 0),
    ("openssl", usize::MAX),
];

/// Code that reads standard input.
const READS_INPUT: &[&str] =
    &["input(", "stdin", "gets", "readline", "<>", "fileinput", "io.read", "read_line", "/dev/tty"];
/// Code that runs text.
const RUNS_TEXT: &[&str] = &[
    "exec(",
    "exec ",
    "eval(",
    "eval ",
    "system(",
    "system ",
    "popen(",
    "execsync(",
    "spawn",
    "subprocess",
    "compile(",
    "loadstring(",
    "load(",
    "new function(",
];
/// Code that opens a prompt.
const OPENS_PROMPT: &[&str] = &[
    "code.interact(",
    "set_trace(",
    "breakpoint(",
    "embed(",
    "repl.start(",
    "binding.irb",
    "binding.pry",
    "interactiveconsole(",
    "readline.createinterface(",
];

impl ShellReader<'_> {
    /// Marks a command that reads its code from standard input, if that is a terminal that is not visible to hooks.
    pub(super) fn mark_typed_program(&mut self, command: Option<usize>, scope: &ShellScope) {
        if scope.stdin.from_terminal {
            self.mark_act(command, TYPED_PROGRAM);
        }
    }

    /// Marks a command that runs the output of these commands, if that output was typed.
    pub(super) fn mark_if_typed(&mut self, command: Option<usize>, from: &[usize]) {
        if self.prints_typed(from) {
            self.mark_act(command, TYPED_PROGRAM);
        }
    }

    /// Whether any of these commands prints typed text.
    pub(super) fn prints_typed(&self, from: &[usize]) -> bool {
        self.terminal
            && from.iter().filter_map(|at| self.commands.get(*at)).any(|command| command.from_terminal)
    }

    /// Whether a path names the terminal, or standard input while that is a terminal.
    pub(super) fn is_terminal(&self, path: &str, scope: &ShellScope) -> bool {
        self.terminal && (names_terminal(path) || scope.stdin.from_terminal && is_stdin(path))
    }

    /// Whether the output of a command contains typed text.
    pub(super) fn passes_typed(&self, command: &ShellCommand, scope: &ShellScope) -> bool {
        if !self.terminal {
            return false;
        }
        if command.words.iter().any(|word| self.prints_typed(&word.from)) {
            return true;
        }
        let from_terminal = |path: &str| self.is_terminal(path, scope);
        if command.operands.iter().any(|path| from_terminal(&path.text)) {
            return true;
        }
        let passer = PASS_THROUGH_PROGRAMS.iter().find(|(name, _)| *name == command.program);
        passer.is_some_and(|(_, most)| {
            let dash = command.words.iter().any(|word| word.is("-"));
            scope.stdin.from_terminal && (dash || command.operands.len() <= *most)
        })
    }

    /// Marks the last command if it reads its code from the terminal.
    pub(super) fn mark_prompt(
        &mut self,
        described: Option<&DescribedCommand<'_>>,
        program: &str,
        scope: &ShellScope,
    ) {
        if !self.terminal {
            return;
        }
        let own = self.last_command();
        if let Some(DescribedCommand { words, parsed, .. }) = described {
            let reads_terminal = |text: &str| text == "-" || self.is_terminal(text, scope);
            if opens_prompt(parsed, words, self.programs, reads_terminal) {
                self.mark_typed_program(own, scope);
            }
            // A full-screen program reads keys from the terminal even if standard input is redirected.
            if parsed.stdin == StandardInput::Screen && !quits_editor(parsed) {
                self.mark_act(own, TYPED_PROGRAM);
            }
        }
        // The makefile may have been typed earlier in the call.
        if matches!(program, "make" | "gmake") {
            for name in ["Makefile", "makefile", "GNUmakefile"] {
                if let Some(path) = resolve(scope.cwd.expected(), name) {
                    let from = self.find_writers(&path, scope);
                    self.mark_if_typed(own, &from);
                }
            }
        }
    }

    /// Marks `xargs` and `parallel` if typed text becomes arguments of a command that runs them.
    pub(super) fn mark_typed_arguments(&mut self, inner: &[ShellWord], scope: &ShellScope) {
        let Some(first) = inner.first() else { return };
        let name = super::command::program_name(&first.text);
        if language_of(name, self.programs).is_some()
            || self.runs_others(name)
            || first.text.contains("{}")
            || name == "make"
        {
            let own = self.last_command();
            self.mark_typed_program(own, scope);
            self.mark_if_typed(own, &scope.stdin.from.clone());
        }
    }

    /// Whether a program runs the command that follows it.
    fn runs_others(&self, program: &str) -> bool {
        self.programs.find(program).is_some_and(|described| described.wraps())
    }

    /// Marks code in another language that runs typed text or opens a prompt.
    pub(super) fn mark_typed_code(&mut self, code: &str, own: Option<usize>, scope: &ShellScope) {
        if !scope.stdin.from_terminal {
            return;
        }
        let code = code.to_ascii_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| code.contains(part));
        if has(OPENS_PROMPT) || has(READS_INPUT) && has(RUNS_TEXT) {
            self.mark_act(own, TYPED_PROGRAM);
        }
    }
}

/// Whether a path names a terminal.
fn names_terminal(path: &str) -> bool {
    matches!(path, "/dev/tty" | "/dev/console") || path.starts_with("/dev/pts/")
}

/// Whether a program opens a prompt or reads its instructions from the terminal.
fn opens_prompt(
    parsed: &ParsedArgs<'_, '_>,
    words: &[ShellWord],
    programs: &Programs,
    reads_terminal: impl Fn(&str) -> bool,
) -> bool {
    match parsed.stdin {
        StandardInput::Prompt => return true,
        // An interpreter that opens a prompt after running the code: `perl -de CODE`.
        StandardInput::Code if parsed.options.iter().any(|option| matches!(option.role, Role::Code(_))) => {
            return true;
        }
        _ => {}
    }
    let mut scripts = parsed.parts_with_role(Role::Script);
    // `psql -f -`
    if parsed.default_stdin == StandardInput::Prompt && scripts.any(|part| reads_terminal(part.text)) {
        return true;
    }
    // `awk '{ system($0) }'`
    let mut code = parsed.parts_with_role(Role::Code(Language::Awk));
    code.any(|part| part.text.contains("system(") || part.text.contains("| \""))
        || script_opens_prompt(parsed, words, programs)
}

/// Whether the script is a described program that opens a prompt: `python manage.py shell`.
fn script_opens_prompt(parsed: &ParsedArgs<'_, '_>, words: &[ShellWord], programs: &Programs) -> bool {
    let script = parsed.operands.iter().find(|operand| operand.role == Role::Script);
    let Some(script) = script.filter(|_| parsed.language.is_some()) else { return false };
    let name = super::command::program_name(script.part.text);
    let words = words.get(script.part.word + 1..).unwrap_or_default();
    programs.find(name).is_some_and(|described| described.parse(words).stdin == StandardInput::Prompt)
}

/// Whether an editor is told to quit: `vim -c wq`, `vim +q`.
fn quits_editor(parsed: &ParsedArgs<'_, '_>) -> bool {
    let is_end = |text: &str| {
        let last =
            text.rsplit('|').next().unwrap_or(text).trim().trim_start_matches(':').trim_end_matches('!');
        matches!(
            last,
            "q" | "qa" | "qall" | "quit" | "wq" | "wqa" | "wqall" | "x" | "xa" | "xall" | "cq" | "cquit"
        )
    };
    parsed.parts_with_role(Role::Code(Language::Other)).any(|part| is_end(part.text))
}

#[cfg(test)]
mod tests;
