// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Limits of snapshots.

use std::time::{Duration, Instant};

use crate::error::SnapshotError;

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// Limits of one snapshot and of all snapshots together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoLimits {
    /// Maximum number of files of a snapshot.
    pub max_files: usize,
    /// Maximum size of a snapshot. Hard links count too, because they keep the space of a deleted file in use.
    pub max_bytes: u64,
    /// Maximum size of a file that is copied. Files that share their blocks or are linked may be larger.
    pub max_copy_bytes: u64,
    /// Maximum size of all copies of a snapshot together. Links and shared blocks do not count.
    pub max_copied_bytes: u64,
    /// Maximum size of all snapshots together. The oldest ones are removed first, and those that replaced a question
    /// last.
    pub max_total_bytes: u64,
    /// Maximum number of snapshots that replaced a question, and of other snapshots.
    pub max_snapshots: usize,
    /// Age at which a snapshot is removed.
    pub max_age: Duration,
    /// Time limit of a snapshot. The call waits for it.
    pub max_time: Duration,
    /// Free space that a snapshot must leave on the disk of the state directory.
    pub min_free_bytes: u64,
}

/// The moment at which a snapshot has to be complete.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    ends: Option<Instant>,
    limit: Duration,
}

// === impl UndoLimits ===

impl UndoLimits {
    /// Sets the maximum size of a snapshot.
    pub fn set_max_mib(&mut self, mib: u64) {
        self.max_bytes = mib.saturating_mul(MIB);
        self.max_copy_bytes = self.max_copy_bytes.min(self.max_bytes);
    }

    /// Sets the maximum size of all snapshots together.
    pub fn set_max_total_mib(&mut self, mib: u64) {
        self.max_total_bytes = mib.saturating_mul(MIB);
    }

    /// Sets the age at which a snapshot is removed.
    pub fn set_keep_days(&mut self, days: u64) {
        self.max_age = Duration::from_hours(days.saturating_mul(24));
    }
}

impl Default for UndoLimits {
    fn default() -> Self {
        Self {
            max_files: 100_000,
            max_bytes: GIB,
            max_copy_bytes: 256 * MIB,
            max_copied_bytes: GIB,
            max_total_bytes: 5 * GIB,
            max_snapshots: 1_000,
            max_age: Duration::from_hours(7 * 24),
            max_time: Duration::from_secs(2),
            min_free_bytes: 512 * MIB,
        }
    }
}

// === impl Deadline ===

impl Deadline {
    pub(crate) fn start(limit: Duration) -> Self {
        Self { ends: Instant::now().checked_add(limit), limit }
    }

    /// Whether half of the time is over.
    pub(crate) fn is_half_over(&self) -> bool {
        self.ends.is_some_and(|ends| ends.saturating_duration_since(Instant::now()) < self.limit / 2)
    }

    /// Fails if the time is over.
    pub(crate) fn check(&self) -> Result<(), SnapshotError> {
        match self.ends {
            Some(ends) if Instant::now() >= ends => {
                Err(SnapshotError::TimedOut { limit_ms: self.limit.as_millis() })
            }
            _ => Ok(()),
        }
    }
}
