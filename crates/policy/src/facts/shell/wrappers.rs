// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that run other programs, and programs that run texts.

use super::word::Word;

/// A program that runs the rest of its words.
pub(super) struct Wrapper {
    name: &'static str,
    /// Letters and long names of its options that take a value.
    values: &'static str,
    long_values: &'static [&'static str],
    /// Operands of its own before the command begins.
    operands: usize,
    /// Whether `NAME=value` may stand before the command.
    assigns: bool,
}

const PLAIN: Wrapper = Wrapper { name: "", values: "", long_values: &[], operands: 0, assigns: false };

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "sudo",
        values: "CDghpRrtTuU",
        long_values: &["user", "group", "host", "prompt", "chdir", "chroot", "role", "type", "close-from"],
        assigns: true,
        ..PLAIN
    },
    Wrapper { name: "doas", values: "Cu", ..PLAIN },
    Wrapper { name: "env", values: "uC", long_values: &["unset", "chdir"], assigns: true, ..PLAIN },
    Wrapper { name: "nohup", ..PLAIN },
    Wrapper { name: "setsid", ..PLAIN },
    Wrapper { name: "time", values: "fo", long_values: &["format", "output"], ..PLAIN },
    Wrapper { name: "nice", values: "n", long_values: &["adjustment"], ..PLAIN },
    Wrapper { name: "ionice", values: "cn", long_values: &["class", "classdata"], ..PLAIN },
    Wrapper { name: "timeout", values: "ks", long_values: &["kill-after", "signal"], operands: 1, ..PLAIN },
    Wrapper { name: "stdbuf", values: "ioe", long_values: &["input", "output", "error"], ..PLAIN },
    Wrapper { name: "chroot", long_values: &["userspec", "groups"], operands: 1, ..PLAIN },
    Wrapper {
        name: "flock",
        values: "wE",
        long_values: &["timeout", "conflict-exit-code"],
        operands: 1,
        ..PLAIN
    },
    Wrapper { name: "strace", values: "eopsuEaPI", ..PLAIN },
    Wrapper { name: "command", ..PLAIN },
    Wrapper { name: "exec", values: "a", ..PLAIN },
    Wrapper { name: "builtin", ..PLAIN },
    Wrapper { name: "coproc", ..PLAIN },
    Wrapper { name: "busybox", ..PLAIN },
    Wrapper { name: "toybox", ..PLAIN },
    Wrapper { name: "watch", values: "nqs", long_values: &["interval"], ..PLAIN },
    Wrapper { name: "caffeinate", values: "tw", ..PLAIN },
    Wrapper {
        name: "xargs",
        values: "adEILnPs",
        long_values: &[
            "arg-file",
            "delimiter",
            "max-args",
            "max-lines",
            "max-procs",
            "max-chars",
            "process-slot-var",
        ],
        ..PLAIN
    },
];

/// The words of the command a wrapper would run; `None` if the program is no wrapper or runs nothing.
pub(super) fn unwrap<'a>(program: &str, words: &'a [Word]) -> Option<&'a [Word]> {
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == program)?;
    let mut rest = words;
    let mut operands = wrapper.operands;
    let mut options_are_over = false;
    while let Some((word, after)) = rest.split_first() {
        let text = word.text.as_str();
        // `command -v` looks a program up; it runs nothing.
        if program == "command" && matches!(text, "-v" | "-V") {
            return None;
        }
        let is_option = !options_are_over && text.len() > 1 && text.starts_with('-');
        if is_option {
            options_are_over = text == "--";
            rest = if wrapper.takes_value(text) { after.get(1..).unwrap_or_default() } else { after };
        } else if wrapper.assigns && is_assignment(text) {
            rest = after;
        } else if operands > 0 {
            operands -= 1;
            rest = after;
        } else {
            return Some(rest);
        }
    }
    None
}

impl Wrapper {
    /// Whether the word after this option is its value.
    fn takes_value(&self, option: &str) -> bool {
        if let Some(name) = option.strip_prefix("--") {
            return self.long_values.contains(&name);
        }
        let mut letters = option.chars().skip(1);
        letters.any(|letter| self.values.contains(letter)) && letters.next().is_none()
    }
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

/// What kind of program runs a text that it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interpreter {
    /// A shell whose language is read here.
    Shell,
    /// Some other language.
    Other,
}

