// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a file looked like when it was read, so that a change is noticed.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files, and how each of them looked. A file that is not there has a look too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Stamps(Vec<(PathBuf, Option<Stamp>)>);

/// An editor that writes a new file and renames it changes the inode; one that writes in place changes
/// the times. Setting the modification time back still changes the inode's change time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Stamp {
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamps {
    /// How these files look now.
    pub(crate) fn of(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let look = |path: PathBuf| {
            let stamp = Stamp::of(&path);
            (path, stamp)
        };
        Self(paths.into_iter().map(look).collect())
    }

    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.0.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Whether none of them looks different by now.
    pub(crate) fn hold(&self) -> bool {
        self.0.iter().all(|(path, stamp)| Stamp::of(path) == *stamp)
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        // A link may be turned to another file: what it leads to counts.
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
        let none = Stamps::of([path.clone()]);
        assert!(none.hold());
        std::fs::write(&path, "a").unwrap();
        assert!(!none.hold());
        let some = Stamps::of([path.clone()]);
        assert!(some.hold());
        std::fs::write(&path, "b").unwrap();
        // The clock of the file system is coarse; another length is always seen.
        std::fs::write(&path, "bb").unwrap();
        assert!(!some.hold());
        std::fs::remove_file(&path).unwrap();
        assert!(none.hold());
    }
}
