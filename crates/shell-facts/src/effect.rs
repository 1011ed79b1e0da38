// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a call does to files, whichever tool, program or language does it.
//!
//! A rule about deleting should not have to know `rm`, `find -delete`, `rsync --delete`,
//! `shutil.rmtree` and the next one. Every way of doing a thing ends in the same [`Effect`].

mod fetch;
mod landing;
mod programs;
mod search;
mod transfer;
mod version;

use serde::{Deserialize, Serialize};
use tenterhook_paths::{Certainty, Does, PathFact};

use super::{TextSpan, Word};
pub(crate) use programs::{programs_like, touches};

/// Where it happens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Side {
    /// On this machine.
    #[default]
    Here,
    /// In a container or another root of the file system.
    Container,
    /// On another machine.
    Remote,
}

/// Something a program does to a path it names.
#[derive(Debug, Clone)]
pub(crate) struct Touch {
    pub(crate) does: Does,
    pub(crate) path: Word,
    /// Whether everything below it, too.
    pub(crate) deep: bool,
    /// Whether it is only a part of a word (`of=~/x`): no shell has looked for a `~` in it.
    pub(crate) inner: bool,
    /// Where, if not where the program runs.
    pub(crate) on: Option<Side>,
}

impl Touch {
    pub(crate) fn new(does: Does, path: &Word) -> Self {
        Self { does, path: path.clone(), deep: false, inner: false, on: None }
    }

    pub(crate) fn deep(self, deep: bool) -> Self {
        Self { deep, ..self }
    }

    fn inner(self, inner: bool) -> Self {
        Self { inner, ..self }
    }
}

/// One thing that would be done to one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Effect {
    /// What.
    pub does: Does,
    /// To what.
    pub path: PathFact,
    /// Whether everything below it, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recursive: bool,
    /// The program, or the tool.
    pub by: String,
    /// Where.
    pub on: Side,
    /// How sure it is.
    #[serde(skip_serializing_if = "Certainty::is_certain")]
    pub certainty: Certainty,
    /// The command that does it; `None` if the tool itself does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<TextSpan>,
}

impl Effect {
    /// Whether it is done to what is below the path as well: a directory that is moved takes along all
    /// that is in it.
    pub fn reaches_below(&self) -> bool {
        self.recursive || self.does == Does::Move
    }
}

/// The working directory.
fn here() -> Word {
    Word::literal(".")
}

/// A word seen from a directory that an option names.
pub(super) fn within(directory: Option<&Word>, word: &Word) -> Word {
    /// No system has longer ones; many words seen from a very long one would not fit in memory.
    const LONGEST: usize = 1024;
    let Some(directory) = directory.filter(|_| !word.shape.starts_with('/')) else { return word.clone() };
    if directory.shape.len() > LONGEST {
        return Word { text: word.text.clone(), shape: "*".to_owned(), dynamic: true, ..Word::default() };
    }
    Word {
        text: format!("{}/{}", directory.text, word.text),
        shape: format!("{}/{}", directory.shape, word.shape),
        dynamic: word.dynamic || directory.dynamic,
        pattern: word.pattern || directory.pattern,
        ..directory.clone()
    }
}

/// Whether nothing is kept in it: what is written there is gone, what is read was never there.
pub(crate) fn is_nothing(path: &str) -> bool {
    const NOTHING: &[&str] = &[
        "/dev/null",
        "/dev/stdout",
        "/dev/stderr",
        "/dev/stdin",
        "/dev/tty",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/urandom",
        "/dev/ptmx",
    ];
    NOTHING.contains(&path)
        || ["/dev/null/", "/dev/fd/", "/proc/self/fd/", "/dev/pts/"]
            .iter()
            .any(|start| path.starts_with(start))
}
