// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Bounded reads of files that others can write.
//!
//! A project, an agent or another account can replace a file with anything: a pipe that no process writes to,
//! a link to an endless file, or a file of another account. Every read here opens the path without blocking
//! (`O_NONBLOCK`), checks what was opened (`fstat`) and reads at most a fixed number of bytes.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

/// Who may have written a file. This determines which replacements are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileClass {
    /// A file in a state directory, written by Tenterhook. A symbolic link is refused. The file must belong
    /// to this account, to root, or to the owner of its directory.
    State,
    /// A configuration file of the user. It may be a symbolic link made by a dotfile manager; the target must
    /// belong to the user. A target owned by root is accepted, unless this process is root and the link
    /// belongs to another account.
    Configuration,
    /// A file of a project. A symbolic link is refused. The owner is not checked.
    Untrusted,
    /// A file that an account names and reads with its own rights. Symbolic links are followed. The owner is
    /// not checked.
    Named,
    /// A file of a project that is read on behalf of another account, with more rights than that account has.
    /// A symbolic link is refused, and the file must belong to that account.
    OwnedBy(u32),
}

/// Why a file is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefusalReason {
    /// A pipe, socket, device or directory.
    #[error("is not a regular file")]
    NotRegular,
    /// A symbolic link, in a class that does not allow links.
    #[error("is a symbolic link, which is not followed here")]
    SymbolicLink,
    /// The file has more bytes than the caller allows.
    #[error("is larger than {} KiB and is not read", .0 / 1024)]
    TooLarge(u64),
    /// The file, or the target of the link, belongs to another account.
    #[error("belongs to another account (uid {0}) and is not read")]
    ForeignOwner(u32),
    /// The text is not valid UTF-8.
    #[error("is not valid UTF-8")]
    NotUtf8,
}

/// A file that was refused, and the reason. An [`std::io::Error`] contains this value.
#[derive(Debug, Clone, thiserror::Error)]
#[error("`{}` {reason}", path.display())]
pub struct FileRefused {
    /// Path of the refused file.
    pub path: PathBuf,
    /// Why it is not read.
    pub reason: RefusalReason,
}

impl FileRefused {
    /// Returns the reason why a file was refused, if this is an error from this crate.
    pub fn reason_of(error: &Error) -> Option<RefusalReason> {
        error.get_ref()?.downcast_ref::<Self>().map(|refused| refused.reason)
    }
}

/// Opens a regular file for reading; `None` if there is none. The content may be endless; [`read_bytes`]
/// reads a limited part of it.
pub fn open(path: &Path, class: FileClass) -> Result<Option<File>> {
    let follow = matches!(class, FileClass::Configuration | FileClass::Named);
    let flags = if follow { OFlags::NONBLOCK } else { OFlags::NONBLOCK | OFlags::NOFOLLOW };
    match OpenOptions::new().read(true).custom_flags(raw(flags | OFlags::NOCTTY)).open(path) {
        Ok(file) => {
            check(path, &file.metadata()?, class)?;
            Ok(Some(file))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(describe(path, error, follow)),
    }
}

/// Returns the bytes of a regular file; `None` if there is none. A file with more than `max_bytes` is
/// refused.
pub fn read_bytes(path: &Path, class: FileClass, max_bytes: u64) -> Result<Option<Vec<u8>>> {
    let Some(file) = open(path, class)? else { return Ok(None) };
    let length = file.metadata()?.len();
    if length > max_bytes {
        return Err(refuse(path, RefusalReason::TooLarge(max_bytes)));
    }
    // The reported length is only a hint: the kernel's virtual files report 0 but may be endless.
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.take(max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| describe(path, error, false))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > max_bytes {
        return Err(refuse(path, RefusalReason::TooLarge(max_bytes)));
    }
    Ok(Some(bytes))
}

/// Returns the text of a regular file; `None` if there is none.
pub fn read_text(path: &Path, class: FileClass, max_bytes: u64) -> Result<Option<String>> {
    let Some(bytes) = read_bytes(path, class, max_bytes)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|_| refuse(path, RefusalReason::NotUtf8))
}

/// Opens a private file in a state directory for writing, and creates it if it is missing. A pipe or a link
/// in its place is refused: opening a pipe for writing would wait for a reader.
pub fn open_state_for_writing(path: &Path, options: &mut OpenOptions) -> Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY;
    let opened = options.create(true).mode(0o600).custom_flags(raw(flags)).open(path);
    let file = opened.map_err(|error| describe(path, error, false))?;
    check(path, &file.metadata()?, FileClass::State)?;
    Ok(file)
}

/// Locks a private file in a state directory, which is created if it is missing. Returns `None` if another process holds
/// the lock at each attempt.
pub fn lock_with_retry(path: &Path, attempts: u32, interval: Duration) -> Result<Option<File>> {
    let file = open_state_for_writing(path, File::options().write(true))?;
    for _ in 0..attempts {
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Ok(Some(file));
        }
        std::thread::sleep(interval);
    }
    Ok(None)
}

fn raw(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

fn refuse(path: &Path, reason: RefusalReason) -> Error {
    Error::other(FileRefused { path: path.to_owned(), reason })
}

fn describe(path: &Path, error: Error, follow: bool) -> Error {
    match Errno::from_io_error(&error) {
        // If links are followed, this error means that they form a loop.
        Some(Errno::LOOP | Errno::MLINK) if !follow => refuse(path, RefusalReason::SymbolicLink),
        // A socket, a device without a driver, a pipe without a reader, or a directory.
        Some(Errno::NXIO | Errno::ISDIR) => refuse(path, RefusalReason::NotRegular),
        _ => error,
    }
}

fn check(path: &Path, found: &Metadata, class: FileClass) -> Result<()> {
    if !found.is_file() {
        return Err(refuse(path, RefusalReason::NotRegular));
    }
    let (owner, own) = (found.uid(), rustix::process::geteuid().as_raw());
    let accepted = match class {
        FileClass::Untrusted | FileClass::Named => true,
        FileClass::OwnedBy(account) => owner == account,
        FileClass::State => owner == own || owner == 0 || owner == directory_owner(path),
        FileClass::Configuration => match std::fs::symlink_metadata(path) {
            Ok(link) if link.is_symlink() => is_own_target(owner, link.uid(), own),
            _ => owner == own || owner == 0 || owner == directory_owner(path),
        },
    };
    if accepted { Ok(()) } else { Err(refuse(path, RefusalReason::ForeignOwner(owner))) }
}

/// Whether the target of a link belongs to the maker of the link, to this account or to root. Root can open
/// files that the maker of the link cannot open. So if this process is root, it follows another account's
/// link only to files of that account.
fn is_own_target(owner: u32, maker: u32, own: u32) -> bool {
    owner == maker || (own != 0 || maker == 0) && (owner == own || owner == 0)
}

fn directory_owner(path: &Path) -> u32 {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // If the directory cannot be examined, the result is root, which is accepted in any case.
    std::fs::metadata(directory).map_or(0, |found| found.uid())
}

#[cfg(test)]
mod tests;
