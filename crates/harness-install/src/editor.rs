// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One file of a harness, and the content that Tenterhook writes into it.

use std::{fmt, path::PathBuf};

use super::jsonc::{CreatedContainers, EditedText, SettingsError};

/// One file, and Tenterhook's content of it.
#[derive(Debug)]
pub struct ManagedFile {
    /// Path of the file.
    pub path: PathBuf,
    /// A file of an earlier version of the harness, which the harness copies to `path` at its next start, with Tenterhook's
    /// content. Its receipt is also valid for the copy.
    pub copied_from: Option<PathBuf>,
    /// Tenterhook's content of the file.
    pub content: FileContent,
}

impl ManagedFile {
    /// A file that only Tenterhook and the user write.
    pub fn new(path: PathBuf, content: FileContent) -> Self {
        Self { path, copied_from: None, content }
    }
}

/// The part of a file that is Tenterhook's.
#[derive(Debug)]
pub enum FileContent {
    /// A part of the file; the rest is the user's.
    Edited(Box<dyn SettingsEditor>),
    /// The whole file.
    Owned(OwnedFile),
}

/// A file that is written by Tenterhook as a whole.
#[derive(Debug, Clone)]
pub struct OwnedFile {
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Mode of a new file.
    pub mode: u32,
    /// Whether an existing file was written by any version of Tenterhook; [`has_mark`] is for formats with comments. Any
    /// other file is never replaced or removed.
    pub is_ours: fn(&[u8]) -> bool,
    /// Texts that the file must contain for the hooks to work.
    pub holds: Vec<String>,
    /// Warnings for the user.
    pub warnings: Vec<InstallWarning>,
}

/// Comment in the first lines of files that Tenterhook wrote.
pub const MARK: &str = "Written by `tenterhook install`";

/// Whether the first lines contain [`MARK`].
pub fn has_mark(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(512)).unwrap_or_default();
    String::from_utf8_lossy(head).contains(MARK)
}

/// An edited text that does not have the expected content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct EditCheckError {
    /// What is missing or wrong.
    pub what: String,
}

impl EditCheckError {
    /// An error with this description.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}

/// Line and column are dropped: they refer to a text that was never written.
impl From<SettingsError> for EditCheckError {
    fn from(flaw: SettingsError) -> Self {
        Self { what: flaw.what }
    }
}

/// Inserts Tenterhook's content into a text, and removes it; every other byte is unchanged.
pub trait SettingsEditor: fmt::Debug {
    /// The text with up-to-date content. `created` lists what earlier installs created.
    fn insert(&self, text: &str, created: &CreatedContainers) -> Result<EditedText, SettingsError>;

    /// The text without Tenterhook's content, and without the containers in `created` that are empty.
    fn remove(&self, text: &str, created: &CreatedContainers) -> Result<String, SettingsError>;

    /// Whether the text has any content of Tenterhook. `created` lists what earlier installs created.
    fn contains(&self, text: &str, created: &CreatedContainers) -> Result<bool, SettingsError>;

    /// Checks that `after` has the expected content, and that programs that can read `before` can read it.
    fn check(&self, before: &str, after: &str) -> Result<(), EditCheckError>;

    /// Whether nothing is left in a text after the removal.
    fn is_empty_after_removal(&self, text: &str) -> bool;

    /// Texts that the file must contain for the hooks to work.
    fn required_texts(&self) -> Vec<String>;

    /// Warnings about settings in the text that keep the hooks from running.
    fn warnings(&self, text: &str) -> Result<Vec<InstallWarning>, SettingsError>;
}

/// A warning for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallWarning {
    /// Severity of the warning.
    pub weight: WarningLevel,
    /// Text of the warning, one sentence.
    pub message: String,
}

/// Severity of a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarningLevel {
    /// The hooks work.
    Note,
    /// The user has to do something before the hooks work.
    Pending,
    /// The harness does not run the hooks.
    Blocks,
}

impl InstallWarning {
    /// A warning that does not affect the hooks.
    pub fn note(message: impl Into<String>) -> Self {
        Self { weight: WarningLevel::Note, message: message.into() }
    }

    /// A warning about something that the user has to do first.
    pub fn pending(message: impl Into<String>) -> Self {
        Self { weight: WarningLevel::Pending, message: message.into() }
    }

    /// A warning that the harness does not run the hooks.
    pub fn blocks(message: impl Into<String>) -> Self {
        Self { weight: WarningLevel::Blocks, message: message.into() }
    }
}
