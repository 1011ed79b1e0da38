// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Replaces files and moves them aside, although the run may have prepared their directory against it, and although another
//! run may change the project at the same time.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};

use crate::file_tree::{DiskTree, FileTree as _, TreeEntryKind};

/// Ending of the name of a file that was moved aside.
const REMOVED_SUFFIX: &str = ".removed-by-tenterhook";
/// Number of names that are tried for a file that is moved aside, before the name is random.
const NUMBERED_NAMES: usize = 10;

/// Changes files after a run.
#[derive(Debug)]
pub(super) struct FileRepair<'a> {
    pub(super) project: &'a Path,
}

/// A directory that stays the same when a directory above it is replaced.
pub(super) struct OpenDirectory(OwnedFd);

impl OpenDirectory {
    /// Returns the path of a name in the directory.
    pub(super) fn join(&self, name: &OsStr) -> PathBuf {
        self.path().join(name)
    }

    /// Returns a path that leads to the directory in this process.
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }

    /// Changes the directory. If this account owns it and may not write it, it is made writable first.
    fn change(&self, change: impl Fn() -> io::Result<()>) -> io::Result<()> {
        match change() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let mode = std::fs::metadata(self.path())?.mode();
                std::fs::set_permissions(
                    self.path(),
                    std::fs::Permissions::from_mode(mode & 0o7777 | 0o700),
                )?;
                change()
            }
            result => result,
        }
    }
}

impl FileRepair<'_> {
    /// Replaces a file of any kind. Without a mode, the file keeps that of an ordinary file before it. If this fails, for
    /// example because the file system is full, the file is moved aside.
    pub(super) fn replace(&self, path: &Path, content: &[u8], mode: Option<u32>) -> io::Result<()> {
        let (directory, name) = self.open_place(path)?;
        let place = directory.join(name);
        if DiskTree.kind(&place) == Some(TreeEntryKind::Directory) {
            Self::move_within(&directory, name)?;
        }
        let current = std::fs::symlink_metadata(&place).ok().filter(std::fs::Metadata::is_file);
        let mode = mode.or(current.map(|found| found.mode() & 0o755)).unwrap_or(0o644);
        let new = directory.join(&with_ending(name, &format!(".{:016x}", random_number())));
        let replaced = directory.change(|| {
            let mut options = std::fs::OpenOptions::new();
            let mut file = options.write(true).create_new(true).mode(0o600).open(&new)?;
            file.write_all(content)?;
            file.set_permissions(std::fs::Permissions::from_mode(mode))?;
            file.sync_all()?;
            std::fs::rename(&new, &place)
        });
        replaced.or_else(|error| {
            // It may not exist.
            let _ = std::fs::remove_file(&new);
            Self::move_within(&directory, name)?;
            Err(io::Error::other(format!("{error}; the file was renamed instead")))
        })
    }

    /// Renames a file so that no program reads it.
    pub(super) fn move_aside(&self, path: &Path) -> io::Result<()> {
        match self.open_place(path) {
            Ok((directory, name)) => Self::move_within(&directory, name),
            // Nothing can be in a directory that does not exist.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Moves a file aside and creates a link in its place.
    pub(super) fn replace_by_link(&self, path: &Path, target: &Path) -> io::Result<()> {
        let (directory, name) = self.open_place(path)?;
        Self::move_within(&directory, name)?;
        directory.change(|| std::os::unix::fs::symlink(target, directory.join(name)))
    }

    fn move_within(directory: &OpenDirectory, name: &OsStr) -> io::Result<()> {
        let place = directory.join(name);
        if DiskTree.kind(&place).is_none() {
            return Ok(());
        }
        let numbered = (0..NUMBERED_NAMES).map(|number| match number {
            0 => REMOVED_SUFFIX.to_owned(),
            number => format!("{REMOVED_SUFFIX}.{number}"),
        });
        let random = std::iter::once_with(|| format!("{REMOVED_SUFFIX}.{:016x}", random_number()));
        let places = numbered.chain(random).map(|ending| directory.join(&with_ending(name, &ending)));
        let mut free = places.filter(|aside| DiskTree.kind(aside).is_none());
        let aside = free.next().ok_or(io::ErrorKind::AlreadyExists)?;
        directory.change(|| std::fs::rename(&place, &aside))
    }

    /// Opens the directory of a file.
    fn open_place<'a>(&self, path: &'a Path) -> io::Result<(OpenDirectory, &'a OsStr)> {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        Ok((self.open_directory(directory)?, name))
    }

    /// Opens a directory. Fails if it is now elsewhere, because a directory above it was replaced by a link that leads out
    /// of the project.
    pub(super) fn open_directory(&self, directory: &Path) -> io::Result<OpenDirectory> {
        let opened = open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let opened = OpenDirectory(opened);
        let real = std::fs::read_link(opened.path())?;
        if real == directory || real.starts_with(self.project) {
            return Ok(opened);
        }
        Err(io::Error::other("a directory above it was replaced by a link"))
    }
}

fn with_ending(name: &OsStr, ending: &str) -> OsString {
    let mut name = name.to_owned();
    name.push(ending);
    name
}

fn random_number() -> u64 {
    RandomState::new().hash_one(0)
}
