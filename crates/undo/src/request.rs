// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a snapshot is requested for: the destructive effects of one call.

use std::path::PathBuf;

/// Request for a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotRequest {
    /// The call that follows.
    pub call: CallReference,
    /// Root of the project. Paths outside it are refused.
    pub project: PathBuf,
    /// Files and directories that the call deletes or overwrites.
    pub files: Vec<FileTarget>,
    /// Repositories whose state the call changes.
    pub git: Vec<GitTarget>,
    /// Time of the request, in milliseconds since 1970.
    pub now_ms: u64,
}

/// The call that a snapshot belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallReference {
    /// Why the snapshot is taken: the id of the rule that asked.
    pub reason: String,
    /// Session of the agent.
    pub session: Option<String>,
    /// Id of the event, which is also the id of its record.
    pub event: Option<String>,
    /// Id that the harness gave the tool call. It is the same before and after the call.
    pub tool_call: Option<String>,
    /// Whether the user would be asked without the snapshot. Such snapshots are removed last.
    pub replaces_question: bool,
}

/// A path that the call deletes or overwrites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTarget {
    /// Absolute path of the file or directory.
    pub path: PathBuf,
    /// What happens to the path.
    pub change: TargetChange,
    /// Which paths are affected.
    pub extent: TargetExtent,
}

/// Which paths a [`FileTarget`] includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetExtent {
    /// The path itself.
    Path,
    /// The path and everything below it.
    Tree,
    /// The files and links in the directory, as for the pattern `*`. Names that begin with a dot are included, because
    /// settings of the shell decide whether a pattern matches them.
    Entries,
    /// The entries of the directory and everything below them, also if their names begin with a dot.
    EntryTrees,
}

/// How the content of a file is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetChange {
    /// The file is deleted or moved, and nothing in the call writes to it. A hard link keeps the content.
    Delete,
    /// The path is replaced by a new file, or is deleted after other programs of the call may have written to it. The
    /// file is copied, and a link is not followed.
    Replace,
    /// The file may be written in place. A hard link would show the new content, so the file is copied.
    Overwrite,
}

/// A git command that changes a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitTarget {
    /// Directory in which git runs.
    pub directory: PathBuf,
    /// Kind of command.
    pub kind: GitCallKind,
    /// Whether the command also changes the submodules.
    pub with_submodules: bool,
}

/// Kind of a git command that loses work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitCallKind {
    /// `checkout .`, `restore .`: files are replaced by their version in the index.
    Discard,
    /// `reset --hard`: files and index are replaced by those of a commit.
    Reset,
    /// `checkout -f`, `switch --discard-changes`: like `Reset`, and HEAD changes.
    Checkout,
    /// `rebase` and other commands that rewrite a branch.
    Rebase,
    /// `clean`: untracked files are deleted.
    Clean {
        /// Whether ignored files are deleted too (`-x`, `-X`).
        ignored: bool,
        /// Whether repositories below the directory are deleted too (`-ff`).
        repositories: bool,
    },
    /// `stash drop`, `stash clear`.
    DropStash,
    /// `branch -D`, `tag -d`.
    DeleteBranch,
    /// `update-ref`, `branch -f`.
    UpdateRef,
    /// `gc --prune=now`, `prune`, `reflog expire`.
    Prune,
}

// === impl GitCallKind ===

impl GitCallKind {
    /// Whether the command may replace tracked files.
    pub(crate) fn replaces_tracked_files(self) -> bool {
        matches!(self, Self::Discard | Self::Reset | Self::Checkout | Self::Rebase)
    }

    /// Whether only files that differ from the index can be lost.
    pub(crate) fn restores_from_index(self) -> bool {
        self == Self::Discard
    }

    /// Whether the command may overwrite an untracked file, because the target commit contains a file of that name.
    pub(crate) fn may_overwrite_untracked(self) -> bool {
        matches!(self, Self::Reset | Self::Checkout)
    }

    /// Whether commits may lose their last name, so that the next `git gc` may delete their objects.
    pub(crate) fn releases_objects(self) -> bool {
        matches!(self, Self::DropStash | Self::DeleteBranch | Self::UpdateRef | Self::Prune)
    }
}
