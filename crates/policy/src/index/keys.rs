// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds rules by key directly in the bytes of the compiled form: in a hash table for whole keys, and in sorted rows
//! for key prefixes. All entries have a fixed size, so that nothing is decoded before it is found.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{DAMAGED_INDEX_ENTRY, IndexEntry};
use crate::compiled::{BodyBytes, BodySection, BodyWriter, WriteError};
use crate::fnv;

/// Size of a slot of the hash table. A slot contains half of the hash and then the row number plus one. An empty slot
/// is all zero.
const SLOT_BYTES: usize = 8;
/// Size of a row: the offsets of its key and of its entries. The last row is empty and only provides the end offsets.
const ROW_BYTES: usize = 8;
/// Size of an entry: the numbers of a rule and of an alternative.
const ENTRY_BYTES: usize = 6;

/// Rules by key. In the index of an event kind, each key begins with a tag: a letter for the kind of key.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct KeyTable {
    /// Tags that occur, one bit for each ASCII letter. A small rule set has few kinds of keys; lookups of other kinds
    /// end before hashing.
    tags: u128,
    /// A hash table with linear probing. At most half of its slots are used, so that most missing keys are rejected
    /// after one probe.
    slots: BodySection,
    rows: BodySection,
    /// The text of all keys, in order.
    keys: BodySection,
    /// The entries of all keys, in the order of the keys.
    entries: BodySection,
}

impl KeyTable {
    pub(crate) fn write(
        by_key: &BTreeMap<String, Vec<IndexEntry>>,
        to: &mut BodyWriter,
    ) -> Result<Self, WriteError> {
        let mut tags = 0;
        let mut slots = vec![[0; SLOT_BYTES]; (by_key.len() * 2).next_power_of_two()];
        let (mut rows, mut keys, mut entries) =
            (Vec::with_capacity(by_key.len() + 1), Vec::new(), Vec::new());
        for (number, (key, of_key)) in (1_u32..).zip(by_key) {
            tags |= key.chars().next().map_or(0, tag_bit);
            let hash = KeyHash::new(key);
            let free = hash.probes(slots.len()).find(|slot| slots.get(*slot) == Some(&[0; SLOT_BYTES]));
            let slot = free.and_then(|slot| slots.get_mut(slot)).ok_or(WriteError)?;
            *slot = pair_to_bytes(hash.slot_tag(), number);
            rows.push(row_to_bytes(keys.len(), entries.len())?);
            keys.extend_from_slice(key.as_bytes());
            entries.extend(of_key.iter().copied().map(entry_to_bytes));
        }
        rows.push(row_to_bytes(keys.len(), entries.len())?);
        Ok(Self {
            tags,
            slots: to.add_bytes(slots.as_flattened())?,
            rows: to.add_bytes(rows.as_flattened())?,
            keys: to.add_bytes(&keys)?,
            entries: to.add_bytes(entries.as_flattened())?,
        })
    }

    /// Finds the entries of the key with this tag and text.
    pub(crate) fn get(&self, body: BodyBytes<'_>, tag: char, text: &str, found: &mut Vec<IndexEntry>) {
        if self.has_tag(tag) {
            let hash = KeyHash::from_tagged(tag, text);
            self.find_hashed(body, hash, |key| is_tagged(key, tag, text), found);
        }
    }

    /// Finds the entries of all keys that are prefixes of a string, given the ends of the prefixes in increasing
    /// order. Each letter is hashed once.
    pub(crate) fn get_prefixes(
        &self,
        body: BodyBytes<'_>,
        tag: char,
        text: &str,
        ends: impl Iterator<Item = usize>,
        found: &mut Vec<IndexEntry>,
    ) {
        if !self.has_tag(tag) {
            return;
        }
        let (mut hash, mut hashed) = (KeyHash::from_tagged(tag, ""), 0);
        for end in ends {
            let (Some(start), Some(more)) = (text.get(..end), text.get(hashed..end)) else { return };
            hash = hash.extend(more);
            hashed = end;
            self.find_hashed(body, hash, |key| is_tagged(key, tag, start), found);
        }
    }

