// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Snapshots of what calls would have lost, and their restore.

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;

use crate::AuthorityProof;

/// What a call would have lost, saved for `tenterhook undo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallSnapshot {
    /// Id of the snapshot; `tenterhook undo ID` restores it.
    pub id: String,
    /// Time of the snapshot.
    pub taken: Timestamp,
    /// Ids of the rules that matched, or `restore` if a restore saved what it replaced.
    pub reason: String,
    /// The harness's id for the session; null if it is unknown.
    pub session: Option<String>,
    /// Id of the call's event, which is also the id of its record; null if it is unknown.
    pub event: Option<String>,
    /// Root directory of the project.
    pub project: String,
    /// Whether the user would have been asked without the snapshot.
    pub replaced_question: bool,
    /// Number of files, links and directories.
    pub entries: u64,
    /// Number of git refs.
    pub refs: u64,
    /// Bytes that the snapshot keeps in use.
    pub bytes: u64,
    /// Number of paths that could not be saved.
    pub not_saved: u64,
}

/// Query for snapshots.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CallSnapshotQuery {
    /// Only snapshots of this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Maximum number of snapshots. Default 100, at most 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// List of snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallSnapshotList {
    /// The snapshots, newest first.
    pub snapshots: Vec<CallSnapshot>,
}

/// What a restore of a snapshot would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestorePreview {
    /// The snapshot.
    pub snapshot: CallSnapshot,
    /// Paths and git refs that differ from the snapshot. At most 1000.
    pub items: Vec<RestoreItem>,
    /// Number of further items, which are not listed.
    pub more_items: u64,
    /// Number of items that a restore creates or replaces.
    pub restorable: u64,
    /// Number of items that were changed after the call. They are replaced only with `force`.
    pub conflicts: u64,
    /// Number of items that are as they were.
    pub unchanged: u64,
}

/// What a restore does with one path or git ref.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoreItem {
    /// Absolute path of the file, or of the repository if this is a ref. Bytes that are not UTF-8 are replaced.
    pub path: String,
    /// Name of the git ref; null for files.
    pub git_ref: Option<String>,
    /// What a restore does.
    pub action: RestoreItemAction,
    /// Why the item is not restored, for `conflict` and `blocked`.
    pub reason: Option<String>,
}

/// What a restore does with an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RestoreItemAction {
    /// The item does not exist and is created.
    Create,
    /// The item is as the call left it and is replaced.
    Replace,
    /// The item was changed after the call. It is replaced only with `force`.
    Conflict,
    /// The item cannot be restored.
    Blocked,
}

/// Request to restore a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RestoreRequest {
    /// Restore only these files and directories. Relative paths are relative to the project.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Also replace items that were changed after the call. They are saved in another snapshot first.
    #[serde(default)]
    pub force: bool,
    /// Proof that a user sends the request; needed if `force` replaces something.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// Result of a restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoreResult {
    /// Id of the snapshot.
    pub id: String,
    /// Number of items that were created or replaced.
    pub restored: u64,
    /// Items that were left as they are. At most 1000.
    pub left: Vec<RestoreItem>,
    /// Number of further items that were left, which are not listed.
    pub more_left: u64,
    /// Id of the snapshot of the replaced items; null if nothing was replaced. Restoring it undoes the restore.
    pub saved: Option<String>,
}
