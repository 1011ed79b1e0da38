// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which leaves are meant by whoever wants something gone from the ledger.

use tenterhook_event::Timestamp;
use tenterhook_ledger::{ReadFailed, Reader};

use tenterhook_error::Failure;

/// Whether there is such a leaf in a ledger of this size.
pub fn exists(seq: u64, size: u64) -> Result<(), Failure> {
    if seq < size {
        return Ok(());
    }
    Err(Failure::user(format!("there is no leaf {seq}; the last one is {}", size.saturating_sub(1)))
        .hint("`tenterhook ledger query` lists them; the first column is the number"))
}

/// The last leaf that was recorded before this moment, if there is one: leaves are recorded in order.
pub fn last_before(reader: &Reader, ms: u64) -> Result<Option<u64>, ReadFailed> {
    let (mut low, mut high) = (0, reader.size()?);
    while low < high {
        let middle = low.midpoint(high);
        let record = reader.get(middle)?;
        let recorded = record.as_ref().and_then(|record| record.envelope()).and_then(Result::ok);
        let recorded = recorded.and_then(|leaf| leaf.recorded.parse::<Timestamp>().ok());
        // A leaf that is gone was pruned, so it is from before.
        if recorded.is_some_and(|recorded| recorded.unix_ms() >= ms) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low.checked_sub(1))
}
