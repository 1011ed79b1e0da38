// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A view of the file system, so that paths can be derived from rules without IO in tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Kind of a file, without following a link at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeEntryKind {
    /// A directory, not a link to one.
    Directory,
    /// A symbolic link.
    Link,
    /// A regular file, socket, pipe or device.
    File,
}

/// The files that paths are derived for.
pub trait FileTree {
    /// Returns the kind of a file; `None` if it does not exist or its directory cannot be searched.
    fn kind(&self, path: &Path) -> Option<TreeEntryKind>;

    /// Returns the names in a directory; empty if it cannot be read.
    fn names(&self, directory: &Path) -> Vec<OsString>;

    /// Returns a path without symbolic links. A part that does not exist stays as it is.
    fn canonical(&self, path: &Path) -> PathBuf;
}

/// The real file system.
#[derive(Debug, Clone, Copy)]
pub struct DiskTree;

impl FileTree for DiskTree {
    fn kind(&self, path: &Path) -> Option<TreeEntryKind> {
        let kind = std::fs::symlink_metadata(path).ok()?.file_type();
        Some(match () {
            () if kind.is_dir() => TreeEntryKind::Directory,
            () if kind.is_symlink() => TreeEntryKind::Link,
            () => TreeEntryKind::File,
        })
    }

    fn names(&self, directory: &Path) -> Vec<OsString> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        let mut existing = path.ancestors();
        let found = existing.find_map(|directory| Some((directory, directory.canonicalize().ok()?)));
        found.map_or_else(
            || path.to_owned(),
            |(directory, real)| match path.strip_prefix(directory) {
                Ok(rest) if rest != Path::new("") => real.join(rest),
                _ => real,
            },
        )
    }
}