    /// Hashes the common start of several keys; `None` if no key has this tag.
    pub(crate) fn hash_start<'k>(&self, tag: char, parts: [&'k str; 2]) -> Option<KeyStart<'k>> {
        let hash = || parts.iter().fold(KeyHash::from_tagged(tag, ""), |hash, part| hash.extend(part));
        self.has_tag(tag).then(|| KeyStart { tag, parts, hash: hash() })
    }

    /// Finds the entries of the key that consists of this start and the rest.
    pub(crate) fn get_after(
        &self,
        body: BodyBytes<'_>,
        start: &KeyStart<'_>,
        rest: &str,
        found: &mut Vec<IndexEntry>,
    ) {
        self.find_hashed(body, start.hash.extend(rest), |key| start.matches_key(key, rest), found);
    }

    /// Finds the entries of a whole key.
    pub(crate) fn find(&self, body: BodyBytes<'_>, key: &str, found: &mut Vec<IndexEntry>) {
        self.find_hashed(body, KeyHash::new(key), |there| there == key.as_bytes(), found);
    }

    /// Finds the entries of all keys with this prefix.
    pub(crate) fn find_by_prefix(&self, body: BodyBytes<'_>, start: &str, found: &mut Vec<IndexEntry>) {
        if start.chars().next().is_none_or(|tag| self.has_tag(tag)) {
            let (rows, start) = (KeyRows::from_table(self, body), start.as_bytes());
            let first = rows.partition_point(0, |key| key < start);
            let range = first
                .and_then(|first| Some(first..rows.partition_point(first, |key| key.starts_with(start))?));
            if range.and_then(|range| rows.collect_entries(range, found)).is_none() {
                found.push(DAMAGED_INDEX_ENTRY);
            }
        }
    }

    /// Whether some key has this tag.
    pub(crate) fn has_tag(&self, tag: char) -> bool {
        self.tags & tag_bit(tag) != 0
    }

    fn find_hashed(
        &self,
        body: BodyBytes<'_>,
        hash: KeyHash,
        is_key: impl Fn(&[u8]) -> bool,
        found: &mut Vec<IndexEntry>,
    ) {
        let (slots, _) = body.bytes(self.slots).as_chunks::<SLOT_BYTES>();
        for slot in hash.probes(slots.len()) {
            let Some((tag, number)) = slots.get(slot).copied().map(pair_from_bytes) else { break };
            let Some(row) = number.checked_sub(1) else { return };
            if tag != hash.slot_tag() {
                continue;
            }
            let (rows, row) = (KeyRows::from_table(self, body), usize::try_from(row).unwrap_or(usize::MAX));
            let Some((key, entries)) = rows.key(row).zip(rows.entries(row..row.saturating_add(1))) else {
                break;
            };
            if is_key(key) {
                return found.extend(entries.iter().copied().map(entry_from_bytes));
            }
        }
        // In an intact table, the search ends at an empty slot.
        found.push(DAMAGED_INDEX_ENTRY);
    }
}

#[cfg(test)]
impl KeyTable {
    /// Returns the ranges of slots and rows, for tests that damage them.
    pub(super) fn searched_ranges(&self) -> [std::ops::Range<usize>; 2] {
        [self.slots.range(), self.rows.range()]
    }
}

/// The rows of a table, with the keys and entries that they refer to.
struct KeyRows<'a> {
    starts: &'a [[u8; ROW_BYTES]],
    keys: &'a [u8],
    entries: &'a [[u8; ENTRY_BYTES]],
}

impl<'a> KeyRows<'a> {
    fn from_table(table: &KeyTable, body: BodyBytes<'a>) -> Self {
        let (starts, _) = body.bytes(table.rows).as_chunks();
        let (entries, _) = body.bytes(table.entries).as_chunks();
        Self { starts, keys: body.bytes(table.keys), entries }
    }

    /// Returns the offsets of a row's key and of its entries.
    fn row(&self, at: usize) -> Option<(usize, usize)> {
        let (key, entry) = pair_from_bytes(*self.starts.get(at)?);
        usize::try_from(key).ok().zip(usize::try_from(entry).ok())
    }

