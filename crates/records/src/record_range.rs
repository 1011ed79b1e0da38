// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Resolves ranges of records, for erasing and pruning.

use tenterhook_event::Timestamp;
use tenterhook_ledger::{ReadError, Reader};

use tenterhook_error::Failure;

/// Checks that a record exists in a ledger of this size.
pub fn check_exists(seq: u64, size: u64) -> Result<(), Failure> {
    if seq < size {
        return Ok(());
    }
    Err(Failure::user(format!("no record {seq}; the last one is {}", size.saturating_sub(1)))
        .hint("run `tenterhook ledger query` to list records; the first column is the number"))
}

/// Finds the last record before a time. Uses a binary search, because records are in chronological order.
pub fn last_recorded_before(reader: &Reader, ms: u64) -> Result<Option<u64>, ReadError> {
    let (mut low, mut high) = (0, reader.size()?);
    while low < high {
        let middle = low.midpoint(high);
        let record = reader.get(middle)?;
        let recorded = record.as_ref().and_then(|record| record.envelope()).and_then(Result::ok);
        let recorded = recorded.and_then(|envelope| envelope.recorded.parse::<Timestamp>().ok());
        // Pruned records are older than all others.
        if recorded.is_some_and(|recorded| recorded.unix_ms() >= ms) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low.checked_sub(1))
}
