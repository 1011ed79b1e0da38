// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists what a snapshot has to save, and checks the limits before anything is written.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Stat};
use rustix::io::Errno;

use crate::error::SnapshotError;
use crate::limits::{Deadline, UndoLimits};
use crate::manifest::{EntryOwner, EntryRole, EntryStamp, FileTime, SkippedPath};
use crate::request::{FileTarget, TargetChange, TargetExtent};
use crate::root_directory::RootDirectory;
use crate::stored_path::StoredPath;

/// Number of entries after which the time is checked.
const ENTRIES_PER_TIME_CHECK: usize = 256;

/// Name of a repository's directory. Its content is saved by other rules.
const GIT_DIRECTORY: &str = ".git";

/// Reason for refusing paths in the directory of a repository.
const REPOSITORY_REASON: &str = "the call may change files in `.git`";

/// The setuid and setgid bits.
pub(crate) const SPECIAL_MODE_BITS: u32 = 0o6000;

/// A path to save.
#[derive(Debug)]
pub(crate) struct ScannedEntry {
    pub(crate) root: usize,
    pub(crate) path: PathBuf,
    pub(crate) kind: ScannedKind,
    pub(crate) mode: u32,
    pub(crate) owner: Option<EntryOwner>,
    /// Number of names of the file.
    pub(crate) links: u64,
    pub(crate) modified: FileTime,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) change: TargetChange,
    pub(crate) role: EntryRole,
}

/// Type of a path to save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScannedKind {
    Directory,
    Symlink(PathBuf),
    File(u64),
}

/// Whether a walk includes a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkChoice {
    Include,
    /// Only the files below the directory are included.
    Enter,
    Skip,
}

/// Collects the paths of a snapshot.
pub(crate) struct Scanner<'l> {
    limits: &'l UndoLimits,
    pub(crate) deadline: Deadline,
    /// The state directory, which is never saved.
    excluded: PathBuf,
    pub(crate) roots: Vec<RootDirectory>,
    pub(crate) entries: Vec<ScannedEntry>,
    known: HashMap<(usize, PathBuf), usize>,
    pub(crate) skipped: Vec<SkippedPath>,
    pub(crate) bytes: u64,
}

// === impl Scanner ===

impl<'l> Scanner<'l> {
    pub(crate) fn new(limits: &'l UndoLimits, deadline: Deadline, excluded: PathBuf) -> Self {
        Self {
            limits,
            deadline,
            excluded,
            roots: Vec::new(),
            entries: Vec::new(),
            known: HashMap::new(),
            skipped: Vec::new(),
            bytes: 0,
        }
    }

