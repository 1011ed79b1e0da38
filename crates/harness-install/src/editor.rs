// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One file of a harness, and what of ours belongs in it.

use std::{fmt, path::PathBuf};

use super::jsonc::{Created, Edited, Flaw};

/// One file, and what of ours belongs in it.
#[derive(Debug)]
pub struct Piece {
    /// The file.
    pub path: PathBuf,
    /// A file of an earlier version of the harness that it copies to `path` at its next start, with what is ours
    /// in it. Its receipt also holds for the copy.
    pub copied_from: Option<PathBuf>,
    /// What belongs in it.
    pub content: Content,
}

impl Piece {
    /// A file that only we and the user write.
    pub fn new(path: PathBuf, content: Content) -> Self {
        Self { path, copied_from: None, content }
    }
}

/// What of a file is ours.
#[derive(Debug)]
pub enum Content {
    /// A part of it: the rest is the person's.
    Edited(Box<dyn Editor>),
    /// All of it.
    Owned(Owned),
}

/// A file that is ours from the first byte to the last.
#[derive(Debug, Clone)]
pub struct Owned {
    /// What it holds.
    pub bytes: Vec<u8>,
    /// Its mode when it is made.
    pub mode: u32,
    /// Whether a file found in its place is one of ours, of whatever version; [`marked`] fits whatever has
    /// comments. Any other file is never replaced and never removed.
    pub is_ours: fn(&[u8]) -> bool,
    /// What has to be in the file for our hooks to work.
    pub holds: Vec<String>,
    /// What the person should know.
    pub warnings: Vec<Warning>,
}

/// What is to be found in the first lines of files that are ours, in a comment.
pub const MARK: &str = "Written by `tenterhook install`";

/// Whether the file says in its first lines that it is ours.
pub fn marked(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(512)).unwrap_or_default();
    String::from_utf8_lossy(head).contains(MARK)
}

/// An edited text that does not say what it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct EditCheckError {
    /// What is missing or wrong.
    pub what: String,
}

impl EditCheckError {
    /// An error that says this.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}

/// Line and column are dropped: they refer to a text that was never written.
impl From<Flaw> for EditCheckError {
    fn from(flaw: Flaw) -> Self {
        Self { what: flaw.what }
    }
}

/// Puts what is ours into a text, and takes it out again; every other byte stays as it is.
pub trait Editor: fmt::Debug {
    /// The text with ours in it, brought up to date. `created` is what earlier installs had to create.
    fn put(&self, text: &str, created: &Created) -> Result<Edited, Flaw>;

    /// The text without ours, and without those of the containers in `created` that are left empty.
    fn take(&self, text: &str, created: &Created) -> Result<String, Flaw>;

    /// Whether anything of ours is in the text. `created` is what earlier installs had to create.
    fn holds(&self, text: &str, created: &Created) -> Result<bool, Flaw>;

    /// Checks that `after` says what it should, and can be read by whoever could read `before`.
    fn check(&self, before: &str, after: &str) -> Result<(), EditCheckError>;

    /// Whether a text from which ours was taken says nothing any more.
    fn is_hollow(&self, text: &str) -> bool;

    /// Pieces of text that have to be in the file for our hooks to work, as they stand there.
    fn marks(&self) -> Vec<String>;

    /// What in the text keeps our hooks from working.
    fn warnings(&self, text: &str) -> Result<Vec<Warning>, Flaw>;
}

/// Something the person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// How much it matters.
    pub weight: Weight,
    /// One sentence.
    pub says: String,
}

/// How much a warning matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Our hooks work all the same.
    Note,
    /// A person has to do something first.
    Pending,
    /// Our hooks are not heeded.
    Blocks,
}

impl Warning {
    /// Our hooks work all the same.
    pub fn note(says: impl Into<String>) -> Self {
        Self { weight: Weight::Note, says: says.into() }
    }

    /// A person has to do something first.
    pub fn pending(says: impl Into<String>) -> Self {
        Self { weight: Weight::Pending, says: says.into() }
    }

    /// Our hooks are not heeded.
    pub fn blocks(says: impl Into<String>) -> Self {
        Self { weight: Weight::Blocks, says: says.into() }
    }
}
