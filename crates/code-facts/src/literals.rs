// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads code of any language by its string literals and well-known calls.
//!
//! The other readers of this crate follow values, but only in described languages. This reader knows no grammar. It
//! splits the text into statements and looks at each one: which calls it contains, which paths and shell commands its
//! literals contain, and whether it names the home directory itself or through a variable. So it also reads languages
//! that are rarely used for scripts, such as Rust, C#, Java, D, Nim, Zig and Wolfram.

mod calls;
mod split;

use std::collections::{HashMap, HashSet};

use tenterhook_paths::FileOp;

use super::{CallArgument, CodeEffect};
use calls::{
    DELETE_CALLS, DELETE_TREE_CALLS, FILTER_CALLS, HOME_LITERALS, HOME_NAMES, READ_CALLS, ROOT_DIRECTORIES,
    RUN_CALLS, SEND_CALLS, SHELLS, WALK_CALLS, WRITE_CALLS,
};
use split::{CodeStatement, split_statements};

/// Maximum number of effects that are found in one text.
const MAX_LITERAL_EFFECTS: usize = 64;
/// Maximum number of variables that are followed.
const MAX_FOLLOWED_NAMES: usize = 256;
/// Maximum length of a literal that is read as a path.
const MAX_PATH_BYTES: usize = 512;
/// Placeholders for values in literals: `{}` in Rust and C#, `%s` in C, `~a` in Lisp.
const PLACEHOLDERS: &[&str] = &["{}", "{0}", "{1}", "%s", "%@", "~a"];

/// Returns the effects that literals and well-known calls in code reveal, in time linear in its length.
pub fn read_literals(code: &str) -> Vec<CodeEffect> {
    let code = super::readable_start(code);
    let lower = code.to_ascii_lowercase();
    let mut reader = LiteralReader { walks: contains_any(&lower, WALK_CALLS), ..LiteralReader::default() };
    for statement in split_statements(code) {
        if reader.effects.len() >= MAX_LITERAL_EFFECTS {
            reader.effects.push(CodeEffect::Unread);
            break;
        }
        reader.read_statement(&statement);
    }
    reader.effects
}

#[derive(Default)]
struct LiteralReader {
    effects: Vec<CodeEffect>,
    /// Whether the code iterates over directories.
    walks: bool,
    /// Variables that contain a path of the home directory.
    home_names: HashSet<String>,
    /// Variables that contain shell text.
    texts: HashMap<String, String>,
    /// Variables that contain paths.
    paths: HashMap<String, Vec<String>>,
}

impl LiteralReader {
    fn read_statement(&mut self, statement: &CodeStatement<'_>) {
        let is_home = self.names_home(statement);
        self.read_files(statement, is_home);
        self.read_commands(statement, is_home);
        if contains_any(&statement.code, SEND_CALLS) {
            let is_url = |text: &&&str| text.starts_with("https://") || text.starts_with("http://");
            let url = statement.literals.iter().find(is_url);
            self.effects.extend(url.map(|url| CodeEffect::Connect(known_argument((*url).to_owned()))));
        }
        self.follow_variables(statement, is_home);
    }

    /// Whether a statement names the home directory: by a call, a variable of the environment, or a variable to which
    /// an earlier statement has assigned it.
    fn names_home(&self, statement: &CodeStatement<'_>) -> bool {
        contains_any(&statement.code, HOME_NAMES)
            || statement
                .literals
                .iter()
                .any(|text| HOME_LITERALS.contains(text) || text.contains("$ENV{HOME}"))
            || !self.home_names.is_empty() && statement.words().any(|word| self.home_names.contains(word))
            || !self.home_names.is_empty()
                && statement
                    .literals
                    .iter()
                    .filter_map(|text| named_placeholder(text))
                    .any(|(name, _)| self.home_names.contains(name))
    }

