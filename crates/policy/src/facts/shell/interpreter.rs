// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that run texts.

use super::builtin::is_stdin;
use super::word::Word;

/// What kind of program runs a text that it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interpreter {
    /// A shell whose language is read here.
    Shell,
    /// Some other language.
    Other,
}

/// Its name without a version: `python3.12` is `python`.
pub(super) fn family(program: &str) -> &str {
    program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// Whether a program runs texts.
pub(super) fn interpreter(program: &str) -> Option<Interpreter> {
    match family(program) {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "mksh" | "rbash" | "rksh" | "rzsh" => {
            Some(Interpreter::Shell)
        }
        "fish" | "python" | "pypy" | "perl" | "ruby" | "node" | "nodejs" | "php" | "lua" | "luajit"
        | "deno" | "bun" | "pwsh" | "powershell" | "osascript" | "tclsh" | "wish" | "expect" | "csh"
        | "tcsh" | "Rscript" | "julia" | "groovy" | "jshell" | "elixir" | "iex" | "guile" | "sbcl"
        | "ghci" | "irb" | "ipython" | "tsx" | "nu" | "xonsh" | "elvish" => Some(Interpreter::Other),
        _ => None,
    }
}

/// What an interpreter is told to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Script<'a> {
    /// This text; the words after it are its arguments.
    Text(Word, &'a [Word]),
    /// What comes on standard input.
    Stdin,
    /// A file.
    File(&'a Word),
    /// Something else: a module, a version number.
    Nothing,
}

/// The letters that bring code, those that bring another value, and those of them that always
/// bring it in the same word.
fn letters_of(kind: Interpreter, program: &str) -> (&'static str, &'static str, &'static str) {
    match (kind, family(program)) {
        (Interpreter::Shell, _) => ("c", "oO", ""),
        (_, "python" | "pypy" | "ipython") => ("c", "WXQ", ""),
        (_, "perl") => ("eE", "I", "MmiF0lCDxV"),
        (_, "ruby" | "irb") => ("e", "IrECK", "FTWx0il"),
        (_, "php") => ("rBRE", "cdfzt", ""),
        (_, "lua" | "luajit") => ("e", "l", ""),
        (_, "osascript") => ("e", "ls", ""),
        (_, "fish" | "csh" | "tcsh" | "expect" | "nu" | "xonsh" | "elvish") => ("c", "", ""),
        (_, "node" | "nodejs" | "bun" | "tsx") => ("ep", "rC", ""),
        (_, "tclsh" | "wish" | "jshell") => ("", "", ""),
        _ => ("eE", "", ""),
    }
}

/// What an interpreter is told to run.
pub(super) fn script<'a>(kind: Interpreter, program: &str, words: &'a [Word]) -> Script<'a> {
    let (code, values, attached) = letters_of(kind, program);
    let python = program.starts_with("py") || program.starts_with("ipy");
    let windows = matches!(program, "pwsh" | "powershell");
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let text = word.text.as_str();
        if word.is("-") || is_stdin(text) {
            return Script::Stdin;
        }
        if text == "--" {
            // Behind it php has only arguments for what it reads.
            return after.first().filter(|_| program != "php").map_or(Script::Stdin, Script::File);
        }
        if !text.starts_with(['-', '+']) {
            match (program, text) {
                ("deno", "eval") => return code_in(kind, after),
                ("deno" | "bun", "run") => rest = after,
                _ => return Script::File(word),
            }
            continue;
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, false), |(name, _)| (name, true));
            match name {
                "eval" | "print" | "command" | "execute" if value => {
                    return Script::Text(word.tail(name.len() + 3), after);
                }
                "eval" | "print" | "command" | "execute" => return code_in(kind, after),
                "version" | "help" => return Script::Nothing,
                "rcfile" | "init-file" => match after.split_first() {
                    Some((file, _)) if file.process => return Script::File(file),
                    _ => rest = after.get(1..).unwrap_or_default(),
                },
                _ => rest = after,
            }
            continue;
        }
        if windows {
            let name = text.trim_start_matches('-').to_ascii_lowercase();
            if !name.is_empty() && "command".starts_with(&name) {
                return code_in(kind, after);
            }
            rest = after;
            continue;
        }
        if prints_about_itself(program, text) && after.is_empty() {
            return Script::Nothing;
        }
        rest = after;
        for (at, letter) in text.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            if code.contains(letter) {
                // `node -pe CODE`: both letters are about the next word.
                let more = text.get(end..).unwrap_or_default().chars().any(|letter| !code.contains(letter));
                let sticks = kind == Interpreter::Other && more;
                return if sticks { Script::Text(word.tail(end), after) } else { code_in(kind, after) };
            }
            if python && letter == 'm' || matches!(text, "-V") {
                return Script::Nothing;
            }
            if kind == Interpreter::Shell && letter == 's' {
                return Script::Stdin;
            }
            if attached.contains(letter) {
                break;
            }
            if values.contains(letter) {
                if end >= text.len() {
                    rest = after.get(1..).unwrap_or_default();
                }
                break;
            }
        }
    }
    Script::Stdin
}