    fn key(&self, at: usize) -> Option<&'a [u8]> {
        self.keys.get(self.row(at)?.0..self.row(at.checked_add(1)?)?.0)
    }

    fn entries(&self, rows: std::ops::Range<usize>) -> Option<&'a [[u8; ENTRY_BYTES]]> {
        self.entries.get(self.row(rows.start)?.1..self.row(rows.end)?.1)
    }

    /// Finds the entries of several rows; `None` if the table is damaged.
    fn collect_entries(&self, rows: std::ops::Range<usize>, found: &mut Vec<IndexEntry>) -> Option<()> {
        let mut previous: &[[u8; ENTRY_BYTES]] = &[];
        for row in rows {
            let entries = self.entries(row..row.checked_add(1)?)?;
            // The globs of a list begin alike, so neighbours often have the same entries.
            if entries != previous {
                found.extend(entries.iter().copied().map(entry_from_bytes));
                previous = entries;
            }
        }
        Some(())
    }

    /// Returns the first row from `first` on whose key is not before the wanted one; `None` if the table is damaged.
    fn partition_point(&self, first: usize, is_before: impl Fn(&[u8]) -> bool) -> Option<usize> {
        let (mut low, mut high) = (first, self.starts.len().checked_sub(1)?);
        while low < high {
            let middle = low.midpoint(high);
            if is_before(self.key(middle)?) { low = middle + 1 } else { high = middle }
        }
        Some(low)
    }
}

/// The hashed start of several keys.
pub(crate) struct KeyStart<'k> {
    tag: char,
    parts: [&'k str; 2],
    hash: KeyHash,
}

impl KeyStart<'_> {
    /// Whether a key is this start followed by the rest.
    fn matches_key(&self, key: &[u8], rest: &str) -> bool {
        let after_tag = key.strip_prefix(self.tag.encode_utf8(&mut [0; 4]).as_bytes());
        let end = self.parts.iter().try_fold(after_tag, |key, part| Some(key?.strip_prefix(part.as_bytes())));
        end.flatten() == Some(rest.as_bytes())
    }
}

/// The hash of a key.
#[derive(Clone, Copy)]
struct KeyHash(u64);

impl KeyHash {
    fn new(key: &str) -> Self {
        Self(fnv::extend_hash(fnv::OFFSET_BASIS, key.as_bytes()))
    }

    fn from_tagged(tag: char, text: &str) -> Self {
        Self::new(tag.encode_utf8(&mut [0; 4])).extend(text)
    }

    /// Returns the hash of this key with the text appended.
    fn extend(self, text: &str) -> Self {
        Self(fnv::extend_hash(self.0, text.as_bytes()))
    }

    /// Returns the part of the hash that is stored in a slot.
    #[expect(clippy::cast_possible_truncation, reason = "half of the hash")]
    fn slot_tag(self) -> u32 {
        self.0 as u32
    }

    /// Returns the slots that may contain the key, in the order in which they are tried. Every slot is included.
    fn probes(self, slots: usize) -> impl Iterator<Item = usize> {
        // FNV does not carry the last letters of a key into the upper bits, so mix them.
        let mixed = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let (first, mask) = (usize::try_from(mixed).unwrap_or(0), slots.saturating_sub(1));
        (0..slots).map(move |step| first.wrapping_add(step) & mask)
    }
}

fn tag_bit(tag: char) -> u128 {
    1_u128.checked_shl(u32::from(tag)).unwrap_or(u128::MAX)
}

fn is_tagged(key: &[u8], tag: char, text: &str) -> bool {
    key.strip_prefix(tag.encode_utf8(&mut [0; 4]).as_bytes()) == Some(text.as_bytes())
}

fn row_to_bytes(key: usize, entry: usize) -> Result<[u8; ROW_BYTES], WriteError> {
    let number = |number: usize| u32::try_from(number).map_err(|_| WriteError);
    Ok(pair_to_bytes(number(key)?, number(entry)?))
}

fn pair_to_bytes(first: u32, second: u32) -> [u8; 8] {
    (u64::from(second) << 32 | u64::from(first)).to_le_bytes()
}

#[expect(clippy::cast_possible_truncation, reason = "only the lower half is used")]
fn pair_from_bytes(bytes: [u8; 8]) -> (u32, u32) {
    let both = u64::from_le_bytes(bytes);
    (both as u32, (both >> 32) as u32)
}

fn entry_to_bytes((rule, part): IndexEntry) -> [u8; ENTRY_BYTES] {
    let ([r0, r1, r2, r3], [p0, p1]) = (rule.to_le_bytes(), part.to_le_bytes());
    [r0, r1, r2, r3, p0, p1]
}

fn entry_from_bytes([r0, r1, r2, r3, p0, p1]: [u8; ENTRY_BYTES]) -> IndexEntry {
    (u32::from_le_bytes([r0, r1, r2, r3]), u16::from_le_bytes([p0, p1]))
}
