// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The lock file, which ensures that only one process writes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use super::error::OpenError;

/// Maximum length of the process id in the file.
const MAX_PID_BYTES: u64 = 32;

/// A lock that is held until drop. The kernel releases it when the process ends.
#[derive(Debug)]
pub(crate) struct LockFile {
    file: File,
    /// Whether the previous holder ended without releasing the lock.
    pub(crate) was_unclean: bool,
}

/// Creates the directory if it is missing. Fails if other users can write to it.
pub(crate) fn ensure_private_dir(dir: &Path) -> Result<(), OpenError> {
    let io = |source| OpenError::Io { path: dir.to_owned(), source };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io)?;
    let metadata = std::fs::metadata(dir).map_err(io)?;
    let mode = metadata.mode() & 0o777;
    if mode & 0o022 != 0 {
        return Err(OpenError::Permissions { path: dir.to_owned(), mode });
    }
    Ok(())
}

impl LockFile {
    /// Acquires the lock. The error contains the holder's process id.
    pub(crate) fn acquire(dir: &Path) -> Result<Self, OpenError> {
        let path = dir.join("lock");
        let io = |source| OpenError::Io { path: path.clone(), source };
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).truncate(false);
        let mut file = tenterhook_files::open_state_for_writing(&path, options).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // The process id is only used in the error message.
                let read = (&mut file).take(MAX_PID_BYTES).read_to_string(&mut text);
                let pid = read.ok().and_then(|_| text.trim().parse().ok());
                return Err(OpenError::Locked { pid });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let was_unclean = file.metadata().map_err(io)?.len() > 0;
        file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(io)?;
        Ok(Self { file, was_unclean })
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // If this fails, the next holder reports an unclean end.
        drop(self.file.set_len(0));
        // The lock is released explicitly, because a child process that is just starting may have the file open too.
        drop(self.file.unlock());
    }
}
