// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads code in languages other than shell: its effects on files, the programs it runs, and the hosts it connects
//! to.
//!
//! The code is not executed. The reader finds calls that access files, start programs or use the network, computes
//! their arguments where possible, and ignores everything else.
//!
//! One reader serves all languages. It splits the text into tokens ([`lex`], [`quote`], [`interpolation`]), walks
//! them once from top to bottom ([`statement`], [`loops`], [`expression`], [`operand`], [`postfix`], [`function`])
//! and looks up every call by its full name ([`call_effects`], [`value_functions`]). The differences between
//! languages are data: `src/languages/NAME.yaml` describes comments, quotes, here-documents, keywords, operators and
//! calls ([`language`]). Only imports, comprehensions and prefixed strings of Python ([`import`]), imports and arrow
//! functions of JavaScript, and awk ([`awk`]) and Lisp ([`lisp`]) as a whole are read by Rust code of their own.
//!
//! Code of languages without a description is read by its literals and well-known calls ([`literals`]). This reader
//! also complements the others in languages whose descriptions are short.
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
mod identifier;
mod import;
mod interpolation;
mod language;
mod lex;
mod lisp;
mod literals;
mod loops;
mod method;
mod network;
mod open;
mod operand;
mod postfix;
mod process_start;
mod quote;
mod reader;
mod signs;
mod statement;
#[cfg(test)]
mod tests;
mod text;
mod unread_text;
mod value;
mod value_functions;

use tenterhook_paths::FileOp;

use language::description::ReaderKind;

pub use alphabet::{decode_base32, decode_base64, decode_hex};
pub use language::CodeLanguage;
pub use literals::read_literals;
pub use signs::{CodeSign, find_signs};
pub use unread_text::{SYNTAX_NOT_UNDERSTOOD, UnreadText};

/// An argument of a call, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallArgument {
    /// Text with `*` for each unknown part. The home directory (`os.path.expanduser`, `os.homedir()`, `ENV["HOME"]`)
    /// is written as `~`.
    pub shape: String,
    /// Whether the whole text is known.
    pub known: bool,
    /// Whether the text is a file pattern: `glob.glob("~/*")`, or `/**` for a walk from `/`.
    pub pattern: bool,
}

/// An effect of the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeEffect {
    /// Runs a string in a shell: `os.system("…")`.
    Shell(CallArgument),
    /// Starts a program with these words: `subprocess.run(["rm", "-rf", "x"])`.
    Start(Vec<CallArgument>),
    /// Operates on a file.
    File {
        /// The operation on the file.
        does: FileOp,
        /// The file or directory.
        path: CallArgument,
        /// Whether the effect includes everything below the path.
        recursive: bool,
    },
    /// Connects to an address: a URL, or `tcp://host:port`.
    Connect(CallArgument),
    /// Runs code of its own language that was downloaded.
    RunsFetched,
    /// Runs code of its own language that is read from standard input.
    RunsInput,
    /// Passes downloaded data to the standard input of a shell: `subprocess.run(["bash"], input=fetched)`.
    ShellRunsFetched,
    /// Runs code that cannot be read: `exec(b64decode(…))`.
    RunsUnknown,
    /// Connects a socket to a shell.
    ReverseShell,
    /// A limit was reached: the text is too long, has too many effects or is nested too deeply.
    Unread,
}

/// Whether code that iterates over files filters them by name, age or size.
pub fn filters_files(code: &str) -> bool {
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

/// Maximum length of code that is read; the rest is ignored. On Linux, no program argument is longer.
const MAX_CODE_BYTES: usize = 128 * 1024;

/// Returns the start of the text, up to the limit that is read.
fn readable_start(code: &str) -> &str {
    code.get(..code.floor_char_boundary(MAX_CODE_BYTES)).unwrap_or_default()
}

/// Reads the effects of code in time linear in its length. Only the start of long code is read.
pub fn read_code(language: CodeLanguage, code: &str) -> Vec<CodeEffect> {
    let start = readable_start(code);
    let mut acts = match language.reader_kind() {
        ReaderKind::Awk => awk::read(language, start),
        ReaderKind::Lisp => lisp::read(language, start),
        ReaderKind::Python if !start.is_ascii() => {
            reader::read(language, &identifier::fold_wide_letters(start))
        }
        ReaderKind::JavaScript if start.contains("\\u") => {
            reader::read(language, &identifier::decode_letter_escapes(start))
        }
        _ => reader::read(language, start),
    };
    if start.len() < code.len() {
        acts.push(CodeEffect::Unread);
    }
    acts
}
