// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Remembers file attributes at the time of reading, to detect later changes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files with their attributes; `None` for a missing file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct FileStamps(Vec<(PathBuf, Option<FileAttributes>)>);

/// Attributes that reveal a change. An editor that writes a new file and renames it changes the inode; one that
/// writes in place changes the times. Setting the modification time back still changes the inode's change time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct FileAttributes {
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamps {
    /// Reads the attributes of these files.
    pub fn of(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let look = |path: PathBuf| {
            let stamp = FileAttributes::of(&path);
            (path, stamp)
        };
        Self(paths.into_iter().map(look).collect())
    }

    /// Returns the files.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.0.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Whether no file has changed since the attributes were read.
    pub fn are_current(&self) -> bool {
        self.0.iter().all(|(path, stamp)| FileAttributes::of(path) == *stamp)
    }
}

impl FileAttributes {
    fn of(path: &Path) -> Option<Self> {
        // Follows symbolic links, because a link may be changed to point to another file.
        let metadata = fs_err::metadata(path).ok()?;
        Some(Self {
            inode: metadata.ino(),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_comes_goes_or_changes_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.yaml");
        let none = FileStamps::of([path.clone()]);
        assert!(none.are_current());
        std::fs::write(&path, "a").unwrap();
        assert!(!none.are_current());
        let some = FileStamps::of([path.clone()]);
        assert!(some.are_current());
        std::fs::write(&path, "b").unwrap();
        // The modification time may stay the same, because file system timestamps are coarse. The different
        // length is noticed.
        std::fs::write(&path, "bb").unwrap();
        assert!(!some.are_current());
        std::fs::remove_file(&path).unwrap();
        assert!(none.are_current());
    }
}
