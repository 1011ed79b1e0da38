// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Removes old snapshots and the remains of interrupted ones.

use std::time::{Duration, SystemTime};

use crate::error::UndoError;
use crate::manifest::SnapshotManifest;
use crate::store::{UNFINISHED_ENDING, UndoStore, lock_directory};

/// File whose time is that of the last removal.
const PRUNED_FILE: &str = "pruned";
/// Time between two removals.
const PRUNE_INTERVAL: Duration = Duration::from_mins(1);
/// Size of a snapshot after which old ones are removed at once.
const LARGE_SNAPSHOT_BYTES: u64 = 64 * 1024 * 1024;

impl UndoStore {
    /// Removes snapshots that are too old, and the oldest ones until the rest is within the limits. Snapshots that replaced
    /// a question are removed last, because the user was not asked and relies on them. Returns the ids of the removed
    /// snapshots.
    pub fn prune(&self, now_ms: u64) -> Result<Vec<String>, UndoError> {
        self.remove_unfinished();
        let max_age_ms = u64::try_from(self.limits.max_age.as_millis()).unwrap_or(u64::MAX);
        let mut removed = Vec::new();
        let ids = self.list_ids()?;
        let newest = ids.first().cloned();
        let (mut protected, mut ordinary) = (Vec::new(), Vec::new());
        for id in ids {
            match self.read_manifest(&id) {
                Ok(manifest) if manifest.replaces_question => protected.push(manifest),
                Ok(manifest) => ordinary.push(manifest),
                Err(_) => {
                    self.remove(&id)?;
                    removed.push(id);
                }
            }
        }
        let mut total = 0_u64;
        for group in [protected, ordinary] {
            for (number, manifest) in group.into_iter().enumerate() {
                let sum = total.saturating_add(manifest.bytes);
                // The newest snapshot stays even if it is larger than all may be together.
                let is_kept = newest.as_ref() == Some(&manifest.id)
                    || number < self.limits.max_snapshots
                        && sum <= self.limits.max_total_bytes
                        && now_ms.saturating_sub(manifest.taken_ms) < max_age_ms;
                if is_kept {
                    total = sum;
                } else {
                    self.remove(&manifest.id)?;
                    removed.push(manifest.id);
                }
            }
        }
        let path = self.directory.join(PRUNED_FILE);
        std::fs::write(&path, "").map_err(|error| UndoError::io(&path, error))?;
        Ok(removed)
    }

    /// Removes one snapshot.
    pub fn remove(&self, id: &str) -> Result<(), UndoError> {
        let path = self.directory.join(id);
        // Renamed first, so that an interrupted removal leaves no incomplete snapshot.
        let unfinished = self.directory.join(format!("{id}{UNFINISHED_ENDING}"));
        let removed = std::fs::rename(&path, &unfinished).and_then(|()| std::fs::remove_dir_all(&unfinished));
        removed.map_err(|error| UndoError::io(&path, error))
    }

    /// Removes old snapshots if this was not done recently, or if the new snapshot is large.
    pub(crate) fn prune_if_due(&self, newest: &SnapshotManifest, now_ms: u64) {
        let pruned = self.directory.join(PRUNED_FILE).metadata().and_then(|found| found.modified());
        let is_recent = pruned.is_ok_and(|pruned| {
            SystemTime::now().duration_since(pruned).is_ok_and(|elapsed| elapsed < PRUNE_INTERVAL)
        });
        if !is_recent || newest.bytes >= LARGE_SNAPSHOT_BYTES {
            // The new snapshot is complete, so a failure here does not concern its call.
            let _ = self.prune(now_ms);
        }
    }

    /// Removes the directories of snapshots whose process ended before they were complete.
    pub(crate) fn remove_unfinished(&self) {
        let Ok(entries) = std::fs::read_dir(&self.directory) else { return };
        for entry in entries.flatten() {
            let is_unfinished =
                entry.file_name().to_str().is_some_and(|name| name.ends_with(UNFINISHED_ENDING));
            // The process that writes a snapshot holds the lock.
            if is_unfinished && let Ok(_lock) = lock_directory(&entry.path()) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}
