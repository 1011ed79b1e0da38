// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One command that would run.

use std::sync::Arc;

use serde::Serialize;

use super::super::home_of;
use super::super::path::{Found, Ground, PathFact};
use super::options::{self, ShellOption};
use super::word::Word;

/// One command that would run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ShellCommand {
    /// The program's name without its directory; empty when it is only known when it runs.
    pub program: String,
    /// The program as written.
    pub raw: String,
    /// Everything after it.
    pub words: Vec<Word>,
    /// The options among the words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<ShellOption>,
    /// The words that are no options, as paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<PathFact>,
    /// Other paths the command names: values of options, `@file`, `key=file`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<PathFact>,
    /// Files redirected into it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<PathFact>,
    /// Files its output is redirected into.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<PathFact>,
    /// The programs its output reaches. An interpreter that takes it for data is not among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feeds: Vec<String>,
    /// The programs that start it, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// Whether an unknown word may turn out to be an option.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open_options: bool,
    /// Texts it is known to print.
    #[serde(skip)]
    pub(super) said: Vec<Arc<str>>,
}

impl ShellCommand {
    /// A command from its words; the first is the program.
    pub(super) fn new(words: &[Word], ground: &Ground, cwd: Option<&str>) -> Option<Self> {
        let (first, rest) = words.split_first()?;
        let program = if first.dynamic { String::new() } else { program_name(&first.text).to_owned() };
        let parsed = options::parse(&program, rest);
        let operands = parsed.operands.iter().map(|word| fact(word, ground, cwd)).collect();
        let named = parsed
            .values
            .iter()
            .map(|word| fact(word, ground, cwd))
            .chain(rest.iter().filter_map(|word| inner_path(word, ground, cwd)))
            .collect();
        Some(Self {
            program,
            raw: first.text.clone(),
            words: rest.to_vec(),
            options: parsed.options,
            operands,
            named,
            open_options: parsed.open,
            ..Self::default()
        })
    }
}

/// The last part of a program's path.
pub(super) fn program_name(raw: &str) -> &str {
    raw.rsplit('/').next().unwrap_or(raw)
}

/// A word as a path.
pub(super) fn fact(word: &Word, ground: &Ground, cwd: Option<&str>) -> PathFact {
    let found = Found { text: &word.text, shape: &word.shape, dynamic: word.dynamic, pattern: word.pattern };
    ground.fact(&found, cwd)
}

/// The path in `@file`, `key=file`, `key=@file`, `key=<file`, `--option=file`.
fn inner_path(word: &Word, ground: &Ground, cwd: Option<&str>) -> Option<PathFact> {
    let value = match word.shape.split_once('=') {
        Some((_, value)) => value,
        None => word.shape.strip_prefix('@')?,
    };
    let path = value.trim_start_matches(['@', '<']);
    let whole = home_of(path, &ground.home);
    let shape = whole.as_deref().unwrap_or(path);
    let found = Found { text: &word.text, shape, dynamic: word.dynamic, pattern: word.pattern };
    (!path.is_empty()).then(|| ground.fact(&found, cwd))
}
