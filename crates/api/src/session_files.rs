// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Files that a session read or changed.

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;

use crate::MissingContent;

/// Files that a session changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionFiles {
    /// All changed files, in the order of their first change.
    pub files: Vec<ChangedFile>,
    /// All changes, oldest first.
    pub changes: Vec<FileChange>,
    /// Number of files that are not listed, plus the number of calls whose files are unknown.
    pub left_out: u64,
}

/// A file that a session changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedFile {
    /// Path of the file.
    pub path: String,
    /// Path relative to the project.
    pub shown: String,
    /// Number of changes.
    pub changes: u64,
    /// Tools that changed the file.
    pub tools: Vec<String>,
    /// Number of lines added, as far as calls and results report them.
    pub added: u64,
    /// Number of lines removed, as far as calls and results report them.
    pub removed: u64,
    /// Whether the last change deleted the file or moved it away.
    pub deleted: bool,
    /// Time of the last change.
    pub last: Option<Timestamp>,
    /// How the file was changed outside the session; null if it was not changed or this is unknown.
    pub behind: Option<OutsideChange>,
}

/// One change to one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileChange {
    /// Number of the call's record.
    pub seq: u64,
    /// Time of the call.
    pub ts: Timestamp,
    /// Path of the file.
    pub path: String,
    /// Path relative to the project.
    pub shown: String,
    /// Name of the tool.
    pub tool: String,
    /// How the call changes the file.
    pub how: FileChangeKind,
    /// Whether the call ran.
    pub state: FileChangeState,
    /// Number of lines added.
    pub added: Option<u64>,
    /// Number of lines removed.
    pub removed: Option<u64>,
    /// The harness's id for the call.
    pub tool_use_id: Option<String>,
    /// The subagent that made the call.
    pub agent: Option<String>,
    /// How the file was changed outside the session before this call.
    pub behind: Option<OutsideChange>,
    /// Why content is missing.
    pub gone: Option<MissingContent>,
}

/// How a call changes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileChangeKind {
    /// The call writes the whole file.
    Write,
    /// The call changes parts of the file.
    Edit,
    /// The call deletes the file or moves it away.
    Delete,
}

/// Whether a call that changes a file ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileChangeState {
    /// The call was permitted; its result is not known yet.
    Asked,
    /// The call ran.
    Done,
    /// The call failed.
    Failed,
}

/// How a file was changed outside the session, from least to most certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OutsideChange {
    /// A command run by the agent in between may have changed the file.
    Command,
    /// A user changed the file in the harness's own dialog.
    Person,
    /// No event explains the change.
    Unseen,
}

/// A file that a session read, wrote or deleted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TouchedFile {
    /// Path of the file.
    pub path: String,
    /// Number of reads.
    pub reads: u64,
    /// Number of writes.
    pub writes: u64,
    /// Number of deletions.
    pub deletes: u64,
}

/// Selects the file whose changes are shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionDiffQuery {
    /// Path of the file, absolute or relative to the project.
    pub path: Option<String>,
}

/// A session's changes to one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionDiff {
    /// The file's path, as given in the request.
    pub path: String,
    /// The changes, oldest first.
    pub changes: Vec<FileDiff>,
}

/// One change to one file, with its diff.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileDiff {
    /// The change itself.
    #[serde(flatten)]
    pub change: FileChange,
    /// Diff lines with their `+` and `-` characters, without the file header.
    pub diff: Option<String>,
    /// Why the diff is missing or incomplete.
    pub why: Option<MissingDiff>,
}

/// Why a diff is missing or incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MissingDiff {
    /// The content was erased.
    Erased,
    /// The content was too large to be recorded.
    TooLarge,
    /// The record was pruned.
    Pruned,
    /// The call is not recorded yet.
    NotYet,
    /// A command made the change, so its content is unknown.
    Unknown,
    /// The file's previous content is unknown.
    BeforeUnknown,
}
