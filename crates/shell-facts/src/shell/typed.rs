// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that take their program from a terminal, in harnesses whose tool for typing into a running
//! process fires no hook.
//!
//! Text that was read is not typed: a here-document, a file, `-c`, the output of another program. So the
//! reader keeps track of whether standard input is still the terminal ([`super::scope::Stream::typed`]),
//! and of which commands print what came from there ([`ShellCommand::typed`]).

use tenterhook_paths::resolve;
use tenterhook_programs::{Language, Parsed, Programs, Role, StandardInput};

use super::super::described_command::DescribedCommand;
use super::Reader;
use super::builtin::is_stdin;
use super::command::ShellCommand;
use super::interpreter::language_of;
use super::scope::Scope;
use super::word::Word;

/// What a command that takes its program from a terminal is known to do.
pub(super) const TYPED_PROGRAM: &str = "typed-program";

/// Programs that print what they get on standard input, with how many operands are not files.
const PASSERS: &[(&str, usize)] = &[
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

/// How code reads standard input, in one language or another.
const READS_INPUT: &[&str] =
    &["input(", "stdin", "gets", "readline", "<>", "fileinput", "io.read", "read_line", "/dev/tty"];
/// How code runs a text.
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
/// How code hands over to a prompt.
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

impl Reader<'_> {
    /// A command takes its program from standard input; if that is a terminal which nobody watches, it is
    /// marked.
    pub(super) fn mark_typed_program(&mut self, command: Option<usize>, scope: &Scope) {
        if scope.stdin.typed {
            self.mark(command, TYPED_PROGRAM);
        }
    }

    /// The same for a text that is run: some of these commands printed it.
    pub(super) fn mark_if_typed(&mut self, command: Option<usize>, from: &[usize]) {
        if self.prints_typed(from) {
            self.mark(command, TYPED_PROGRAM);
        }
    }

    /// Whether any of these commands prints what was typed.
    pub(super) fn prints_typed(&self, from: &[usize]) -> bool {
        self.terminal && from.iter().filter_map(|at| self.commands.get(*at)).any(|command| command.typed)
    }

    /// Whether a file is the terminal, or standard input while that is one.
    pub(super) fn is_terminal(&self, path: &str, scope: &Scope) -> bool {
        self.terminal && (names_terminal(path) || scope.stdin.typed && is_stdin(path))
    }

    /// Whether what a command prints was typed, or has typed text in it.
    pub(super) fn passes_typed(&self, command: &ShellCommand, scope: &Scope) -> bool {
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
        let passer = PASSERS.iter().find(|(name, _)| *name == command.program);
        passer.is_some_and(|(_, most)| {
            let dash = command.words.iter().any(|word| word.is("-"));
            scope.stdin.typed && (dash || command.operands.len() <= *most)
        })
    }

    /// Marks the command that was read last if it is known to take its program from the terminal.
    pub(super) fn prompted(
        &mut self,
        described: Option<&DescribedCommand<'_>>,
        program: &str,
        scope: &Scope,
    ) {
        if !self.terminal {
            return;
        }
        let own = self.commands.len().checked_sub(1);
        if let Some(DescribedCommand { words, parsed, .. }) = described {
            let reads_terminal = |text: &str| text == "-" || self.is_terminal(text, scope);
            if opens_prompt(parsed, words, self.programs, reads_terminal) {
                self.mark_typed_program(own, scope);
            }
            // A program that draws on the terminal reads keys from there, wherever its input comes from.
            if parsed.stdin == StandardInput::Screen && !quits(parsed) {
                self.mark(own, TYPED_PROGRAM);
            }
        }
        // A makefile that was typed before.
        if matches!(program, "make" | "gmake") {
            for name in ["Makefile", "makefile", "GNUmakefile"] {
                if let Some(path) = resolve(scope.cwd.main(), name) {
                    let from = self.writers(&path, scope);
                    self.mark_if_typed(own, &from);
                }
            }
        }
    }

    /// `xargs` and `parallel` with the terminal for their input: what is typed becomes words of this.
    pub(super) fn typed_arguments(&mut self, inner: &[Word], scope: &Scope) {
        let Some(first) = inner.first() else { return };
        let name = super::command::program_name(&first.text);
        if language_of(name, self.programs).is_some()
            || self.runs_others(name)
            || first.text.contains("{}")
            || name == "make"
        {
            let own = self.commands.len().checked_sub(1);
            self.mark_typed_program(own, scope);
            self.mark_if_typed(own, &scope.stdin.from.clone());
        }
    }

    /// Whether a program runs the command that follows it.
    fn runs_others(&self, program: &str) -> bool {
        self.programs.find(program).is_some_and(|described| described.wraps())
    }

    /// Code in another language that runs what is typed, or opens a prompt.
    pub(super) fn typed_code(&mut self, code: &str, own: Option<usize>, scope: &Scope) {
        if !scope.stdin.typed {
            return;
        }
        let code = code.to_ascii_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| code.contains(part));
        if has(OPENS_PROMPT) || has(READS_INPUT) && has(RUNS_TEXT) {
            self.mark(own, TYPED_PROGRAM);
        }
    }
}

/// Whether a path names a terminal.
fn names_terminal(path: &str) -> bool {
    matches!(path, "/dev/tty" | "/dev/console") || path.starts_with("/dev/pts/")
}

/// Whether a program opens a prompt, or reads its instructions from the terminal.
fn opens_prompt(
    parsed: &Parsed<'_, '_>,
    words: &[Word],
    programs: &Programs,
    reads_terminal: impl Fn(&str) -> bool,
) -> bool {
    match parsed.stdin {
        StandardInput::Prompt => return true,
        // An interpreter that was given code and goes on: `perl -de CODE`.
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

/// `python manage.py shell`: whether the script is a program of its own that opens a prompt.
fn script_opens_prompt(parsed: &Parsed<'_, '_>, words: &[Word], programs: &Programs) -> bool {
    let script = parsed.operands.iter().find(|operand| operand.role == Role::Script);
    let Some(script) = script.filter(|_| parsed.language.is_some()) else { return false };
    let name = super::command::program_name(script.part.text);
    let words = words.get(script.part.word + 1..).unwrap_or_default();
    programs.find(name).is_some_and(|described| described.parse(words).stdin == StandardInput::Prompt)
}

/// Whether an editor is told to quit: `vim -c wq`, `vim +q`.
fn quits(parsed: &Parsed<'_, '_>) -> bool {
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
