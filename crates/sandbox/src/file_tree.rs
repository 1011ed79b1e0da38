// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A view of the file system, so that paths can be derived from rules without IO in tests.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

/// Maximum size of a settings file that is searched for programs.
const MAX_TEXT_BYTES: u64 = 1 << 20;

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

    /// Returns the text of a settings file; `None` if it is not a small text.
    fn settings_text(&self, path: &Path) -> Option<String>;

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

    fn settings_text(&self, path: &Path) -> Option<String> {
        let content = read_ordinary_file(path, MAX_TEXT_BYTES, LinkAtEnd::Follow).ok()??;
        String::from_utf8(content).ok()
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

/// The real file system, each path of which is looked up once. Most paths that rules name do not exist, and many of them are
/// in the same directories.
#[derive(Debug, Default)]
pub struct CachedTree {
    kinds: RefCell<HashMap<PathBuf, Option<TreeEntryKind>>>,
    real_paths: RefCell<HashMap<PathBuf, PathBuf>>,
}

impl CachedTree {
    /// Whether a path is a directory or leads to one.
    fn may_contain(&self, path: &Path) -> bool {
        matches!(self.kind(path), Some(TreeEntryKind::Directory | TreeEntryKind::Link))
    }
}

impl FileTree for CachedTree {
    fn kind(&self, path: &Path) -> Option<TreeEntryKind> {
        if let Some(known) = self.kinds.borrow().get(path) {
            return *known;
        }
        // Nothing is in a directory that does not exist.
        let is_possible = path.parent().is_none_or(|parent| self.may_contain(parent));
        let found = if is_possible { DiskTree.kind(path) } else { None };
        self.kinds.borrow_mut().insert(path.to_owned(), found);
        found
    }

    fn names(&self, directory: &Path) -> Vec<OsString> {
        DiskTree.names(directory)
    }

    fn settings_text(&self, path: &Path) -> Option<String> {
        DiskTree.settings_text(path)
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        if let Some(known) = self.real_paths.borrow().get(path) {
            return known.clone();
        }
        let has_dots = path.components().any(|part| part == Component::ParentDir);
        let real = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) if !has_dots && self.kind(path) != Some(TreeEntryKind::Link) => {
                self.canonical(parent).join(name)
            }
            _ => DiskTree.canonical(path),
        };
        self.real_paths.borrow_mut().insert(path.to_owned(), real.clone());
        real
    }
}

/// What to do with a link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkAtEnd {
    Follow,
    Refuse,
}

/// Reads an ordinary file; `None` if it is something else. Never waits, even if another run replaces the file by a pipe.
pub(crate) fn read_ordinary_file(
    path: &Path,
    max_bytes: u64,
    link: LinkAtEnd,
) -> io::Result<Option<Vec<u8>>> {
    let follow = if link == LinkAtEnd::Refuse { OFlags::NOFOLLOW } else { OFlags::empty() };
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | follow;
    let mut file = match open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        // A link, or a socket.
        Err(Errno::LOOP | Errno::NXIO) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let found = file.metadata()?;
    if !found.is_file() {
        return Ok(None);
    }
    let mut content = Vec::new();
    let read = file.by_ref().take(max_bytes.saturating_add(1)).read_to_end(&mut content)?;
    if read as u64 > max_bytes { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(Some(content)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cached_tree_answers_like_the_disk() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/file"), "x").unwrap();
        for (link, target) in
            [("to-a", "a"), ("a/b/up", ".."), ("gone", "nowhere"), ("loop", "loop"), ("abs", "/etc")]
        {
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        let tree = CachedTree::default();
        for name in [
            "",
            "a",
            "a/b",
            "a/file",
            "a/file/below",
            "a/missing/x",
            "to-a",
            "to-a/b",
            "to-a/b/up",
            "a/b/up/file",
            "a/b/up/b/new",
            "gone",
            "gone/x",
            "loop",
            "loop/x",
            "abs/passwd",
            "abs/passwd/x",
            "a/../to-a/b",
            "to-a/..",
        ] {
            let path = if name.is_empty() { root.clone() } else { root.join(name) };
            for _ in 0..2 {
                assert_eq!(tree.kind(&path), DiskTree.kind(&path), "{name}");
                assert_eq!(tree.canonical(&path), DiskTree.canonical(&path), "{name}");
            }
        }
        assert_eq!(tree.canonical(Path::new("/")), Path::new("/"));
    }

    #[test]
    fn only_ordinary_files_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        std::fs::write(&file, "12345").unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let pipe = directory.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::RWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(directory.path().join("socket")).unwrap();
        let read = |path: &Path, link| read_ordinary_file(path, 5, link).unwrap();
        assert_eq!(read(&file, LinkAtEnd::Refuse).unwrap(), b"12345");
        assert_eq!(read(&link, LinkAtEnd::Follow).unwrap(), b"12345");
        assert_eq!(read(&link, LinkAtEnd::Refuse), None);
        for name in ["pipe", "socket", "."] {
            assert_eq!(read(&directory.path().join(name), LinkAtEnd::Follow), None, "{name}");
        }
        let error = read_ordinary_file(&file, 4, LinkAtEnd::Follow).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
