// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Code in languages other than shell: what it does to files, what it runs, where it connects.
//!
//! The code is not interpreted. The reader finds calls that touch files, start programs or reach the network,
//! together with those of their arguments that can be computed, and ignores everything else.
//!
//! One reader serves all languages. It splits the text into tokens ([`lex`], [`quote`], [`interpolation`]), walks
//! them once from top to bottom ([`statement`], [`loops`], [`expression`], [`operand`], [`postfix`], [`function`]) and
//! looks up every call by its full name ([`call_effects`], [`value_functions`]). What differs between languages is
//! data: `src/languages/NAME.yaml` describes comments, quotes, here-documents, keywords, operators and calls
//! ([`language`]). Only imports, comprehensions and prefixed strings of Python ([`import`]), imports and arrow
//! functions of JavaScript, and awk as a whole ([`awk`]) are read by Rust code of their own.
//!
//! # Adding a language
//!
//! 1. Write `src/languages/NAME.yaml`; start from the most similar one. The keys
//!    under `lexical` are explained in `language/lexical.rs`, those under `syntax` and `names` in
//!    `language/description.rs`, the lines under `calls` in `language/call.rs`. The build checks the file and reports
//!    mistakes with line and column.
//! 2. Describe the interpreters in `programs/interpreters.yaml`, with `language: NAME` and the options that take code.
//! 3. Add examples to `tests/NAME.rs`, both of calls that are found and of text that only looks like calls. The
//!    tests with hostile input run for every described language.

mod alphabet;
mod args;
mod awk;
mod call_effects;
mod comments;
mod expression;
mod function;
mod import;
mod interpolation;
mod language;
mod lex;
mod loops;
mod method;
mod network;
mod open;
mod operand;
mod postfix;
mod process_start;
mod quote;
mod reader;
mod statement;
#[cfg(test)]
mod tests;
mod text;
mod value;
mod value_functions;

use tenterhook_paths::Does;

use language::description::ReaderKind;

pub use alphabet::{decode_base32, decode_base64, decode_hex};
pub use language::Language;

/// An argument of a call, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its text with `*` for whatever is not known; `~` and `$HOME` of the language's own kind
    /// (`os.path.expanduser`, `os.homedir()`, `ENV["HOME"]`) as `~`.
    pub shape: String,
    /// Whether all of it is known.
    pub known: bool,
    /// Whether it names files by a pattern: `glob.glob("~/*")`, or `/**` for a walk from `/`.
    pub pattern: bool,
}

/// Something the code would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Runs a text in a shell: `os.system("…")`.
    Shell(Argument),
    /// Starts a program with these words: `subprocess.run(["rm", "-rf", "x"])`.
    Start(Vec<Argument>),
    /// Does something to a file.
    File {
        /// What it does.
        does: Does,
        /// The file or directory.
        path: Argument,
        /// Whether everything below it, too.
        recursive: bool,
    },
    /// Connects to an address: a URL, or `tcp://host:port`.
    Connect(Argument),
    /// Runs a text of its own language that it got from the network.
    RunsFetched,
    /// Runs a text of its own language that it reads from its input.
    RunsInput,
    /// A shell reads from its input what came from the network: `subprocess.run(["bash"], input=fetched)`.
    ShellRunsFetched,
    /// Runs code that cannot be read: `exec(b64decode(…))`.
    RunsUnknown,
    /// Joins a socket to a shell.
    ReverseShell,
    /// More than is read: the text is too long, does too much or is nested too deeply.
    Unread,
}

/// Whether code has any word by which other programs, or texts, are run.
pub fn may_run(code: &str) -> bool {
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
pub fn chooses(code: &str) -> bool {
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
pub fn without_patterns(language: Language, code: &str) -> String {
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
pub fn read(language: Language, code: &str) -> Vec<Act> {
    let start = start(code);
    let mut acts = if language.has_reader(ReaderKind::Awk) {
        awk::read(language, start)
    } else {
        reader::read(language, start)
    };
    if start.len() < code.len() {
        acts.push(Act::Unread);
    }
    acts
}
