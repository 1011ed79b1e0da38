// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Retention: finds the records that exceed a limit, and splits them into batches to prune.
//!
//! This module only reads. [`Ledger::prune_batch`](super::Ledger::prune_batch) runs one transaction per batch.

use std::ops::Range;

use super::error::ReadError;
use super::reader::Reader;
use super::rows::{get_u64, sql_i64};

/// Maximum number of records in a batch: one index block.
const MAX_BATCH_RECORDS: u64 = 256;
/// Maximum size of the content in a batch. A larger record forms its own batch.
const MAX_BATCH_BYTES: u64 = 512 << 10;

/// Selects the records whose content can be pruned, with its size in bytes. Records that `verify` needs are left out.
const PRUNABLE_SQL: &str = "SELECT seq, length(bytes) + coalesce(length(payload), 0) FROM leaves
    WHERE seq BETWEEN ?1 AND ?2 AND bytes IS NOT NULL AND kind NOT IN ('start', 'rotate', 'prune', 'erase')";

/// Consecutive records that are pruned in one transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruneBatch {
    /// Number of the first record to prune.
    pub from: u64,
    /// Number of the last record to prune.
    pub to: u64,
    /// Number of records that have content.
    pub records: u64,
    /// Size of the content, in bytes.
    pub bytes: u64,
}

impl Reader {
    /// Returns the next records in `from..=to` to prune together, oldest first; `None` if all are pruned.
    pub fn next_prune_batch(&self, from: u64, to: u64) -> Result<Option<PruneBatch>, ReadError> {
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

    /// Returns the size of these records' envelopes and payloads in bytes, without hashes and index.
    pub fn content_bytes(&self, records: Range<u64>) -> Result<u64, ReadError> {
        let mut sum = 0;
        let Some(last) = records.end.checked_sub(1) else { return Ok(0) };
        self.each_prunable((records.start, last), "ASC", |_, bytes| {
            sum += bytes;
            true
        })?;
        Ok(sum)
    }

    /// Returns the newest record to prune if the content of all records exceeds `max_bytes`. The content of all newer
    /// records fits into `target_bytes`.
    pub fn last_beyond_bytes(&self, max_bytes: u64, target_bytes: u64) -> Result<Option<u64>, ReadError> {
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

    /// Returns the number of bytes in use in the database: content, hashes and index.
    pub fn used_bytes(&self) -> Result<u64, ReadError> {
        let sql = "SELECT (page_count - freelist_count) * page_size
            FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
        Ok(self.connection.query_row(sql, [], |row| get_u64(row, 0))?)
    }

    /// Calls `visit` with the number and size of each record that can be pruned, until it returns false.
    fn each_prunable(
        &self,
        (from, to): (u64, u64),
        order: &str,
        mut visit: impl FnMut(u64, u64) -> bool,
    ) -> Result<(), ReadError> {
        let mut statement =
            self.connection.prepare_cached(&format!("{PRUNABLE_SQL} ORDER BY seq {order}"))?;
        let mut rows = statement.query([sql_i64(from), sql_i64(to)])?;
        while let Some(row) = rows.next()? {
            if !visit(get_u64(row, 0)?, get_u64(row, 1)?) {
                break;
            }
        }
        Ok(())
    }
}
