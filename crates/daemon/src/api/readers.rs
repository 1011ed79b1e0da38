// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A few readers of the ledger, beside the writer and never in its way.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tenterhook_ledger::{ReadError, Reader};
use tokio::sync::Semaphore;

use super::error::ApiError;

/// How many read at the same time.
const AT_ONCE: usize = 4;

/// Readers, open and waiting.
pub(crate) struct Readers {
    dir: PathBuf,
    room: Semaphore,
    idle: Mutex<Vec<Reader>>,
}

impl Readers {
    pub(crate) fn new(dir: PathBuf) -> Arc<Self> {
        Arc::new(Self { dir, room: Semaphore::new(AT_ONCE), idle: Mutex::default() })
    }

    /// Reads, on a thread that may wait for the disk.
    pub(crate) async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Reader) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let unread = |why: &str| {
            tracing::warn!(why, "the ledger could not be read");
            let hint = "`tenterhook ledger verify` says whether the ledger is whole";
            ApiError::internal(why).hint(hint)
        };
        let _room = self.room.acquire().await.map_err(|error| unread(&error.to_string()))?;
        let this = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || this.read(read)).await;
        done.map_err(|error| unread(&error.to_string()))?.map_err(|error| unread(&error.to_string()))
    }

    /// Reads on the current thread, which may block.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Reader) -> Result<T, ReadError>) -> Result<T, ReadError> {
        let waiting = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let reader = match waiting {
            Some(reader) => reader,
            None => Reader::open(&self.dir)?,
        };
        let result = read(&reader);
        // One that failed may be broken; another is opened when it is needed.
        if result.is_ok() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        }
        result
    }
}
