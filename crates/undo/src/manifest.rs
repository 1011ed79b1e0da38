// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Stored description of a snapshot.

use serde::{Deserialize, Serialize};

use crate::stored_path::StoredPath;

/// Version of the manifest's format.
pub(crate) const MANIFEST_FORMAT: u32 = 1;

/// Description of a snapshot, without the list of its entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotManifest {
    /// Version of the format.
    pub format: u32,
    /// Id of the snapshot. Ids sort by time.
    pub id: String,
    /// Time at which the snapshot was taken, in milliseconds since 1970.
    pub taken_ms: u64,
    /// Why the snapshot was taken: the id of the rule that asked, or `restore`.
    pub reason: String,
    /// Session of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Id of the event, which is also the id of its record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Id that the harness gave the tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<String>,
    /// Whether the user would have been asked without the snapshot.
    #[serde(default = "is_question_replaced")]
    pub replaces_question: bool,
    /// Root of the project.
    pub project: StoredPath,
    /// Directories that the paths of entries are relative to.
    pub roots: Vec<StoredPath>,
    /// Number of files, links and directories.
    pub entries: usize,
    /// Number of git refs.
    pub refs: usize,
    /// Bytes that the snapshot keeps in use once the originals are deleted.
    pub bytes: u64,
    /// Paths that could not be saved and are lost if the call destroys them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedPath>,
}

/// Snapshots of earlier versions are removed last too.
fn is_question_replaced() -> bool {
    true
}

/// A path that a snapshot does not contain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedPath {
    /// Absolute path of what was skipped.
    pub path: StoredPath,
    /// Why it was skipped.
    pub reason: String,
}

/// One file, link or directory of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedEntry {
    /// Index of the root in [`SnapshotManifest::roots`].
    pub root: usize,
    /// Path relative to the root.
    pub path: StoredPath,
    /// Permission bits of the file or directory.
    pub mode: u32,
    /// Owner of a path with a setuid or setgid bit. Without it, these bits are not restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<EntryOwner>,
    /// Time of the last change.
    pub modified: FileTime,
    /// What the file is used for.
    #[serde(default)]
    pub role: EntryRole,
    /// Type and content.
    pub content: SavedContent,
}

/// User and group of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryOwner {
    /// Numeric user id.
    pub user: u32,
    /// Numeric group id.
    pub group: u32,
}

/// Time of a file: seconds since 1970 and nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileTime(pub i64, pub u32);

/// What a saved file is used for. This determines when it is restored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryRole {
    /// A file of the project.
    #[default]
    Work,
    /// A state file of git, such as the index.
    GitState,
    /// A reflog. It is unchanged as long as only lines were appended.
    GitLog,
    /// A git object or pack. Its name is derived from its content, so an existing file is never replaced.
    GitObject,
}

/// Type and content of a saved entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum SavedContent {
    /// A directory, without its entries.
    Directory,
    /// A symbolic link.
    Symlink {
        /// Text of the link.
        target: StoredPath,
    },
    /// A regular file.
    File {
        /// Size in bytes.
        size: u64,
        /// How the content is stored.
        stored: StorageMethod,
        /// SHA-256 of the content, in hexadecimal digits. It is unknown for shared blocks, for git objects, and for a
        /// linked file if there was no time to compute it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
    },
}

/// How the content of a file is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "method")]
pub enum StorageMethod {
    /// A copy, together with other small files in one pack file.
    Packed {
        /// Number of the pack file.
        pack: usize,
        /// Position in the pack file.
        offset: u64,
    },
    /// A copy in a file of its own.
    Copied {
        /// Number of the file.
        file: usize,
    },
    /// A file that shares its blocks with the original until one of them is changed.
    Reflinked {
        /// Number of the file.
        file: usize,
    },
    /// Another name of the original file. It is used only if the call deletes the original. If a process writes to
    /// the original in place before it is deleted, the content of the snapshot changes too; the restore compares the
    /// hash and reports this.
    HardLinked {
        /// Number of the file.
        file: usize,
    },
}

/// The value of a git ref.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SavedRef {
    /// Index of the repository's common directory in [`SnapshotManifest::roots`].
    pub root: usize,
    /// Full name, such as `refs/heads/main`.
    pub name: String,
    /// Object id, or `ref: ` and the name of another ref.
    pub value: String,
}

/// Identifies one state of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EntryStamp {
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) modified: FileTime,
    pub(crate) changed: FileTime,
    /// Hash of the entries of a git index. `git status` writes an index again without changing an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) index_hash: Option<String>,
}

/// State of the saved paths directly after the call. Changes since then are newer work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StateAfterCall {
    /// One stamp per entry, in the order of the entries; `None` if the path does not exist.
    pub(crate) entries: Vec<Option<EntryStamp>>,
    /// All refs of the repositories.
    pub(crate) refs: Vec<SavedRef>,
}

// === impl EntryStamp ===

impl EntryStamp {
    /// Whether two stamps identify the same content. The undo of a later call restores a file with its time, but as a new
    /// file. `git status` writes an index again without changing an entry.
    pub(crate) fn is_same_state(&self, other: &Self) -> bool {
        match (&self.index_hash, &other.index_hash) {
            (Some(one), Some(other)) => one == other,
            _ => (self.size, self.modified) == (other.size, other.modified),
        }
    }

    /// Whether the file was not written or replaced in between.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.inode, self.size, self.modified, self.changed)
            == (other.inode, other.size, other.modified, other.changed)
    }
}

// === impl SavedEntry ===

impl SavedEntry {
    /// Whether this is the index of a working tree.
    pub(crate) fn is_git_index(&self) -> bool {
        self.role == EntryRole::GitState && self.path.as_path() == std::path::Path::new("index")
    }
}
