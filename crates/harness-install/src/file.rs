// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads settings files, and replaces them atomically.

use std::{
    fs::DirBuilder,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, fchown},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use fs_err::os::unix::fs::OpenOptionsExt;
use rustix::fs::{CWD, RenameFlags};
use tenterhook_files::{FileClass, FileRefused, RefusalReason, read_bytes};

use super::InstallError;

/// Largest accepted settings file; a larger one was probably named by mistake.
pub const MAX_SETTINGS_BYTES: u64 = 16 * 1024 * 1024;

/// Mode of a file that only its owner can read.
pub const PRIVATE_FILE_MODE: u32 = 0o600;

const MAX_LINKS: usize = 40;

/// The file behind `path`, with symbolic links followed. It need not exist: a link may point to a missing file.
pub fn target(path: &Path) -> Result<PathBuf, InstallError> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs_err::symlink_metadata(&target) {
            Ok(metadata) if metadata.is_symlink() => {
                let link = fs_err::read_link(&target)?;
                target = target.parent().unwrap_or(Path::new("/")).join(link);
            }
            Ok(_) => return Ok(target),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(target),
            Err(error) => return Err(error.into()),
        }
    }
    Err(InstallError::LinkLoop { path: path.to_owned() })
}

/// Content of the file; `None` if the file does not exist.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
    let target = target(path)?;
    match read_bytes(&target, FileClass::Named, MAX_SETTINGS_BYTES) {
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(match FileRefused::reason_of(&error) {
            Some(RefusalReason::NotRegular) => InstallError::NotAFile { path: path.to_owned() },
            Some(RefusalReason::TooLarge(_)) => {
                InstallError::TooLarge { path: path.to_owned(), limit: MAX_SETTINGS_BYTES }
            }
            _ => error.into(),
        }),
    }
}

/// The text of bytes read from `path`.
pub fn text<'b>(path: &Path, bytes: &'b [u8]) -> Result<&'b str, InstallError> {
    str::from_utf8(bytes)
        .map_err(|error| InstallError::NotUtf8 { path: path.to_owned(), offset: error.valid_up_to() })
}

/// Fails unless the file still contains `before`.
pub fn require_unchanged(path: &Path, before: Option<&[u8]>) -> Result<(), InstallError> {
    if read(path)?.as_deref() == before {
        return Ok(());
    }
    Err(InstallError::Changed { path: path.to_owned() })
}

/// Atomically replaces `before` by `after`: at any moment, and after a crash, the file has either the old or the new
/// content. An existing file keeps its mode and, if permitted, its owner. A new file gets `mode`. The directory must
/// exist.
pub fn replace(path: &Path, before: Option<&[u8]>, after: &[u8], mode: u32) -> Result<(), InstallError> {
    refuse_large(path, after)?;
    let target = target(path)?;
    let directory = target.parent().unwrap_or(Path::new("/"));
    let mut draft = PendingFile::beside(&target)?;
    draft.file.write_all(after)?;
    if before.is_some() {
        let old = fs_err::metadata(&target)?;
        keep_owner_and_mode(&draft, &old)?;
    } else if mode != PRIVATE_FILE_MODE {
        draft.file.set_permissions(std::fs::Permissions::from_mode(mode))?;
    }
    draft.file.sync_all()?;
    // Checked as late as possible: only a change between this check and the rename goes unnoticed.
    require_unchanged(path, before)?;
    if before.is_some() {
        fs_err::rename(&draft.path, &target)?;
    } else {
        rename_without_replacing(path, &draft.path, &target)?;
    }
    draft.kept = true;
    sync_directory(directory)
}

/// Removes the file if it still contains `before`. A symbolic link to the file is kept.
pub fn delete(path: &Path, before: &[u8]) -> Result<(), InstallError> {
    require_unchanged(path, Some(before))?;
    let target = target(path)?;
    fs_err::remove_file(&target)?;
    sync_directory(target.parent().unwrap_or(Path::new("/")))
}

/// Missing directories above the file, outermost first.
pub fn missing_directories(path: &Path) -> Result<Vec<PathBuf>, InstallError> {
    let mut missing = Vec::new();
    for directory in target(path)?.ancestors().skip(1) {
        if directory.as_os_str().is_empty() || directory.try_exists()? {
            break;
        }
        missing.push(directory.to_owned());
    }
    missing.reverse();
    Ok(missing)
}

/// Creates directories that only their owner can enter, outermost first.
pub fn make_directories(directories: &[PathBuf]) -> Result<(), InstallError> {
    for directory in directories {
        match DirBuilder::new().mode(0o700).create(directory) {
            Ok(()) => sync_directory(directory.parent().unwrap_or(Path::new("/")))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                let what = format!("failed to create directory `{}`: {error}", directory.display());
                return Err(io::Error::new(error.kind(), what).into());
            }
        }
    }
    Ok(())
}

/// Removes empty directories, innermost first. A directory that is not empty is kept, because it is in use.
pub fn remove_directories_if_empty(directories: &[PathBuf]) {
    for directory in directories.iter().rev() {
        match fs_err::remove_dir(directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => break,
            _ => {}
        }
    }
}

fn refuse_large(path: &Path, bytes: &[u8]) -> Result<(), InstallError> {
    if bytes.len() as u64 > MAX_SETTINGS_BYTES {
        return Err(InstallError::TooLarge { path: path.to_owned(), limit: MAX_SETTINGS_BYTES });
    }
    Ok(())
}

fn keep_owner_and_mode(draft: &PendingFile, old: &std::fs::Metadata) -> Result<(), InstallError> {
    let new = draft.file.metadata()?;
    let mut mode = old.mode() & 0o7777;
    if new.gid() != old.gid() && fchown(draft.file.file(), None, Some(old.gid())).is_err() {
        // The file changes to another group, which must not inherit the old group's permissions.
        mode &= 0o7707;
    }
    if new.uid() != old.uid() {
        // Only root can change the owner. For any other user the call fails, and the new file belongs to that user.
        let _ = fchown(draft.file.file(), Some(old.uid()), None);
    }
    Ok(draft.file.set_permissions(std::fs::Permissions::from_mode(mode))?)
}

/// Renames the draft to `target`, but does not overwrite a file that appeared in the meantime.
fn rename_without_replacing(path: &Path, draft: &Path, target: &Path) -> Result<(), InstallError> {
    use rustix::io::Errno;
    match rustix::fs::renameat_with(CWD, draft, CWD, target, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(InstallError::Changed { path: path.to_owned() }),
        // Some file systems do not support `NOREPLACE`. `require_unchanged` has just checked that the target does not
        // exist.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(fs_err::rename(draft, target)?),
        Err(error) => Err(io::Error::from(error).into()),
    }
}

fn sync_directory(directory: &Path) -> Result<(), InstallError> {
    Ok(fs_err::File::open(directory)?.sync_all()?)
}

/// A temporary file next to its target, removed on drop unless it was renamed.
struct PendingFile {
    path: PathBuf,
    file: fs_err::File,
    kept: bool,
}

impl PendingFile {
    fn beside(target: &Path) -> Result<Self, InstallError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = target.file_name().ok_or_else(|| InstallError::NotAFile { path: target.to_owned() })?;
        loop {
            let mut draft = std::ffi::OsString::from(".");
            draft.push(name);
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            draft.push(format!(".tenterhook-{}-{count}", std::process::id()));
            let path = target.with_file_name(draft);
            match fs_err::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => return Ok(Self { path, file, kept: false }),
                // The file was left by a crashed process with the same id. Try the next name.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs_err::remove_file(&self.path);
        }
    }
}