    /// Returns the limits of the snapshot.
    pub(crate) fn limits(&self) -> &'l UndoLimits {
        self.limits
    }

    /// Opens a root, or finds it if it is open. The path must be free of links.
    pub(crate) fn add_root(&mut self, path: &Path) -> Result<usize, SnapshotError> {
        if let Some(known) = self.roots.iter().position(|root| root.path() == path) {
            return Ok(known);
        }
        let root = RootDirectory::open(path).map_err(|error| SnapshotError::unreadable(path, error))?;
        self.roots.push(root);
        Ok(self.roots.len() - 1)
    }

    /// Returns an open root.
    pub(crate) fn root(&self, root: usize) -> Result<&RootDirectory, SnapshotError> {
        self.roots.get(root).ok_or_else(|| SnapshotError::storage(Errno::INVAL))
    }

    /// Adds a file or directory that the call deletes or overwrites. A path that does not exist is ignored.
    pub(crate) fn add_target(&mut self, project: &Path, target: &FileTarget) -> Result<(), SnapshotError> {
        let Some(path) = resolve_directories(&target.path)? else { return Ok(()) };
        let Ok(below) = path.strip_prefix(project) else {
            return Err(SnapshotError::OutsideProject { path });
        };
        if below.components().any(|component| component.as_os_str() == GIT_DIRECTORY) {
            return Err(SnapshotError::unsupported(&path, REPOSITORY_REASON));
        }
        let (below, root) = (below.to_owned(), self.add_root(project)?);
        if target.change == TargetChange::Overwrite {
            self.add_link_target(project, &path, target)?;
        }
        let known = self.entries.len();
        match target.extent {
            // A call cannot overwrite a directory, only files in it, which are targets of their own if they are known.
            TargetExtent::Path
                if target.change == TargetChange::Overwrite && path.is_dir() && !path.is_symlink() => {}
            TargetExtent::Path => self.add_path(root, &below, target.change, EntryRole::Work)?,
            TargetExtent::Tree => {
                let every = |_: &Path, _| WalkChoice::Include;
                self.add_tree(root, &below, target.change, EntryRole::Work, &every)?;
            }
            TargetExtent::Entries | TargetExtent::EntryTrees => {
                let is_deep = target.extent == TargetExtent::EntryTrees;
                let choose = |path: &Path, kind| choose_entry(&below, is_deep, path, kind);
                self.add_tree(root, &below, target.change, EntryRole::Work, &choose)?;
                let repository = below.join(GIT_DIRECTORY);
                if is_deep && self.root(root)?.stat(&repository).is_ok_and(|found| found.is_some()) {
                    return Err(SnapshotError::unsupported(&path, REPOSITORY_REASON));
                }
            }
        }
        let mut added = self.entries.iter().skip(known);
        if target.change == TargetChange::Overwrite
            && target.extent != TargetExtent::Path
            && added.any(|entry| matches!(entry.kind, ScannedKind::Symlink(_)))
        {
            return Err(SnapshotError::LinkInTree { path });
        }
        Ok(())
    }

    /// Adds the file that a link leads to, because writing to the link changes that file.
    fn add_link_target(
        &mut self,
        project: &Path,
        path: &Path,
        target: &FileTarget,
    ) -> Result<(), SnapshotError> {
        if !path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            return Ok(());
        }
        let real = match path.canonicalize() {
            Ok(real) => real,
            // The call creates the file.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(SnapshotError::unreadable(path, error)),
        };
        self.add_target(project, &FileTarget { path: real, ..target.clone() })
    }

    /// Adds one path. A path that does not exist is ignored.
    pub(crate) fn add_path(
        &mut self,
        root: usize,
        path: &Path,
        change: TargetChange,
        role: EntryRole,
    ) -> Result<(), SnapshotError> {
        let directory = self.root(root)?;
        let unreadable = |error: Errno| SnapshotError::unreadable(&directory.path().join(path), error);
        match directory.stat(path).map_err(unreadable)? {
            Some(found) => self.add_found(root, path.to_owned(), &found, change, role),
            None => Ok(()),
        }
    }

    /// Adds a directory and everything below it that `choose` includes. Links are not followed.
    pub(crate) fn add_tree(
        &mut self,
        root: usize,
        path: &Path,
        change: TargetChange,
        role: EntryRole,
        choose: &dyn Fn(&Path, FileType) -> WalkChoice,
    ) -> Result<(), SnapshotError> {
        let directory = self.root(root)?;
        let top = directory.path().join(path);
        let found = directory.stat(path).map_err(|error| SnapshotError::unreadable(&top, error))?;
        let Some(found) = found else { return Ok(()) };
        if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
            return self.add_found(root, path.to_owned(), &found, change, role);
        }
        if choose(path, FileType::Directory) == WalkChoice::Include {
            self.add_found(root, path.to_owned(), &found, change, role)?;
        }
        let mut open = vec![path.to_owned()];
        while let Some(current) = open.pop() {
            self.deadline.check()?;
            for (name, found) in self.read_directory(root, &current)? {
                let path = current.join(&name);
                let kind = FileType::from_raw_mode(found.st_mode);
                let choice = choose(&path, kind);
                if choice == WalkChoice::Skip || self.is_excluded(root, &path) {
                    continue;
                }
                if kind == FileType::Directory {
                    open.push(path.clone());
                }
                if choice == WalkChoice::Include {
                    self.add_found(root, path, &found, change, role)?;
                }
            }
        }
        Ok(())
    }

    fn is_excluded(&self, root: usize, path: &Path) -> bool {
        self.roots.get(root).is_some_and(|root| root.path().join(path) == self.excluded)
    }

    fn read_directory(
        &self,
        root: usize,
        path: &Path,
    ) -> Result<Vec<(std::ffi::OsString, Stat)>, SnapshotError> {
        let directory = self.root(root)?;
        let unreadable = |error: Errno| SnapshotError::unreadable(&directory.path().join(path), error);
        let opened = directory.open_directory(path).map_err(unreadable)?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&opened).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            match rustix::fs::statat(&opened, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => names.push((OsStr::from_bytes(name).to_owned(), found)),
                Err(Errno::NOENT) => {}
                Err(error) => return Err(unreadable(error)),
            }
        }
        Ok(names)
    }

    fn add_found(
        &mut self,
        root: usize,
        path: PathBuf,
        found: &Stat,
        change: TargetChange,
        role: EntryRole,
    ) -> Result<(), SnapshotError> {
        if self.entries.len().is_multiple_of(ENTRIES_PER_TIME_CHECK) {
            self.deadline.check()?;
        }
        let slot = match self.known.entry((root, path)) {
            Entry::Occupied(known) => {
                if let Some(entry) = self.entries.get_mut(*known.get()) {
                    entry.change = entry.change.max(change);
                }
                return Ok(());
            }
            Entry::Vacant(slot) => slot,
        };
        let path = slot.key().1.clone();
        let Some(directory) = self.roots.get(root) else { return Ok(()) };
        let kind = match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => ScannedKind::Directory,
            FileType::RegularFile => ScannedKind::File(u64::try_from(found.st_size).unwrap_or_default()),
            FileType::Symlink => match read_link(directory, &path) {
                Ok(target) => ScannedKind::Symlink(target),
                Err(Errno::NOENT) => return Ok(()),
                Err(error) => return Err(SnapshotError::unreadable(&directory.path().join(&path), error)),
            },
            _ => {
                let path = StoredPath::from(directory.path().join(&path));
                let reason = "not a file, directory or link".to_owned();
                self.skipped.push(SkippedPath { path, reason });
                return Ok(());
            }
        };
        if self.entries.len() >= self.limits.max_files {
            return Err(SnapshotError::TooManyFiles { limit: self.limits.max_files });
        }
        if let ScannedKind::File(size) = kind {
            self.bytes = self.bytes.saturating_add(size);
            if self.bytes > self.limits.max_bytes {
                return Err(SnapshotError::TooManyBytes { limit: self.limits.max_bytes });
            }
        }
        let stamp = stamp_of(found);
        slot.insert(self.entries.len());
        self.entries.push(ScannedEntry {
            root,
            path,
            kind,
            mode: permissions_of(found),
            owner: (permissions_of(found) & SPECIAL_MODE_BITS != 0).then(|| owner_of(found)),
            links: widen(found.st_nlink),
            modified: stamp.modified,
            device: device_of(found),
            inode: stamp.inode,
            change,
            role,
        });
        Ok(())
    }
}

