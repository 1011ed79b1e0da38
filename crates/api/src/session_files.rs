// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Files of a session.

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;

use crate::MissingContent;

/// Files that a session changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionFiles {
    /// Every file, in the order of the first change.
    pub files: Vec<ChangedFile>,
    /// Every change, in order.
    pub changes: Vec<FileChange>,
    /// Files that are not listed, and calls whose files are not known.
    pub left_out: u64,
}

/// A file that a session changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedFile {
    /// Path of the file.
    pub path: String,
    /// Its path relative to the project.
    pub shown: String,
    /// Number of changes.
    pub changes: u64,
    /// Tools that changed it.
    pub tools: Vec<String>,
    /// Lines added, as far as calls and results report them.
    pub added: u64,
    /// Lines removed, as far as calls and results report them.
    pub removed: u64,
    /// Whether the last change deleted it or moved it away.
    pub deleted: bool,
    /// Time of the last change.
    pub last: Option<Timestamp>,
    /// How it was changed outside the session; null if it was not, or that is not known.
    pub behind: Option<OutsideChange>,
}

/// One change of one file.
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
    /// What the call does.
    pub how: FileChangeKind,
    /// Whether the call ran.
    pub state: FileChangeState,
    /// Number of lines added.
    pub added: Option<u64>,
    /// Number of lines removed.
    pub removed: Option<u64>,
    /// The harness's id of the call.
    pub tool_use_id: Option<String>,
    /// The subagent that made the call.
    pub agent: Option<String>,
    /// How the file was changed outside the session before.
    pub behind: Option<OutsideChange>,
    /// Why content is missing.
    pub gone: Option<MissingContent>,
}

/// What a call does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileChangeKind {
    /// It writes the whole file.
    Write,
    /// It changes parts of the file.
    Edit,
    /// It deletes the file or moves it away.
    Delete,
}

/// Whether a call that changes a file ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileChangeState {
    /// It was permitted; its result is not known yet.
    Asked,
    /// The call ran.
    Done,
    /// The call failed.
    Failed,
}

/// How a file was changed outside the session. The order is that of certainty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OutsideChange {
    /// A command of the agent ran in between and may have changed it.
    Command,
    /// A user changed it in the harness's own dialog.
    Person,
    /// No event explains the change.
    Unseen,
}

/// A file that a session used.
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

/// Which file to show.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionDiffQuery {
    /// The file: its path, or its path relative to the project.
    pub path: Option<String>,
}

/// Changes of one file of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionDiff {
    /// The file, as the request names it.
    pub path: String,
    /// The changes, in order.
    pub changes: Vec<FileDiff>,
}

/// One change of one file, with its diff.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileDiff {
    /// The change itself.
    #[serde(flatten)]
    pub change: FileChange,
    /// Changed lines with their signs, without file names.
    pub diff: Option<String>,
    /// Why there is no diff, or only a part of it.
    pub why: Option<MissingDiff>,
}

/// Why there is no diff, or only a part of it.
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
    /// The change was made by a command.
    Unknown,
    /// The previous content is not known.
    BeforeUnknown,
}
