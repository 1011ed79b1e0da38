// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Replaces files and moves them aside, although the run may have prepared their directory against it.

use std::ffi::OsString;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

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

impl FileRepair<'_> {
    /// Replaces a file of any kind. Without a mode, the file keeps that of an ordinary file before it.
    pub(super) fn replace(&self, path: &Path, content: &[u8], mode: Option<u32>) -> io::Result<()> {
        self.check_place(path)?;
        if DiskTree.kind(path) == Some(TreeEntryKind::Directory) {
            self.move_aside(path)?;
        }
        let current = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file);
        let mode = mode.or(current.map(|found| found.mode() & 0o755)).unwrap_or(0o644);
        let new = with_ending(path, &format!(".{:016x}", random_number()));
        in_writable_directory(path, || {
            let mut options = std::fs::OpenOptions::new();
            let mut file = options.write(true).create_new(true).mode(0o600).open(&new)?;
            file.write_all(content)?;
            file.set_permissions(std::fs::Permissions::from_mode(mode))?;
            file.sync_all()?;
            std::fs::rename(&new, path)
        })
    }

    /// Renames a file so that no program reads it.
    pub(super) fn move_aside(&self, path: &Path) -> io::Result<()> {
        self.check_place(path)?;
        if DiskTree.kind(path).is_none() {
            return Ok(());
        }
        let numbered = (0..NUMBERED_NAMES).map(|number| match number {
            0 => REMOVED_SUFFIX.to_owned(),
            number => format!("{REMOVED_SUFFIX}.{number}"),
        });
        let random = std::iter::once_with(|| format!("{REMOVED_SUFFIX}.{:016x}", random_number()));
        let names = numbered.chain(random).map(|ending| with_ending(path, &ending));
        let mut free = names.filter(|aside| DiskTree.kind(aside).is_none());
        let aside = free.next().ok_or(io::ErrorKind::AlreadyExists)?;
        in_writable_directory(path, || std::fs::rename(path, &aside))
    }

    /// Fails if the run replaced a directory above a file by a link that leads out of the project.
    fn check_place(&self, path: &Path) -> io::Result<()> {
        let Some(directory) = path.parent() else { return Ok(()) };
        match directory.canonicalize() {
            Ok(real) if real == directory || real.starts_with(self.project) => Ok(()),
            Ok(_) => Err(io::Error::other("a directory above it was replaced by a link")),
            // Nothing can be in a directory that does not exist.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Changes a directory. If this account owns it and may not write it, it is made writable first.
fn in_writable_directory(path: &Path, change: impl Fn() -> io::Result<()>) -> io::Result<()> {
    match change() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let directory = path.parent().ok_or(error)?;
            let mode = std::fs::symlink_metadata(directory)?.mode();
            std::fs::set_permissions(directory, std::fs::Permissions::from_mode(mode & 0o7777 | 0o700))?;
            change()
        }
        result => result,
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

fn random_number() -> u64 {
    RandomState::new().hash_one(0)
}