    /// Adds the files that a statement deletes, writes or reads.
    fn read_files(&mut self, statement: &CodeStatement<'_>, is_home: bool) {
        let deletes_tree = contains_any(&statement.code, DELETE_TREE_CALLS);
        let deletes = deletes_tree || contains_any(&statement.code, DELETE_CALLS);
        let recursive = deletes_tree || self.walks || statement.literals.contains(&"rf");
        let op = if deletes {
            FileOp::Delete
        } else if contains_any(&statement.code, WRITE_CALLS) {
            FileOp::Write
        } else if contains_any(&statement.code, READ_CALLS) {
            FileOp::Read
        } else {
            return;
        };
        let mut paths = paths_of(statement, is_home);
        if paths.is_empty() {
            let named = statement.words().find_map(|word| self.paths.get(word));
            paths = named.cloned().unwrap_or_default();
        }
        if paths.is_empty() {
            // A walk whose files are filtered deletes some files of the home directory, not all.
            let deletes_home =
                is_home && deletes && recursive && !contains_any(&statement.code, FILTER_CALLS);
            if !deletes_home {
                return;
            }
            paths.push("~".to_owned());
        }
        for path in paths {
            let pattern = path.contains('*');
            let path = CallArgument { shape: path, known: true, pattern };
            self.effects.push(CodeEffect::File { does: op, path, recursive: deletes && recursive });
        }
    }

    /// Adds the commands that a statement runs.
    fn read_commands(&mut self, statement: &CodeStatement<'_>, is_home: bool) {
        let runs = contains_any(&statement.code, RUN_CALLS);
        let literals = &statement.literals;
        // `["sh", "-c", TEXT]`, and `["-c", TEXT]` in the arguments of a process.
        let option = literals.iter().position(|text| matches!(*text, "-c" | "-lc" | "-ec" | "-xc"));
        if let Some(at) = option {
            let is_shell =
                at.checked_sub(1).and_then(|at| literals.get(at)).is_some_and(|text| is_shell(text));
            if is_shell || at == 0 && statement.code.contains("arguments") {
                let text = match literals.get(at + 1..) {
                    Some([]) | None => self.text_of_variable(statement).unwrap_or_default(),
                    Some(rest) => join_text(rest, is_home),
                };
                return self.effects.extend(shell_effect(&text));
            }
        }
        if !runs {
            return;
        }
        // `Process.Start("bash", "-c 'TEXT'")`
        let arguments = literals.iter().find_map(|text| text.strip_prefix("-c "));
        if let Some(text) = arguments.filter(|_| literals.iter().any(|text| is_shell(text))) {
            let text = text.trim_matches(['\\', '"', '\'']);
            return self.effects.extend(shell_effect(&fill_placeholders(text, is_home)));
        }
        if let Some(rest) =
            statement.text.split_once("COMMAND ").filter(|_| statement.code.contains("execute_process"))
        {
            let text = rest.1.trim_end_matches(')').replace("$ENV{HOME}", "$HOME");
            return self.effects.extend(shell_effect(&text));
        }
        let start = literals.iter().position(|text| starts_command(text));
        let text = match start.and_then(|start| literals.get(start..)) {
            Some([only]) if !only.trim().contains(char::is_whitespace) => return,
            Some([first, rest @ ..]) if !first.contains(char::is_whitespace) => {
                let words: Vec<_> = std::iter::once(*first).chain(rest.iter().copied()).collect();
                fill_placeholders(&words.join(" "), is_home)
            }
            Some(all) => join_text(all, is_home),
            None => {
                let Some(found) = self.text_of_variable(statement) else { return };
                found
            }
        };
        self.effects.extend(shell_effect(&text));
    }

    /// Remembers what a statement assigns to variables.
    fn follow_variables(&mut self, statement: &CodeStatement<'_>, is_home: bool) {
        let has_text = statement.literals.iter().any(|text| starts_command(text) && text.contains(' '));
        for name in statement.assigned_names() {
            if self.home_names.len() + self.texts.len() + self.paths.len() >= MAX_FOLLOWED_NAMES {
                return;
            }
            let paths = paths_of(statement, is_home);
            if !paths.is_empty() {
                self.paths.insert(name.to_owned(), paths);
            }
            if is_home {
                self.home_names.insert(name.to_owned());
            } else {
                self.home_names.remove(name);
            }
            if has_text {
                self.texts.insert(name.to_owned(), join_text(&statement.literals, is_home));
            }
        }
    }

    /// Returns the shell text in a variable that a statement uses.
    fn text_of_variable(&self, statement: &CodeStatement<'_>) -> Option<String> {
        statement.words().find_map(|word| self.texts.get(word)).cloned()
    }
}

