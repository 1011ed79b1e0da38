// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What is known at one point of a script: variables, the working directory, standard input.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::path::{Ground, resolve};
use super::word::{Expansion, Word};

/// A longer value is not kept: scopes are copied often.
const LONGEST_VALUE: usize = 4096;

/// What is known at one point of a script.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    vars: BTreeMap<String, Expansion>,
    functions: BTreeMap<String, Arc<str>>,
    /// `None` when it cannot be told.
    pub(super) cwd: Option<String>,
    /// What standard input carries.
    pub(super) stdin: Stream,
    /// The programs through which this point is reached, outermost first.
    pub(super) via: Vec<String>,
    /// Whether `$1`, `$2`, … that are not set are sure to be empty.
    pub(super) arguments_known: bool,
}

/// What flows into a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Stream {
    /// The commands whose output it is, by their index.
    pub(super) from: Vec<usize>,
    /// The texts that are known to be in it.
    pub(super) texts: Vec<Arc<str>>,
}

impl Scope {
    /// The start of a text that a harness hands to a shell, without arguments.
    pub(super) fn new(cwd: Option<&str>, ground: &Ground) -> Self {
        let mut vars = BTreeMap::new();
        vars.insert("HOME".to_owned(), Expansion::literal(&ground.home));
        vars.insert("TMPDIR".to_owned(), Expansion::literal("/tmp"));
        vars.insert("IFS".to_owned(), Expansion::literal(" "));
        Self {
            vars,
            functions: BTreeMap::new(),
            cwd: cwd.and_then(|cwd| resolve(None, cwd)),
            stdin: Stream::default(),
            via: Vec::new(),
            arguments_known: true,
        }
    }

    /// The scope of something that this program starts.
    pub(super) fn through(&self, program: &str) -> Self {
        let mut inner = self.clone();
        inner.via.push(program.to_owned());
        inner
    }

    /// The scope of something that gets this on standard input.
    pub(super) fn fed(&self, stdin: &Stream) -> Self {
        let mut inner = self.clone();
        inner.stdin.clone_from(stdin);
        inner
    }

    /// Gives it the arguments `$1`, `$2`, …
    pub(super) fn with_arguments(mut self, arguments: &[Word]) -> Self {
        let mut all = Expansion::default();
        self.vars.retain(|name, _| !is_argument(name));
        for (at, word) in arguments.iter().enumerate() {
            let value = word.to_value();
            if at > 0 {
                all.append(Expansion::literal(" "));
            }
            all.append(value.clone());
            self.vars.insert((at + 1).to_string(), value);
        }
        self.vars.insert("@".to_owned(), all.clone());
        self.vars.insert("*".to_owned(), all);
        self.arguments_known = true;
        self
    }

    /// Somebody may give it any arguments.
    pub(super) fn with_any_arguments(mut self) -> Self {
        self.vars.retain(|name, _| !is_argument(name));
        self.arguments_known = false;
        self
    }

    pub(super) fn get(&self, name: &str) -> Option<Expansion> {
        match self.vars.get(name) {
            _ if name == "PWD" => self.cwd.as_deref().map(Expansion::literal),
            Some(value) => Some(value.clone()),
            None => (self.arguments_known && is_argument(name)).then(Expansion::default),
        }
    }

    pub(super) fn set(&mut self, name: &str, value: Expansion) {
        let value = if value.atoms.len() > LONGEST_VALUE {
            Expansion { from: value.from, ..Expansion::unknown(&format!("${name}"), false) }
        } else {
            value
        };
        self.vars.insert(name.to_owned(), value);
    }

    pub(super) fn function(&self, name: &str) -> Option<Arc<str>> {
        self.functions.get(name).cloned()
    }

    pub(super) fn define(&mut self, name: &str, body: Arc<str>) {
        self.functions.insert(name.to_owned(), body);
    }

    /// How much there is to copy.
    pub(super) fn size(&self) -> usize {
        let values: usize = self.vars.values().map(|value| 1 + value.atoms.len() / 64).sum();
        1 + (values + self.functions.len() + self.stdin.from.len()) / 8
    }

    /// Keeps only what holds whether or not the other branch was taken.
    pub(super) fn meet(&mut self, other: &Self) {
        let names: Vec<String> = self.vars.keys().chain(other.vars.keys()).cloned().collect();
        for name in names {
            if self.vars.get(&name) == other.vars.get(&name) {
                continue;
            }
            let mut unknown = Expansion::unknown(&format!("${name}"), false);
            for branch in [&*self, other] {
                unknown.from.extend(branch.vars.get(&name).into_iter().flat_map(|value| &value.from));
            }
            self.vars.insert(name, unknown);
        }
        if self.cwd != other.cwd {
            self.cwd = None;
        }
    }
}

fn is_argument(name: &str) -> bool {
    matches!(name, "@" | "*") || name.len() <= 2 && name != "0" && name.chars().all(|c| c.is_ascii_digit())
}
