// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Removes records that exceed the retention limits, in batches with pauses between them.

use std::time::{Duration, Instant};

use tenterhook_fleet_state::FleetDir;
use tenterhook_home::{Home, call_meta};
use tenterhook_ledger::{AppendError, Ledger, ReadError, Reader};
use tenterhook_records::secrets;

use super::{Retention, RetentionLimits, RetentionPlanner};

/// Minimum pause after a batch.
const MIN_BATCH_PAUSE: Duration = Duration::from_millis(20);
/// Pause after a batch, as a multiple of the batch's duration, so that other callers can write most of the time.
const BATCH_PAUSE_FACTOR: u32 = 4;

/// Why records could not be removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetentionError {
    /// The ledger cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A batch could not be pruned.
    #[error(transparent)]
    Prune(#[from] AppendError),
}

impl RetentionPlanner {
    /// Prunes the records that exceed the limits and adds their number to `removed`. The caller is blocked until the
    /// end, but the ledger's writer only for one batch at a time. Ends early if `is_ending` returns true or the
    /// limits change.
    pub fn apply(
        &mut self,
        home: &Home,
        limits: RetentionLimits,
        (ledger, who): (&Ledger, &str),
        is_ending: impl Fn() -> bool,
        removed: &mut u64,
    ) -> Result<(), RetentionError> {
        let reader = Reader::open(&home.ledger())?;
        let Some(last) = self.last_expired(&reader, &limits, call_meta::now_ms())? else { return Ok(()) };
        // Records that the fleet has not acknowledged stay until it has.
        let removable = FleetDir::of_state(&home.state).removable_records();
        let last = match removable.map(|count| count.checked_sub(1)) {
            None => last,
            Some(Some(acknowledged)) => last.min(acknowledged),
            Some(None) => return Ok(()),
        };
        let reason = format!("retention: {limits}");
        while let Some(batch) = reader.next_prune_batch(self.pruned_to(), last)? {
            // Longer limits may have been set since.
            if is_ending() || Retention::read(home).applied != limits {
                return Ok(());
            }
            let began = Instant::now();
            ledger.prune_batch(batch, who, &reason, &secrets)?;
            *removed += batch.records;
            self.note_pruned(&batch);
            std::thread::sleep((began.elapsed() * BATCH_PAUSE_FACTOR).max(MIN_BATCH_PAUSE));
        }
        self.note_all_pruned(last);
        Ok(())
    }
}
