// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A pool of ledger readers. Readers do not block the writer.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tenterhook_ledger::{ReadError, Reader};
use tokio::sync::Semaphore;

use super::error::ApiError;

/// Maximum number of readers in the pool.
const MAX_READERS: usize = 4;

/// Open readers that are not in use.
pub(crate) struct LedgerReaders {
    dir: PathBuf,
    room: Semaphore,
    idle: Mutex<Vec<Reader>>,
}

impl LedgerReaders {
    pub(crate) fn new(dir: PathBuf) -> Arc<Self> {
        Arc::new(Self { dir, room: Semaphore::new(MAX_READERS), idle: Mutex::default() })
    }

    /// Runs a read in a thread that may block.
    pub(crate) async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Reader) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let unread = |why: &str| {
            tracing::warn!(why, "the ledger could not be read");
            let hint = "run `tenterhook ledger verify` to check the ledger";
            ApiError::internal(why).hint(hint)
        };
        let _room = self.room.acquire().await.map_err(|error| unread(&error.to_string()))?;
        let this = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || this.read(read)).await;
        done.map_err(|error| unread(&error.to_string()))?.map_err(|error| unread(&error.to_string()))
    }

    /// Runs a read on the current thread, which may block.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Reader) -> Result<T, ReadError>) -> Result<T, ReadError> {
        let waiting = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let reader = match waiting {
            Some(reader) => reader,
            None => Reader::open(&self.dir)?,
        };
        let result = read(&reader);
        // A reader that failed may be broken; a new one is opened when needed.
        if result.is_ok() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        }
        result
    }
}
