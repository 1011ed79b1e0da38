// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Types for a harness's files and the content that Tenterhook writes into them.

use std::{fmt, path::PathBuf};

use super::jsonc::{CreatedContainers, EditedText, SettingsError};

/// One file of a harness, and the content that Tenterhook writes into it.
#[derive(Debug)]
pub struct ManagedFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Path of the same file in an earlier version of the harness. At its next start the harness copies the old file
    /// to `path`, including Tenterhook's content. So a receipt for the old path is also valid for `path`.
    pub copied_from: Option<PathBuf>,
    /// Content that Tenterhook writes.
    pub content: FileContent,
}

impl ManagedFile {
    /// A file that the harness does not copy from an earlier location.
    pub fn new(path: PathBuf, content: FileContent) -> Self {
        Self { path, copied_from: None, content }
    }
}

/// How much of a file Tenterhook writes.
#[derive(Debug)]
pub enum FileContent {
    /// A part of the file; the rest is the user's.
    Edited(Box<dyn SettingsEditor>),
    /// The whole file.
    Owned(OwnedFile),
}

/// A file that Tenterhook writes as a whole.
#[derive(Debug, Clone)]
pub struct OwnedFile {
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Mode of a new file.
    pub mode: u32,
    /// Whether these bytes were written by any version of Tenterhook. A file that Tenterhook did not write is never
    /// replaced or removed. Formats with comments use [`has_mark`].
    pub is_ours: fn(&[u8]) -> bool,
    /// Strings that the file must contain for the hooks to work.
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

/// Reason why an edited text fails [`SettingsEditor::check`].
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

/// Drops line and column: they refer to the edited text, which is never written to a file.
impl From<SettingsError> for EditCheckError {
    fn from(flaw: SettingsError) -> Self {
        Self { what: flaw.what }
    }
}

/// Inserts Tenterhook's content into a settings file's text, and removes it. Every other byte is unchanged.
pub trait SettingsEditor: fmt::Debug {
    /// The text with Tenterhook's current content. `created` lists containers that earlier installs created.
    fn insert(&self, text: &str, created: &CreatedContainers) -> Result<EditedText, SettingsError>;

    /// The text without Tenterhook's content, and without those containers in `created` that are now empty.
    fn remove(&self, text: &str, created: &CreatedContainers) -> Result<String, SettingsError>;

    /// Whether the text contains anything that Tenterhook wrote. `created` lists containers that earlier installs
    /// created.
    fn contains(&self, text: &str, created: &CreatedContainers) -> Result<bool, SettingsError>;

    /// Checks that `after` has the expected content, and that every program that can read `before` can also read
    /// `after`.
    fn check(&self, before: &str, after: &str) -> Result<(), EditCheckError>;

    /// Whether a text from which Tenterhook's content was removed has no other content.
    fn is_empty_after_removal(&self, text: &str) -> bool;

    /// Strings that the file must contain for the hooks to work.
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
    /// The hooks work in spite of the warning.
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

    /// A warning about something that the user has to do before the hooks work.
    pub fn pending(message: impl Into<String>) -> Self {
        Self { weight: WarningLevel::Pending, message: message.into() }
    }

    /// A warning that the harness does not run the hooks.
    pub fn blocks(message: impl Into<String>) -> Self {
        Self { weight: WarningLevel::Blocks, message: message.into() }
    }
}
