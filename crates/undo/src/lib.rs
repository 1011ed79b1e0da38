// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Snapshots of files and git state, taken before a destructive call and restored by `tenterhook undo`.
//!
//! A snapshot contains what one call could destroy: the files that it deletes or overwrites, and the refs, the index
//! and the objects of the git repositories that it changes. Everything is read directly from the disk. No git program
//! runs, because a repository that an agent controls can make git run other programs.
//!
//! [`UndoStore::take_snapshot`] first lists what has to be saved and checks every limit, and only then writes. A
//! snapshot is on the disk before the function returns, so that a power cut after it loses nothing.
//! [`UndoStore::plan_restore`] compares a snapshot with the current files, and [`UndoStore::restore`] carries out the
//! plan. It does not replace newer work unless the caller forces it, and it never follows a symbolic link.

mod content;
mod current;
mod error;
mod git;
mod limits;
mod manifest;
mod plan;
mod prune;
mod request;
mod restore;
mod root_directory;
mod scan;
mod store;
mod stored_path;
mod text;

pub use error::{SnapshotError, SnapshotErrorKind, UndoError};
pub use limits::UndoLimits;
pub use manifest::{
    EntryOwner, EntryRole, FileTime, SavedContent, SavedEntry, SavedRef, SkippedPath, SnapshotManifest,
    StorageMethod,
};
pub use plan::{PlannedRestore, RestoreAction, RestorePlan};
pub use request::{
    CallReference, FileTarget, GitCallKind, GitTarget, SnapshotRequest, TargetChange, TargetExtent,
};
pub use restore::RestoreReport;
pub use store::{SnapshotFilter, UndoSelection, UndoStore};
pub use stored_path::StoredPath;
pub use text::{format_age, format_bytes, format_plan, format_report};