/// Whether a program runs texts, by its name: `python3.12` is `python`.
pub(super) fn interpreter(program: &str) -> Option<Interpreter> {
    match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "mksh" | "rbash" => Some(Interpreter::Shell),
        "fish" | "python" | "pypy" | "perl" | "ruby" | "node" | "nodejs" | "php" | "lua" | "deno" | "bun"
        | "pwsh" | "osascript" | "tclsh" | "csh" | "tcsh" => Some(Interpreter::Other),
        _ => None,
    }
}

/// What an interpreter is told to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Script<'a> {
    /// This text; the words after it are its arguments.
    Text(&'a Word, &'a [Word]),
    /// What comes on standard input.
    Stdin,
    /// A file.
    File(&'a Word),
    /// Something else: a module, a version number.
    Nothing,
}

/// What an interpreter is told to run.
pub(super) fn script<'a>(kind: Interpreter, program: &str, words: &'a [Word]) -> Script<'a> {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let text = word.text.as_str();
        if word.is("-") || text == "/dev/stdin" || text == "/dev/fd/0" || text == "/proc/self/fd/0" {
            return Script::Stdin;
        }
        if text == "--" {
            return after.first().map_or(Script::Stdin, Script::File);
        }
        if !text.starts_with(['-', '+']) {
            // `deno run -`, `bun run -`
            if matches!(program, "deno" | "bun") && word.is("run") {
                rest = after;
                continue;
            }
            return Script::File(word);
        }
        let letters = text.trim_start_matches(['-', '+']);
        let long = text.starts_with("--");
        let has = |wanted: &str| !long && letters.contains(|letter| wanted.contains(letter));
        let given = match kind {
            Interpreter::Shell => has("c"),
            Interpreter::Other => match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
                "python" | "pypy" | "csh" | "tcsh" => has("c"),
                "fish" => has("c") || letters == "command",
                "php" => has("r"),
                "pwsh" => letters.eq_ignore_ascii_case("command") || letters == "c",
                _ => has("eEp") || matches!(letters, "eval" | "print"),
            },
        };
        if given {
            return after.split_first().map_or(Script::Nothing, |(text, more)| Script::Text(text, more));
        }
        match kind {
            Interpreter::Shell if has("s") => return Script::Stdin,
            // `-o pipefail`, `-O extglob`, `--rcfile file`
            Interpreter::Shell if letters.ends_with(['o', 'O']) && !long => {
                rest = after.get(1..).unwrap_or_default();
            }
            Interpreter::Shell if matches!(letters, "rcfile" | "init-file") => {
                rest = after.get(1..).unwrap_or_default();
            }
            Interpreter::Other if program.starts_with("py") && has("m") => return Script::Nothing,
            Interpreter::Other if program.starts_with("py") && matches!(letters, "W" | "X") => {
                rest = after.get(1..).unwrap_or_default();
            }
            _ if matches!(letters, "version" | "help" | "V") => return Script::Nothing,
            _ => rest = after,
        }
    }
    Script::Stdin
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Word> {
        line.split(' ').map(Word::literal).collect()
    }

    #[test]
    fn wrappers_are_taken_off() {
        let inner = |line: &str| {
            let words = words(line);
            let (program, rest) = words.split_first().unwrap();
            unwrap(&program.text, rest).map(|words| words[0].text.clone())
        };
        for line in [
            "sudo -u root rm",
            "sudo -uroot -E A=1 rm",
            "env -i -u X PATH=/x rm",
            "timeout -k 5 10 rm",
            "nice -n 10 rm",
            "nohup -- rm",
            "xargs -0 -I {} rm",
        ] {
            assert_eq!(inner(line).as_deref(), Some("rm"), "{line}");
        }
        assert_eq!(inner("command -v rm"), None);
        assert_eq!(inner("ls rm"), None);
    }

    #[test]
    fn an_interpreter_runs_its_input_only_when_told_nothing_else() {
        let stdin = |line: &str| {
            let words = words(line);
            let (program, rest) = words.split_first().unwrap();
            script(interpreter(&program.text).unwrap(), &program.text, rest) == Script::Stdin
        };
        for line in
            ["sh", "bash -", "bash -s -- a", "bash -eux -o pipefail", "python3.12 -", "python -u", "node"]
        {
            assert!(stdin(line), "{line}");
        }
        for line in [
            "sh x.sh",
            "bash -c x",
            "bash -lc x",
            "python3 -m json.tool",
            "python -c x",
            "node -e x",
            "perl -ne x",
        ] {
            assert!(!stdin(line), "{line}");
        }
    }
}
