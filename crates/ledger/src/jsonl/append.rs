// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Appending: one line, whole or not at all, durable before we return.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use super::Leaf;

/// How long another writer may keep us waiting.
const LOCK_DEADLINE: Duration = Duration::from_secs(2);

/// An append-only file of leaves. Any number of processes may append at the same time.
#[derive(Debug, Clone)]
pub struct Log {
    path: PathBuf,
}

/// The leaf could not be kept. Nothing of it is in the file.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The file cannot be written.
    #[error("`{}` cannot be written: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The leaf cannot be turned into JSON.
    #[error("the leaf cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Log {
    /// The log in this file, which is made when the first leaf is appended.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one leaf and returns once it is on the disk.
    pub fn append(&self, leaf: &Leaf) -> Result<(), AppendError> {
        let mut line = serde_json::to_vec(leaf)?;
        line.push(b'\n');
        self.write(&line).map_err(|source| AppendError::Io { path: self.path.clone(), source })
    }

    fn write(&self, line: &[u8]) -> std::io::Result<()> {
        let mut file = self.open()?;
        lock(&file)?;
        let end = file.seek(SeekFrom::End(0))?;
        let result = mend(&mut file, end).and_then(|()| file.write_all(line)).and_then(|()| file.sync_data());
        if result.is_err() {
            // Half a line would make the next one unreadable as well.
            file.set_len(end)?;
        }
        result
    }

    fn open(&self) -> std::io::Result<File> {
        // A link in our place would let its maker choose where we write.
        let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(0o600).custom_flags(no_follow);
        options.open(&self.path)
    }
}

/// Waits for the lock, but not for ever: whoever holds it could keep every decision waiting.
fn lock(file: &File) -> std::io::Result<()> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if started.elapsed() < LOCK_DEADLINE => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(std::io::Error::other("another program keeps it locked"));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// A crash may have left half a line; what follows starts on a line of its own.
fn mend(file: &mut File, end: u64) -> std::io::Result<()> {
    if end == 0 {
        return Ok(());
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(end - 1))?;
    file.read_exact(&mut last)?;
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}
