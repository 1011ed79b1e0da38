// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Code in languages other than shell: what it does to files, what it runs, where it connects.
//!
//! It is not understood as shell is. Calls that are known to touch files, start programs or reach
//! the network are found with their literal arguments; everything else is left alone.
//!
//! The text is split into tokens ([`lex`], [`quote`]), walked once from top to bottom
//! ([`statement`], [`expression`]), and every call is looked up by its full name ([`calls`]).

mod args;
mod awk;
mod behind;
mod calls;
mod expression;
mod function;
mod import;
mod lex;
mod makes;
mod method;
mod open;
mod operand;
mod parts;
mod perform;
mod pure;
mod quote;
mod reader;
mod repeat;
mod start;
mod statement;
#[cfg(test)]
mod tests;
mod text;
mod value;

/// A language that is looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
    Perl,
    Ruby,
    Php,
    Lua,
    Awk,
}

/// An argument of a call, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Argument {
    /// Its text with `*` for whatever is not known; `~` and `$HOME` of the language's own kind
    /// (`os.path.expanduser`, `os.homedir()`, `ENV["HOME"]`) as `~`.
    pub(crate) shape: String,
    /// Whether all of it is known.
    pub(crate) known: bool,
    /// Whether it names files by a pattern: `glob.glob("~/*")`, or `/**` for a walk from `/`.
    pub(crate) pattern: bool,
}

/// Something the code would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// Runs a text in a shell: `os.system("…")`.
    Shell(Argument),
    /// Starts a program with these words: `subprocess.run(["rm", "-rf", "x"])`.
    Start(Vec<Argument>),
    /// Does something to a file.
    File {
        does: super::Does,
        path: Argument,
        recursive: bool,
    },
    /// Connects to an address: a URL, or `tcp://host:port`.
    Connect(Argument),
    /// Runs a text of its own language that it got from the network or from its input.
    RunsFetched,
    RunsInput,
    /// Runs code that cannot be read: `exec(b64decode(…))`.
    RunsUnknown,
    /// Joins a socket to a shell.
    ReverseShell,
    /// More than is read: the text is too long, does too much or is nested too deeply.
    Unread,
}

/// Whether code has any word by which other programs, or texts, are run.
pub(crate) fn may_run(code: &str) -> bool {
    const WORDS: &[&str] = &[
        "system",
        "popen",
        "Popen",
        "exec",
        "Exec",
        "eval",
        "spawn",
        "Spawn",
        "subprocess",
        "child_process",
        "fork",
        "getattr",
        "__import__",
        "__dict__",
        "__builtins__",
        "compile(",
        "importlib",
        "builtins",
        "globals(",
        "Function(",
        "constructor",
        "pty",
        "ctypes",
        "send(",
        "Open3",
        "open3",
        "passthru",
        "create_function",
        "run(",
        "call(",
        "check_output",
        "shell=",
        "shell_",
        "shelljs",
        "Shell",
        "execa",
        "Command",
        "qx",
        "%x",
        "`",
        "pexpect",
        "plumbum",
        "paramiko",
        "fabric",
        "runpy",
        "pickle",
        "marshal",
        "dispatch",
        "fromCharCode",
        "decode",
        "unpack",
        "pack(",
        "fromhex",
        "hex(",
        " sh(",
        "\"|",
        "'|",
        "|\"",
        "|'",
        "'+'",
        "\"+\"",
        "' + '",
        "\" + \"",
        "chr(",
        "[::-1]",
    ];
    WORDS.iter().any(|word| code.contains(word))
}

/// Whether code that goes through files looks at what they are called, or how old they are.
pub(crate) fn chooses(code: &str) -> bool {
    const WORDS: &[&str] = &[
        "endswith",
        "startswith",
        "endsWith",
        "startsWith",
        "end_with",
        "start_with",
        "suffix",
        "extname",
        "splitext",
        "fnmatch",
        "match",
        "=~",
        "mtime",
        "filter(",
        "grep",
        ".test(",
        "includes(",
        ".ext",
        " not in ",
        "getsize",
        "st_size",
        "stem",
        "basename",
        ".name ",
        "str_ends_with",
        "str_contains",
        "preg_",
    ];
    WORDS.iter().any(|word| code.contains(word))
}

/// The code, as much of it as is read, without its regular expressions: what one looks for is not what
/// one does.
pub(crate) fn without_patterns(language: Language, code: &str) -> String {
    let mut rest = start(code);
    let mut out = String::with_capacity(rest.len());
    for token in lex::tokens(language, rest) {
        let Some((before, after)) = rest.split_once(token.text) else { continue };
        out.push_str(before);
        // `s/a/code/e` runs its second half.
        let runs = token
            .text
            .rsplit(|c: char| !c.is_ascii_alphabetic())
            .next()
            .is_some_and(|flags| flags.contains('e'));
        let put = if token.kind == lex::Kind::Pattern && !runs { " " } else { token.text };
        out.push_str(put);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// No more of a text is read. On Linux no argument of a program is longer.
const LONGEST: usize = 128 * 1024;

/// As much of a text as is read.
fn start(code: &str) -> &str {
    code.get(..code.floor_char_boundary(LONGEST)).unwrap_or_default()
}

/// What code would do. Bounded: linear in the text, of which the start is read.
pub(crate) fn read(language: Language, code: &str) -> Vec<Act> {
    let start = start(code);
    let mut acts = if language == Language::Awk { awk::read(start) } else { reader::read(language, start) };
    if start.len() < code.len() {
        acts.push(Act::Unread);
    }
    acts
}