/// Whether an option on its own prints the version or the usage. Python and shells mean something else by `-v`.
fn prints_about_itself(program: &str, option: &str) -> bool {
    match option {
        "-v" => matches!(family(program), "ruby" | "lua" | "luajit" | "node" | "nodejs" | "perl" | "php"),
        "-h" => matches!(family(program), "python" | "pypy" | "ruby" | "node" | "nodejs" | "perl" | "php"),
        _ => false,
    }
}

/// The text behind `-c`; a shell takes more options before it.
fn code_in(kind: Interpreter, words: &[Word]) -> Script<'_> {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let option = kind == Interpreter::Shell && word.text.starts_with(['-', '+']) && !word.opens;
        if !option {
            return Script::Text(word.clone(), after);
        }
        rest = after;
    }
    Script::Nothing
}

/// What runs a text, in one language or another.
const RUNS: &[&str] = &[
    "exec(",
    "eval(",
    "eval)(",
    "eval ",
    "system(",
    "iex",
    "invoke-expression",
    "new function(",
    "execfile",
    "execsync(",
    "execv",
    "popen(",
    "._compile(",
    ".runinthiscontext(",
    ".runinnewcontext(",
    ".runincontext(",
    "vm.script(",
    "loadstring(",
    "marshal.loads(",
    "pickle.loads(",
    "runpy.",
    "exec_module(",
    "shell=true",
    "'bash'",
    "\"bash\"",
    "'sh'",
    "\"sh\"",
    "/bin/sh",
    "/bin/bash",
    "source(",
];

/// Whether code in another language gets something from the network and runs it.
pub(super) fn runs_what_it_fetches(code: &str) -> bool {
    const FETCHES: &[&str] = &[
        "urlopen(",
        "requests.get(",
        "urlretrieve(",
        "httpx.get(",
        "fetch(",
        "httpx.",
        "requests.post(",
        "requests.session(",
        "urllib.request.",
        "urllib3",
        "aiohttp",
        "http.client",
        "http.get(",
        "https.get(",
        "https').get(",
        "https\").get(",
        "http').get(",
        "http\").get(",
        "axios",
        "http::tiny",
        "socket.http",
        "url(\"http",
        "url('http",
        "lwp::",
        "net::http",
        "open-uri",
        "uri.open(",
        "file_get_contents('http",
        "file_get_contents(\"http",
        "curl_exec",
        "downloadstring",
        "iwr ",
        "irm ",
        "invoke-webrequest",
        "invoke-restmethod",
    ];
    let code = code.to_ascii_lowercase();
    FETCHES.iter().any(|part| code.contains(part)) && RUNS.iter().any(|part| code.contains(part))
}

/// Whether code in another language runs what comes on standard input.
pub(super) fn runs_its_input(code: &str) -> bool {
    let code = code.to_ascii_lowercase();
    let runs = ["exec(", "eval(", "eval "].iter().any(|part| code.contains(part));
    runs && (code.contains("stdin.read") || code.contains("<stdin>") || code.contains("/dev/stdin"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Word> {
        line.split(' ').map(Word::literal).collect()
    }

    #[test]
    fn an_interpreter_runs_its_input_only_when_told_nothing_else() {
        let stdin = |line: &str| {
            let words = words(line);
            let (program, rest) = words.split_first().unwrap();
            script(interpreter(&program.text).unwrap(), &program.text, rest) == Script::Stdin
        };
        for line in [
            "sh",
            "bash -",
            "bash -s -- a",
            "bash -eux -o pipefail",
            "python3.12 -",
            "python -u",
            "node",
            "php -- --install-dir=bin",
        ] {
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
            "perl -MJSON -e x",
        ] {
            assert!(!stdin(line), "{line}");
        }
    }

    #[test]
    fn code_is_found_behind_more_options_and_in_the_same_word() {
        for line in [
            "bash -c -e x",
            "bash -c -- x",
            "python3 -cx",
            "node --eval=x",
            "perl -MFile::Path -e x",
            "php -rx",
        ] {
            let words = words(line);
            let (program, rest) = words.split_first().unwrap();
            let found = script(interpreter(&program.text).unwrap(), &program.text, rest);
            assert_eq!(found, Script::Text(Word::literal("x"), &[]), "{line}");
        }
    }
}
