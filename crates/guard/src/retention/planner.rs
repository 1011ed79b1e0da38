// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the records that exceed the retention limits.

use std::time::Duration;

use tenterhook_ledger::{PruneBatch, ReadError, Reader};
use tenterhook_records::record_range;

use super::{MIN_RETENTION_AGE, RetentionLimits};

/// Percentage of `max_size` that remains after pruning. It is below 100 so that pruning need not run again for every
/// few records.
const SIZE_TARGET_PERCENT: u64 = 90;
/// Length of a day. Ages count in whole days, so that records are removed once a day.
const DAY_MS: u64 = 86_400_000;

/// Finds records to remove. Remembers between runs which records need not be read again.
#[derive(Debug, Default)]
pub struct RetentionPlanner {
    /// Records before this one have been pruned, as far as they can be.
    pruned_to: u64,
    /// Records before this one are included in `content_bytes`.
    counted_to: u64,
    /// Upper bound of the content's size in bytes. Erased content is not subtracted.
    content_bytes: u64,
}

impl RetentionPlanner {
    /// Returns the first record that may still have to be pruned.
    pub(super) fn pruned_to(&self) -> u64 {
        self.pruned_to
    }

    /// Records that a batch was pruned.
    pub(super) fn note_pruned(&mut self, batch: &PruneBatch) {
        self.pruned_to = batch.to + 1;
        self.content_bytes = self.content_bytes.saturating_sub(batch.bytes);
    }

    /// Records that nothing is left to prune up to this record.
    pub(super) fn note_all_pruned(&mut self, last: u64) {
        self.pruned_to = self.pruned_to.max(last + 1);
    }

    /// Returns the last record that exceeds a limit. Records of the last day are never removed.
    pub(super) fn last_expired(
        &mut self,
        reader: &Reader,
        limits: &RetentionLimits,
        now_ms: u64,
    ) -> Result<Option<u64>, ReadError> {
        let before =
            |age: Duration| now_ms.saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        let by_age = match limits.max_age {
            Some(age) => record_range::last_recorded_before(reader, before(age) / DAY_MS * DAY_MS)?,
            None => None,
        };
        let by_size = match limits.max_size {
            Some(max) => self.last_by_size(reader, max)?,
            None => None,
        };
        let Some(last) = by_age.max(by_size) else { return Ok(None) };
        let youngest = record_range::last_recorded_before(reader, before(MIN_RETENTION_AGE))?;
        Ok(youngest.map(|youngest| youngest.min(last)))
    }

    /// Returns the last record beyond `max` bytes of content. Each record's content is counted once and not again in
    /// every run.
    fn last_by_size(&mut self, reader: &Reader, max: u64) -> Result<Option<u64>, ReadError> {
        if reader.used_bytes()? <= max {
            return Ok(None);
        }
        let size = reader.size()?;
        self.content_bytes += reader.content_bytes(self.counted_to..size)?;
        self.counted_to = size;
        if self.content_bytes <= max {
            return Ok(None);
        }
        let beyond = reader.last_beyond_bytes(max, max / 100 * SIZE_TARGET_PERCENT)?;
        if beyond.is_none() {
            self.content_bytes = reader.content_bytes(0..size)?;
        }
        Ok(beyond)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenterhook_event::{EventId, Timestamp};
    use tenterhook_ledger::{Ledger, LedgerEntry, LedgerOptions};

    use super::*;

    /// 2026-11-15T08:00:00.000Z
    const NOW: u64 = 1_794_729_600_000;

    /// Creates a ledger with one record per day, the newest an hour old.
    fn ledger(dir: &std::path::Path, days: u64) -> Reader {
        thread_local!(static CLOCK: std::cell::Cell<u64> = const { std::cell::Cell::new(0) });
        for day in (0..days).rev() {
            let at = NOW - 3_600_000 - day * DAY_MS;
            CLOCK.set(at);
            let ledger = Ledger::open(dir, LedgerOptions::brief(|| CLOCK.get())).unwrap().ledger;
            let id = EventId::from_parts(at, u128::from(day));
            let detail = json!({"text": "x".repeat(1_000)});
            let entry =
                LedgerEntry::change(id, Timestamp::from_unix_ms(at), "test", "dev", detail, &|_| Vec::new());
            ledger.append(entry).unwrap();
            ledger.close().unwrap();
        }
        Reader::open(dir).unwrap()
    }

    fn last(reader: &Reader, max_age: Option<u64>, max_size: Option<u64>) -> Option<u64> {
        let max_age = max_age.map(|days| Duration::from_hours(24 * days));
        let limits = RetentionLimits { max_age, max_size };
        RetentionPlanner::default().last_expired(reader, &limits, NOW).unwrap()
    }

    #[test]
    fn the_longer_list_of_both_limits_goes_but_never_the_last_day() {
        let dir = tempfile::tempdir().unwrap();
        // Record 0 is the start, record 10 is an hour old, record 9 is 25 hours old.
        let reader = ledger(dir.path(), 10);
        assert_eq!(reader.size().unwrap(), 11);
        assert_eq!(last(&reader, Some(90), None), None);
        // Ages count in whole days. Record 7 was written at 07:00 three days ago, which is after the cutoff
        // at midnight.
        assert_eq!(last(&reader, Some(3), None), Some(6));
        assert_eq!(last(&reader, Some(1), None), Some(8));
        let all = reader.content_bytes(0..11).unwrap();
        assert_eq!(last(&reader, None, Some(all)), None);
        // The limit is half the size, so less than half is left.
        let by_size = last(&reader, None, Some(all / 2)).unwrap();
        let (rest, one_more) =
            (reader.content_bytes(by_size + 1..11).unwrap(), reader.content_bytes(by_size..11).unwrap());
        let target = all / 2 / 100 * SIZE_TARGET_PERCENT;
        assert!(rest <= target && target < one_more, "{by_size}: {rest}, {one_more}, {target}");
        assert_eq!(last(&reader, Some(2), Some(all / 2)), Some(7.max(by_size)));
        assert_eq!(last(&reader, None, Some(100)), Some(9), "an agent cannot push out its last day");
    }

    #[test]
    fn content_is_counted_once_and_again_only_if_the_sum_is_too_large() {
        let dir = tempfile::tempdir().unwrap();
        let reader = ledger(dir.path(), 10);
        let all = reader.content_bytes(0..11).unwrap();
        let mut planner = RetentionPlanner::default();
        assert_eq!(planner.last_by_size(&reader, all).unwrap(), None);
        assert_eq!((planner.counted_to, planner.content_bytes), (11, all));
        // A command has erased or pruned something, so the sum is too large and is corrected.
        planner.content_bytes += 1000;
        assert_eq!(planner.last_by_size(&reader, all + 10).unwrap(), None);
        assert_eq!(planner.content_bytes, all);
    }
}
