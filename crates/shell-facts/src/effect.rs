// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Describes the effects of a call on files, independent of the tool, program or language that causes them.
//!
//! A rule about deletion should not have to list `rm`, `find -delete`, `rsync --delete` and `shutil.rmtree`. Every
//! way to delete a file results in the same [`FileEffect`].

mod by_role;
mod copy_mode;
mod downloads;
mod find_effects;
mod git;
mod transfers;

use serde::{Deserialize, Serialize};
use tenterhook_paths::{Certainty, FileOp, PathFact};

use super::{ShellWord, TextSpan};
pub(crate) use by_role::{most_harmful_match, program_effects};

/// Where a command runs, or a file effect takes place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Side"))]
pub enum ExecLocation {
    /// On this machine.
    #[default]
    Here,
    /// In a container or below another root directory.
    Container,
    /// On another machine.
    Remote,
}

/// An effect of a program on a path among its words, before the path is resolved.
#[derive(Debug, Clone)]
pub(crate) struct OperandEffect {
    pub(crate) does: FileOp,
    pub(crate) path: ShellWord,
    /// Whether the effect includes everything below the path.
    pub(crate) recursive: bool,
    /// Whether the path is only part of a word (`of=~/x`), so that the shell has not expanded a `~` in it.
    pub(crate) inner: bool,
    /// Where the effect takes place, if not where the program runs.
    pub(crate) on: Option<ExecLocation>,
}

impl OperandEffect {
    pub(crate) fn new(does: FileOp, path: &ShellWord) -> Self {
        Self { does, path: path.clone(), recursive: false, inner: false, on: None }
    }

    pub(crate) fn recursive(self, recursive: bool) -> Self {
        Self { recursive, ..self }
    }

    fn inside_word(self, inner: bool) -> Self {
        Self { inner, ..self }
    }
}

/// An operation on one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileEffect {
    /// The operation on the path.
    pub does: FileOp,
    /// The path that is affected.
    pub path: PathFact,
    /// Whether the effect includes everything below the path.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recursive: bool,
    /// The program or tool that causes the effect.
    pub by: String,
    /// Where the effect takes place.
    pub on: ExecLocation,
    /// Whether the effect is certain or only possible.
    #[serde(skip_serializing_if = "Certainty::is_certain")]
    pub certainty: Certainty,
    /// Position of the command that causes the effect; `None` if the tool itself does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<TextSpan>,
}

impl FileEffect {
    /// Whether the effect includes everything below the path. A directory is always moved with its content.
    pub fn reaches_below(&self) -> bool {
        self.recursive || self.does == FileOp::Move
    }
}

/// Creates a word for the working directory.
fn current_directory() -> ShellWord {
    ShellWord::literal(".")
}

/// Joins a relative word to the directory that an option names.
pub(super) fn resolve_in(directory: Option<&ShellWord>, word: &ShellWord) -> ShellWord {
    /// Maximum length of a directory. Longer ones count as unknown, because joining many words to them would use too
    /// much memory.
    const MAX_DIRECTORY_BYTES: usize = 1024;
    let Some(directory) = directory.filter(|_| !word.shape.starts_with('/')) else { return word.clone() };
    if directory.shape.len() > MAX_DIRECTORY_BYTES {
        return ShellWord {
            text: word.text.clone(),
            shape: "*".to_owned(),
            dynamic: true,
            ..ShellWord::default()
        };
    }
    ShellWord {
        text: format!("{}/{}", directory.text, word.text),
        shape: format!("{}/{}", directory.shape, word.shape),
        dynamic: word.dynamic || directory.dynamic,
        pattern: word.pattern || directory.pattern,
        ..directory.clone()
    }
}

/// Whether a path is a device that stores nothing: written data is lost, and read data is generated.
pub(crate) fn is_device_without_content(path: &str) -> bool {
    const DEVICES_WITHOUT_CONTENT: &[&str] = &[
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
    DEVICES_WITHOUT_CONTENT.contains(&path)
        || ["/dev/null/", "/dev/fd/", "/proc/self/fd/", "/dev/pts/"]
            .iter()
            .any(|start| path.starts_with(start))
}