fn contains_any(code: &str, words: &[&str]) -> bool {
    words.iter().any(|word| code.contains(word))
}

/// Returns the paths that the literals of a statement build.
fn paths_of(statement: &CodeStatement<'_>, is_home: bool) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for text in &statement.literals {
        match path_in_literal(text, is_home) {
            Some(LiteralPath::Whole(path)) => paths.push(path.to_owned()),
            Some(LiteralPath::BelowHome(path)) => paths.push(format!("~/{path}")),
            // `home / "Documents" / "x"`
            Some(LiteralPath::Part(part)) => match paths.last_mut() {
                Some(last) => *last = format!("{last}/{part}"),
                None => paths.push(format!("~/{part}")),
            },
            None => {}
        }
    }
    paths
}

/// A path in a literal.
enum LiteralPath<'a> {
    /// An absolute path, or one that begins with `~`.
    Whole(&'a str),
    /// A path that is appended to the home directory: `home + "/x"`.
    BelowHome(&'a str),
    /// A part of a path: `join(home, "x")`.
    Part(&'a str),
}

/// Returns the path in a literal. Only a statement that names the home directory contains parts of paths.
fn path_in_literal(text: &str, is_home: bool) -> Option<LiteralPath<'_>> {
    if text.is_empty() || text.len() > MAX_PATH_BYTES {
        return None;
    }
    let is_path_letter = |letter: char| {
        letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-' | '/' | '*' | '~' | '@' | '+')
    };
    let is_path = |text: &str| text.chars().all(is_path_letter);
    let is_root = ROOT_DIRECTORIES.iter().any(|root| text.starts_with(root));
    if (text.starts_with("~/") || is_root) && is_path(text) {
        return Some(LiteralPath::Whole(text));
    }
    if !is_home || HOME_LITERALS.contains(&text) {
        return None;
    }
    let mut rest = text.strip_prefix("$ENV{HOME}").unwrap_or(text);
    for placeholder in PLACEHOLDERS {
        rest = rest.strip_prefix(placeholder).unwrap_or(rest);
    }
    rest = named_placeholder(rest).map_or(rest, |(_, rest)| rest);
    let is_below = rest.starts_with('/');
    let rest = rest.trim_matches('/');
    if rest.len() <= 2 || !is_path(rest) {
        return None;
    }
    Some(if is_below { LiteralPath::BelowHome(rest) } else { LiteralPath::Part(rest) })
}

/// Returns the name of a variable in braces at the start of a literal, and the rest: `{home}/x`.
fn named_placeholder(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.strip_prefix('{')?.split_once('}')?;
    let is_name =
        name.starts_with(char::is_alphabetic) && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then_some((name, rest))
}

fn is_shell(text: &str) -> bool {
    SHELLS.contains(&text.rsplit('/').next().unwrap_or(text))
}

/// Whether a literal may start with the name of a program.
fn starts_command(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    first.len() > 1
        && first.len() <= 64
        && first.starts_with(|letter: char| letter.is_ascii_lowercase() || letter == '/')
        && first
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '/' | '.' | '_' | '-'))
}

/// Joins the literals of an expression that builds shell text: `"rm -rf " + home + "/x"`.
fn join_text(literals: &[&str], is_home: bool) -> String {
    let parts = literals.iter().map(|text| if HOME_LITERALS.contains(text) { "$HOME" } else { text });
    fill_placeholders(&parts.collect::<String>(), is_home)
}

/// Replaces placeholders by the home directory if the statement names it, else by an unknown value.
fn fill_placeholders(text: &str, is_home: bool) -> String {
    let value = if is_home { "$HOME" } else { "\0" };
    PLACEHOLDERS.iter().fold(text.to_owned(), |text, placeholder| text.replace(placeholder, value))
}

fn shell_effect(text: &str) -> Option<CodeEffect> {
    if text.trim().is_empty() {
        return None;
    }
    let known = !text.contains('\0');
    Some(CodeEffect::Shell(CallArgument { shape: text.replace('\0', "*"), known, pattern: false }))
}

fn known_argument(shape: String) -> CallArgument {
    CallArgument { shape, known: true, pattern: false }
}
