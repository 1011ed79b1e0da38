// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Text search: one Bloom filter for each full block of records.
//!
//! The filter has a bit for every sequence of four bytes in the envelopes and stored payloads of its block, with
//! ASCII letters in lower case. A search reads only the blocks whose filter contains all sequences of the search
//! string. A full-text index would take as much space as the records and several times the CPU time of an append. A
//! filter takes 64 bytes and half a microsecond per record.
//!
//! After an erasure the block's filter is computed again, so that it does not reveal erased text.

use rusqlite::{Connection, params};

use super::block::BLOCK_RECORDS;
use super::rows::sql_i64;

/// Size of a filter in bytes. In a typical block, a fifth of the bits are set.
const FILTER_BYTES: usize = 16 << 10;
/// Number of hash bits that select a bit in the filter.
const FILTER_INDEX_BITS: u32 = FILTER_BYTES.ilog2() + 3;
/// Length of a sequence. The filters cannot be used for a shorter search string.
const SEQUENCE_BYTES: usize = 4;

/// The set of byte sequences in the texts of a block.
#[derive(Debug)]
pub(crate) struct TextFilter {
    /// One byte for each bit of the filter: setting a byte is twice as fast as setting a bit.
    seen: Box<[u8]>,
    /// Buffer that is reused for every text.
    lower: Vec<u8>,
}

/// The bits that must be set in a block's filter if the search string occurs in the block.
#[derive(Debug)]
pub(crate) struct TextProbe(Vec<usize>);

/// Returns the bit for each sequence in a text, which must be in lower case.
fn bits_of(lower: &[u8]) -> impl Iterator<Item = usize> {
    let sequences = lower.windows(SEQUENCE_BYTES).filter_map(|bytes| bytes.try_into().ok());
    // Multiplicative hashing with an odd constant.
    let hashes = sequences.map(|bytes| u32::from_le_bytes(bytes).wrapping_mul(0x9E37_79B1));
    hashes.map(|hash| usize::try_from(hash >> (u32::BITS - FILTER_INDEX_BITS)).unwrap_or(0))
}

impl Default for TextFilter {
    fn default() -> Self {
        Self { seen: vec![0; FILTER_BYTES * 8].into_boxed_slice(), lower: Vec::new() }
    }
}

impl TextFilter {
    /// Adds a text.
    pub(crate) fn add(&mut self, text: &[u8]) {
        self.lower.clear();
        self.lower.extend(text.iter().map(u8::to_ascii_lowercase));
        for bit in bits_of(&self.lower) {
            if let Some(seen) = self.seen.get_mut(bit) {
                *seen = 1;
            }
        }
    }

    /// Returns the filter in its stored form, and resets it.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let pack = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
        let bits = self.seen.chunks(8).map(pack).collect();
        self.seen.fill(0);
        bits
    }

    /// Returns the stored form of a full block's filter, computed from its rows.
    pub(crate) fn of_block(connection: &Connection, block: u64) -> rusqlite::Result<Vec<u8>> {
        let mut filter = Self::default();
        let sql = "SELECT bytes, payload FROM leaves WHERE seq BETWEEN ?1 AND ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement
            .query([sql_i64(block * BLOCK_RECORDS), sql_i64(block * BLOCK_RECORDS + BLOCK_RECORDS - 1)])?;
        while let Some(row) = rows.next()? {
            for column in 0..2 {
                filter.add(row.get_ref(column)?.as_blob_or_null()?.unwrap_or_default());
            }
        }
        Ok(filter.take())
    }
}

/// Stores a block's filter, replacing an earlier one.
pub(crate) fn store(connection: &Connection, block: u64, bits: &[u8]) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO text_filters (block, bits) VALUES (?1, ?2)";
    connection.prepare_cached(sql)?.execute(params![sql_i64(block), bits]).map(drop)
}

/// Whether `bits` is the block's stored filter.
pub(crate) fn is_stored(connection: &Connection, block: u64, bits: &[u8]) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM text_filters WHERE block = ?1 AND bits = ?2";
    connection.prepare_cached(sql)?.exists(params![sql_i64(block), bits])
}

impl TextProbe {
    /// Creates the probe for a search string that is escaped as in JSON; `None` if the string is too short.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let mut bits: Vec<_> = bits_of(text.to_ascii_lowercase().as_bytes()).collect();
        bits.sort_unstable();
        bits.dedup();
        (!bits.is_empty()).then_some(Self(bits))
    }

    /// Whether the search string may occur in the block with this filter.
    pub(crate) fn may_occur(&self, filter: &[u8]) -> bool {
        self.0.iter().all(|bit| filter.get(bit / 8).is_none_or(|byte| byte & 1 << (bit % 8) != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_occurs_is_never_missed_and_most_others_are() {
        let mut filter = TextFilter::default();
        let text = r#"{"command":"Cargo Test --workspace","cwd":"/home/dev/münchen"}"#;
        filter.add(text.as_bytes());
        let stored = filter.take();
        assert_eq!(stored.len(), FILTER_BYTES);
        for (start, _) in text.char_indices() {
            for (end, _) in text.char_indices().filter(|(end, _)| *end >= start + SEQUENCE_BYTES) {
                let part = text.get(start..end).unwrap().to_ascii_uppercase();
                assert!(TextProbe::new(&part).unwrap().may_occur(&stored), "{part}");
            }
        }
        for other in ["terraform destroy", "MÜNCHEN", "kubectl", "shop"] {
            assert!(!TextProbe::new(other).unwrap().may_occur(&stored), "{other}");
        }
    }

    #[test]
    fn a_text_of_less_than_four_bytes_has_no_probe() {
        assert!(TextProbe::new("").is_none() && TextProbe::new("rm ").is_none());
        assert!(TextProbe::new("rm -").is_some());
    }
}
