// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Retention: which records exceed a limit, and in which batches they are pruned.
//!
//! All of it is read beside the writer. Only [`Ledger::prune_batch`](super::Ledger::prune_batch) holds the writer,
//! for one transaction per batch.

use std::ops::Range;

use super::error::ReadFailed;
use super::reader::Reader;
use super::rows::{signed, unsigned};

/// Records in a batch, at most: one block of the index.
const MAX_BATCH_RECORDS: u64 = 256;
/// Bytes of content in a batch; a record that exceeds this alone is a batch of its own.
const MAX_BATCH_BYTES: u64 = 512 << 10;

/// Records with content that pruning removes, with the bytes of their content. Records that `verify` needs have none
/// to remove.
const PRUNABLE: &str = "SELECT seq, length(bytes) + coalesce(length(payload), 0) FROM leaves
    WHERE seq BETWEEN ?1 AND ?2 AND bytes IS NOT NULL AND kind NOT IN ('start', 'rotate', 'prune', 'erase')";

/// Consecutive records that are pruned in one transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruneBatch {
    /// The first record to prune.
    pub from: u64,
    /// The last record to prune.
    pub to: u64,
    /// How many of them have content.
    pub records: u64,
    /// Bytes of their content.
    pub bytes: u64,
}

// === impl Reader ===

impl Reader {
    /// The next records of `from..=to` to prune together, oldest first. `None` if all are pruned.
    pub fn next_prune_batch(&self, from: u64, to: u64) -> Result<Option<PruneBatch>, ReadFailed> {
        let mut batch: Option<PruneBatch> = None;
        self.each_prunable((from, to), "ASC", |seq, bytes| {
            let sum = batch.get_or_insert(PruneBatch { from: seq, to: seq, records: 0, bytes: 0 });
            if sum.records > 0 && sum.bytes + bytes > MAX_BATCH_BYTES {
                return false;
            }
            (sum.to, sum.records, sum.bytes) = (seq, sum.records + 1, sum.bytes + bytes);
            sum.records < MAX_BATCH_RECORDS
        })?;
        Ok(batch)
    }

    /// Bytes of content of these records: envelopes and payloads, without hashes and index.
    pub fn content_bytes(&self, records: Range<u64>) -> Result<u64, ReadFailed> {
        let mut sum = 0;
        let Some(last) = records.end.checked_sub(1) else { return Ok(0) };
        self.each_prunable((records.start, last), "ASC", |_, bytes| {
            sum += bytes;
            true
        })?;
        Ok(sum)
    }

    /// If the content of all records exceeds `max_bytes`: the newest record that has to go so that the content of all
    /// newer ones fits into `target_bytes`.
    pub fn last_beyond_bytes(&self, max_bytes: u64, target_bytes: u64) -> Result<Option<u64>, ReadFailed> {
        let (mut sum, mut beyond) = (0, None);
        self.each_prunable((0, u64::MAX), "DESC", |seq, bytes| {
            sum += bytes;
            if sum > target_bytes && beyond.is_none() {
                beyond = Some(seq);
            }
            sum <= max_bytes
        })?;
        Ok(beyond.filter(|_| sum > max_bytes))
    }

    /// Bytes of the database that are in use: content, hashes and index.
    pub fn used_bytes(&self) -> Result<u64, ReadFailed> {
        let sql = "SELECT (page_count - freelist_count) * page_size
            FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
        Ok(self.connection.query_row(sql, [], |row| unsigned(row, 0))?)
    }

    /// Calls `visit` with number and bytes of each record that can be pruned, until it returns false.
    fn each_prunable(
        &self,
        (from, to): (u64, u64),
        order: &str,
        mut visit: impl FnMut(u64, u64) -> bool,
    ) -> Result<(), ReadFailed> {
        let mut statement = self.connection.prepare_cached(&format!("{PRUNABLE} ORDER BY seq {order}"))?;
        let mut rows = statement.query([signed(from), signed(to)])?;
        while let Some(row) = rows.next()? {
            if !visit(unsigned(row, 0)?, unsigned(row, 1)?) {
                break;
            }
        }
        Ok(())
    }
}
