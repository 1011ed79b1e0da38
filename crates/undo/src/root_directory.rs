// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Access to files below a directory without following symbolic links.
//!
//! An agent can replace a directory by a link to `/etc` at any time. So every access starts at an open directory and
//! resolves each component of the path without following links.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Component, Path, PathBuf};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat};
use rustix::io::{Errno, Result};

const DIRECTORY_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open directory to which the paths of entries are relative.
#[derive(Debug)]
pub(crate) struct RootDirectory {
    descriptor: OwnedFd,
    path: PathBuf,
}

impl RootDirectory {
    /// Opens a directory by its absolute path, which must not contain links.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let top = rustix::fs::openat(CWD, "/", DIRECTORY_FLAGS, Mode::empty())?;
        let below = path.strip_prefix("/").map_err(|_| Errno::INVAL)?;
        let descriptor = open_below(top.as_fd(), below, DIRECTORY_FLAGS)?;
        Ok(Self { descriptor, path: path.to_owned() })
    }

    /// Returns the absolute path of the directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a directory below this one.
    pub(crate) fn open_directory(&self, path: &Path) -> Result<OwnedFd> {
        open_below(self.descriptor.as_fd(), path, DIRECTORY_FLAGS)
    }

    /// Opens a file below this directory for reading. Opening a pipe does not block.
    pub(crate) fn open_file(&self, path: &Path) -> Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        open_below(self.descriptor.as_fd(), path, flags).map(File::from)
    }

    /// Opens the directory that contains a path, and returns the path's last component.
    pub(crate) fn open_parent<'p>(&self, path: &'p Path) -> Result<(OwnedFd, &'p OsStr)> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let parent = self.open_directory(path.parent().ok_or(Errno::INVAL)?)?;
        Ok((parent, name))
    }

    /// Returns the state of a path; `None` if it does not exist. A link is not followed.
    pub(crate) fn stat(&self, path: &Path) -> Result<Option<Stat>> {
        if path.as_os_str().is_empty() {
            return rustix::fs::fstat(&self.descriptor).map(Some);
        }
        let found = match self.open_parent(path) {
            Ok((parent, name)) => rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW),
            Err(error) => Err(error),
        };
        match found {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Waits until what was written to the file system of this directory is on the disk. A restore writes many files,
    /// and waiting for each of them would take much longer.
    pub(crate) fn sync_file_system(&self) {
        // The snapshot still exists, so a failure loses nothing.
        #[cfg(target_os = "linux")]
        let _ = rustix::fs::syncfs(&self.descriptor);
        #[cfg(not(target_os = "linux"))]
        let _ = rustix::fs::fsync(&self.descriptor);
    }

    /// Creates the directories on the way to a path that do not exist, and opens the last one. The paths of new
    /// directories are added to `created`.
    pub(crate) fn create_directories(
        &self,
        path: &Path,
        mode: Mode,
        created: &mut Vec<PathBuf>,
    ) -> Result<OwnedFd> {
        let mut current = self.open_directory(Path::new(""))?;
        let mut below = PathBuf::new();
        for component in path.components() {
            let Component::Normal(name) = component else { return Err(Errno::INVAL) };
            below.push(name);
            match rustix::fs::mkdirat(&current, name, mode) {
                Ok(()) => created.push(below.clone()),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
            current = rustix::fs::openat(&current, name, DIRECTORY_FLAGS, Mode::empty())?;
        }
        Ok(current)
    }
}

/// Opens a path below a directory without following links.
#[cfg(target_os = "linux")]
fn open_below(start: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    if path.as_os_str().is_empty() {
        return rustix::fs::openat(start, ".", flags, Mode::empty());
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match rustix::fs::openat2(start, path, flags, Mode::empty(), resolve) {
        // The kernel is older than the call, or the sandbox of a container refuses it.
        Err(Errno::NOSYS | Errno::PERM) => open_by_component(start, path, flags),
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
fn open_below(start: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd> {
    open_by_component(start, path, flags)
}

/// Opens a path like [`open_below`], one component after the other.
fn open_by_component(start: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd> {
    let mut current = rustix::fs::openat(start, ".", DIRECTORY_FLAGS, Mode::empty())?;
    let mut components = path.components().peekable();
    while let Some(component) = components.next() {
        let Component::Normal(name) = component else { return Err(Errno::INVAL) };
        let is_last = components.peek().is_none();
        let flags = if is_last { flags } else { DIRECTORY_FLAGS };
        current = rustix::fs::openat(&current, name, flags, Mode::empty())?;
    }
    Ok(current)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_component_of_a_path_may_be_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("real/inner")).unwrap();
        std::fs::write(top.join("real/inner/file"), "text").unwrap();
        symlink("real", top.join("link")).unwrap();
        symlink("file", top.join("real/inner/alias")).unwrap();

        let root = RootDirectory::open(&top).unwrap();
        assert!(root.open_file(Path::new("real/inner/file")).is_ok());
        for path in ["link/inner/file", "real/inner/alias", "../x", "/etc/passwd", "real/../real/inner/file/"]
        {
            let by_component = open_by_component(root.descriptor.as_fd(), Path::new(path), OFlags::NOFOLLOW);
            assert!(by_component.is_err(), "{path}");
        }
        for path in ["link/inner/file", "real/inner/alias", "../x", "/etc/passwd"] {
            assert!(root.open_file(Path::new(path)).is_err(), "{path}");
        }
        assert!(RootDirectory::open(&top.join("link")).is_err());
        assert!(root.create_directories(Path::new("link/new"), Mode::RWXU, &mut Vec::new()).is_err());
        assert!(!top.join("real/new").exists());
    }
}
