// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that take their program from a terminal, in harnesses whose tool for typing into a running
//! process fires no hook.
//!
//! Text that was read is not typed: a here-document, a file, `-c`, the output of another program. So the
//! reader keeps track of whether standard input is still the terminal ([`super::scope::Stream::typed`]),
//! and of which commands print what came from there ([`ShellCommand::typed`]).

mod table;

use super::Reader;
use super::builtin::is_stdin;
use super::command::ShellCommand;
use super::interpreter::{family, interpreter};
use super::scope::Scope;
use super::word::Word;
use table::{EDITORS, PROMPTS, Prompt};

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
    pub(super) fn prompted(&mut self, program: &str, words: &[Word], scope: &Scope) {
        if !self.terminal {
            return;
        }
        let own = self.commands.len().checked_sub(1);
        let named = words.iter().any(|word| word.is("-") || self.is_terminal(&word.text, scope));
        let prompts = PROMPTS.iter().any(|row| row.applies(program, words, named));
        if prompts || by_option(program, words) {
            self.mark_typed_program(own, scope);
        }
        // What shows itself on the terminal reads keys from there, wherever its input comes from.
        if EDITORS.iter().any(|row| row.applies(program, words, false)) && !quits(words) {
            self.mark(own, TYPED_PROGRAM);
        }
        if let "awk" | "gawk" | "mawk" | "nawk" = program
            && words.iter().any(|word| word.text.contains("system(") || word.text.contains("| \""))
        {
            self.mark_typed_program(own, scope);
        }
        if program == "git" && opens_editor(words) {
            self.mark_typed_program(own, scope);
        }
        // A makefile that was typed before.
        if matches!(program, "make" | "gmake") {
            for name in ["Makefile", "makefile", "GNUmakefile"] {
                if let Some(path) = super::super::path::resolve(scope.cwd.main(), name) {
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
        if interpreter(name).is_some()
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

/// Interpreters that go on at a prompt although they were given a script.
fn by_option(program: &str, words: &[Word]) -> bool {
    let has = |option: &str| words.iter().take(8).any(|word| word.is(option));
    let letter = |letter: char| {
        let options = words.iter().take_while(|word| word.text.starts_with('-'));
        let mut options = options.map(|word| word.text.as_str()).filter(|text| !text.starts_with("--"));
        options.any(|text| text.contains(letter))
    };
    match family(program) {
        "python" | "pypy" => {
            let module = words.iter().position(|word| word.is("-m")).and_then(|at| words.get(at + 1));
            let prompts =
                ["pdb", "ipdb", "pudb", "code", "asyncio", "IPython", "ptpython", "bpython", "sqlite3"];
            let django = words.iter().any(|word| word.text.ends_with("manage.py"))
                && words.iter().any(|word| matches!(word.text.as_str(), "shell" | "shell_plus" | "dbshell"));
            let tells = has("-c") || has("--command");
            letter('i')
                || module.is_some_and(|name| prompts.contains(&name.text.as_str()))
                || django && !tells
        }
        "node" | "nodejs" => {
            letter('i') || has("--interactive") || words.first().is_some_and(|w| w.is("inspect"))
        }
        "lua" | "luajit" | "ghc" => letter('i'),
        "perl" => words.iter().any(|word| word.text.starts_with("-d") && !word.text.starts_with("-d:")),
        "ruby" => words.iter().any(|word| matches!(word.text.as_str(), "-rirb" | "-rpry" | "-rdebug")),
        "php" => {
            has("-a") || words.first().is_some_and(|word| word.text.ends_with("artisan")) && has("tinker")
        }
        "deno" | "bun" => words.first().is_some_and(|word| word.is("repl")),
        _ => false,
    }
}

/// Whether an editor of the `vi` family is told to quit.
fn quits(words: &[Word]) -> bool {
    let command = |text: &str| {
        let last =
            text.rsplit('|').next().unwrap_or(text).trim().trim_start_matches(':').trim_end_matches('!');
        matches!(
            last,
            "q" | "qa" | "qall" | "quit" | "wq" | "wqa" | "wqall" | "x" | "xa" | "xall" | "cq" | "cquit"
        )
    };
    let behind =
        words.windows(2).any(|pair| matches!(pair, [option, text] if option.is("-c") && command(&text.text)));
    behind || words.iter().any(|word| word.text.strip_prefix('+').is_some_and(command))
}

/// Whether `git` with these words opens an editor: a commit without its message, a list of commits.
fn opens_editor(words: &[Word]) -> bool {
    let mut rest = words;
    while let [option, after @ ..] = rest
        && option.text.starts_with('-')
    {
        let takes = matches!(option.text.as_str(), "-c" | "-C");
        rest = after.get(usize::from(takes)..).unwrap_or_default();
    }
    let verb = rest.first().map(|word| word.text.as_str()).unwrap_or_default();
    let letters = |wanted: &[char]| {
        let short = words.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with("--"));
        short.filter_map(|text| text.strip_prefix('-')).any(|text| text.contains(wanted))
    };
    let long = |names: &[&str]| words.iter().any(|word| names.iter().any(|name| word.text.starts_with(name)));
    // `git -c core.editor=true rebase -i`
    if long(&["core.editor=", "sequence.editor="]) {
        return false;
    }
    match verb {
        "commit" => {
            let told =
                ["--message", "--file", "--no-edit", "--reuse-message", "--fixup", "--dry-run", "--help"];
            !letters(&['m', 'F', 'C', 'h']) && !long(&told)
        }
        "rebase" => letters(&['i']) || long(&["--interactive", "--edit-todo"]),
        "config" => letters(&['e']) || long(&["--edit"]),
        _ => false,
    }
}

impl Prompt {
    /// Whether the program with these words comes up with a prompt. `named` says that a word stands for
    /// standard input or a terminal.
    fn applies(&self, program: &str, words: &[Word], named: bool) -> bool {
        if !self.names.contains(&program) {
            return false;
        }
        let mut rest = words;
        let mut operands: Vec<&str> = Vec::new();
        while let Some((word, after)) = rest.split_first() {
            rest = after;
            let text = word.text.as_str();
            let Some(option) = text.strip_prefix('-').filter(|option| !option.is_empty()) else {
                operands.push(text);
                continue;
            };
            let long = option.trim_start_matches('-');
            let name = long.split('=').next().unwrap_or(long);
            if self.told.contains(&name) {
                return named;
            }
            if self.long_values.contains(&name) {
                rest = if long.contains('=') { after } else { after.get(1..).unwrap_or_default() };
                continue;
            }
            if option.starts_with('-') {
                continue;
            }
            for (at, letter) in option.char_indices() {
                if self.tells.contains(letter) {
                    return named;
                }
                if self.values.contains(letter) {
                    let attached = at + letter.len_utf8() < option.len();
                    rest = if attached { after } else { after.get(1..).unwrap_or_default() };
                    break;
                }
            }
        }
        // `mongosh script.js`
        if operands.iter().any(|operand| operand.rsplit('.').next() == Some("js")) {
            return false;
        }
        let mut operands = operands.into_iter();
        for verb in self.verbs {
            // Options may have left words of their own before it.
            if !operands.any(|operand| verb.split('|').any(|verb| verb == operand)) {
                return false;
            }
        }
        operands.filter(|operand| *operand != "-").count() <= self.operands
    }
}

#[cfg(test)]
mod tests;
