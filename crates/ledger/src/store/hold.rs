// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The lock: one process writes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use super::error::OpenError;

/// No process id is longer.
const MAX_PID_BYTES: u64 = 32;

/// Held as long as it lives, and released by the kernel when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Hold {
    file: File,
    /// The one who had the lock before did not let go of it in order.
    pub(crate) unclean: bool,
}

/// Makes the directory if need be, and looks whether others could write to it.
pub(crate) fn directory(dir: &Path) -> Result<(), OpenError> {
    let io = |source| OpenError::Io { path: dir.to_owned(), source };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io)?;
    let metadata = std::fs::metadata(dir).map_err(io)?;
    let mode = metadata.mode() & 0o777;
    if mode & 0o022 != 0 {
        return Err(OpenError::Permissions { path: dir.to_owned(), mode });
    }
    Ok(())
}

impl Hold {
    /// Takes the lock, or says who has it.
    pub(crate) fn take(dir: &Path) -> Result<Self, OpenError> {
        let path = dir.join("lock");
        let io = |source| OpenError::Io { path: path.clone(), source };
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).truncate(false);
        let mut file = tenterhook_files::open_state_for_writing(&path, options).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Who it is helps, but is not needed.
                let read = (&mut file).take(MAX_PID_BYTES).read_to_string(&mut text);
                let pid = read.ok().and_then(|_| text.trim().parse().ok());
                return Err(OpenError::Locked { pid });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let unclean = file.metadata().map_err(io)?.len() > 0;
        file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(io)?;
        Ok(Self { file, unclean })
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // If it fails, the next one says that we ended badly, which is near enough.
        drop(self.file.set_len(0));
        // A child that is just being started may have the file open too.
        drop(self.file.unlock());
    }
}