/// Selects the entries of a directory. With `is_deep`, directories and the files below them are included.
fn choose_entry(directory: &Path, is_deep: bool, path: &Path, kind: FileType) -> WalkChoice {
    if path == directory {
        return WalkChoice::Enter;
    }
    let is_left_out = !is_deep && kind == FileType::Directory && path.parent() == Some(directory);
    if is_left_out { WalkChoice::Skip } else { WalkChoice::Include }
}

/// Returns the text of a symbolic link.
pub(crate) fn read_link(root: &RootDirectory, path: &Path) -> rustix::io::Result<PathBuf> {
    let (parent, name) = root.open_parent(path)?;
    let target = rustix::fs::readlinkat(parent, name, Vec::new())?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(target.into_bytes())))
}

/// Returns what identifies one state of a file.
pub(crate) fn stamp_of(found: &Stat) -> EntryStamp {
    let nanoseconds = |value| u32::try_from(value).unwrap_or_default();
    EntryStamp {
        inode: inode_of(found),
        size: u64::try_from(found.st_size).unwrap_or_default(),
        modified: FileTime(found.st_mtime, nanoseconds(found.st_mtime_nsec)),
        changed: FileTime(found.st_ctime, nanoseconds(found.st_ctime_nsec)),
        index_hash: None,
    }
}

/// Returns the permission bits of a file.
pub(crate) fn permissions_of(found: &Stat) -> u32 {
    widen::<_, u32>(found.st_mode) & 0o7777
}

/// Returns the user and the group of a file.
pub(crate) fn owner_of(found: &Stat) -> EntryOwner {
    EntryOwner { user: found.st_uid, group: found.st_gid }
}

fn inode_of(found: &Stat) -> u64 {
    widen(found.st_ino)
}

/// Returns the number of the device of a file.
pub(crate) fn device_of(found: &Stat) -> u64 {
    widen(found.st_dev)
}

/// Converts a number whose type depends on the system.
fn widen<T: TryInto<W>, W: Default>(value: T) -> W {
    value.try_into().unwrap_or_default()
}

/// Resolves the links in the directories of a path, but not in its last component, because a call deletes or replaces
/// the link itself. Returns `None` if a directory does not exist.
fn resolve_directories(path: &Path) -> Result<Option<PathBuf>, SnapshotError> {
    let outside = || SnapshotError::OutsideProject { path: path.to_owned() };
    if !path.is_absolute() {
        return Err(outside());
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(outside()) };
    match parent.canonicalize() {
        Ok(parent) => Ok(Some(parent.join(name))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SnapshotError::unreadable(path, error)),
    }
}
