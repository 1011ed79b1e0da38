// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rules by keys, searched in the bytes of the compiled form: a hash table for whole keys, and rows in the order
//! of their keys for beginnings of keys. Everything has a fixed size, so that nothing is decoded before it is found.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{DAMAGED, Entry};
use crate::compiled::{Body, BodyWriter, Section, WriteError};
use crate::fnv;

/// A slot of the hash table: half of the hash, then the number of the row plus one; zero if it is empty.
const SLOT_BYTES: usize = 8;
/// A row: where its key and its entries begin. The last row is empty and says where those before it end.
const ROW_BYTES: usize = 8;
/// The number of a rule and of an alternative.
const ENTRY_BYTES: usize = 6;

/// Rules by keys. In the index of a kind of event, a key begins with a letter that says what it is about.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct KeyTable {
    /// Which first letters its keys have, a bit for each letter of ASCII: a few rules need few kinds of things, and
    /// the others are not even hashed.
    tags: u128,
    /// A hash table with linear probing. At most half of its slots are used, so that most keys that do not exist
    /// are rejected by one look.
    slots: Section,
    rows: Section,
    /// The letters of all keys, in order.
    keys: Section,
    /// The entries of all keys, in the order of the keys.
    entries: Section,
}

impl KeyTable {
    pub(crate) fn write(
        by_key: &BTreeMap<String, Vec<Entry>>,
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
            *slot = pair_to_bytes(hash.tag(), number);
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

    /// The entries under the key of this first letter and rest.
    pub(crate) fn get(&self, body: Body<'_>, tag: char, text: &str, found: &mut Vec<Entry>) {
        if self.has_tag(tag) {
            let hash = KeyHash::of_parts(tag, text);
            self.find_hashed(body, hash, |key| is_tagged(key, tag, text), found);
        }
    }

    /// The same for beginnings of one text that end here and here, each further than the one before: every letter
    /// is hashed once.
    pub(crate) fn get_beginnings(
        &self,
        body: Body<'_>,
        tag: char,
        text: &str,
        ends: impl Iterator<Item = usize>,
        found: &mut Vec<Entry>,
    ) {
        if !self.has_tag(tag) {
            return;
        }
        let (mut hash, mut hashed) = (KeyHash::of_parts(tag, ""), 0);
        for end in ends {
            let (Some(start), Some(more)) = (text.get(..end), text.get(hashed..end)) else { return };
            hash = hash.extend(more);
            hashed = end;
            self.find_hashed(body, hash, |key| is_tagged(key, tag, start), found);
        }
    }

    /// The start of many keys, hashed once; `None` if no key has this first letter.
    pub(crate) fn start<'k>(&self, tag: char, parts: [&'k str; 2]) -> Option<KeyStart<'k>> {
        let hash = || parts.iter().fold(KeyHash::of_parts(tag, ""), |hash, part| hash.extend(part));
        self.has_tag(tag).then(|| KeyStart { tag, parts, hash: hash() })
    }

    /// The entries under the key that goes on so after its start.
    pub(crate) fn get_after(&self, body: Body<'_>, start: &KeyStart<'_>, rest: &str, found: &mut Vec<Entry>) {
        self.find_hashed(body, start.hash.extend(rest), |key| start.is_followed_by(key, rest), found);
    }

    /// The entries under a whole key.
    pub(crate) fn find(&self, body: Body<'_>, key: &str, found: &mut Vec<Entry>) {
        self.find_hashed(body, KeyHash::new(key), |there| there == key.as_bytes(), found);
    }

    /// The entries under all keys that begin so.
    pub(crate) fn find_all(&self, body: Body<'_>, start: &str, found: &mut Vec<Entry>) {
        if start.chars().next().is_none_or(|tag| self.has_tag(tag)) {
            let (rows, start) = (Rows::of(self, body), start.as_bytes());
            let first = rows.partition_point(0, |key| key < start);
            let range = first
                .and_then(|first| Some(first..rows.partition_point(first, |key| key.starts_with(start))?));
            match range.and_then(|range| rows.entries(range)) {
                Some(entries) => found.extend(entries.iter().copied().map(entry_from_bytes)),
                None => found.push(DAMAGED),
            }
        }
    }

    fn has_tag(&self, tag: char) -> bool {
        self.tags & tag_bit(tag) != 0
    }

    fn find_hashed(
        &self,
        body: Body<'_>,
        hash: KeyHash,
        is_key: impl Fn(&[u8]) -> bool,
        found: &mut Vec<Entry>,
    ) {
        let (slots, _) = body.bytes(self.slots).as_chunks::<SLOT_BYTES>();
        for slot in hash.probes(slots.len()) {
            let Some((tag, number)) = slots.get(slot).copied().map(pair_from_bytes) else { break };
            let Some(row) = number.checked_sub(1) else { return };
            if tag != hash.tag() {
                continue;
            }
            let (rows, row) = (Rows::of(self, body), usize::try_from(row).unwrap_or(usize::MAX));
            let Some((key, entries)) = rows.key(row).zip(rows.entries(row..row.saturating_add(1))) else {
                break;
            };
            if is_key(key) {
                return found.extend(entries.iter().copied().map(entry_from_bytes));
            }
        }
        // A search ends at an empty slot.
        found.push(DAMAGED);
    }
}

#[cfg(test)]
impl KeyTable {
    /// Where the slots and the rows are, for tests that damage them.
    pub(super) fn searched(&self) -> [std::ops::Range<usize>; 2] {
        [self.slots.range(), self.rows.range()]
    }
}

/// The rows of a table.
struct Rows<'a> {
    starts: &'a [[u8; ROW_BYTES]],
    keys: &'a [u8],
    entries: &'a [[u8; ENTRY_BYTES]],
}

impl<'a> Rows<'a> {
    fn of(table: &KeyTable, body: Body<'a>) -> Self {
        let (starts, _) = body.bytes(table.rows).as_chunks();
        let (entries, _) = body.bytes(table.entries).as_chunks();
        Self { starts, keys: body.bytes(table.keys), entries }
    }

    /// Where the key and the entries of a row begin.
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

    /// The first row from this one on whose key is not as asked for; `None` if the table is damaged.
    fn partition_point(&self, first: usize, is_before: impl Fn(&[u8]) -> bool) -> Option<usize> {
        let (mut low, mut high) = (first, self.starts.len().checked_sub(1)?);
        while low < high {
            let middle = low.midpoint(high);
            if is_before(self.key(middle)?) { low = middle + 1 } else { high = middle }
        }
        Some(low)
    }
}

/// The start of keys.
pub(crate) struct KeyStart<'k> {
    tag: char,
    parts: [&'k str; 2],
    hash: KeyHash,
}

impl KeyStart<'_> {
    /// Whether a key is this start and then the rest.
    fn is_followed_by(&self, key: &[u8], rest: &str) -> bool {
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
        Self(fnv::hash(fnv::START, key.as_bytes()))
    }

    fn of_parts(tag: char, text: &str) -> Self {
        Self::new(tag.encode_utf8(&mut [0; 4])).extend(text)
    }

    /// The hash of the key that goes on so.
    fn extend(self, text: &str) -> Self {
        Self(fnv::hash(self.0, text.as_bytes()))
    }

    /// The part that is stored in a slot.
    #[expect(clippy::cast_possible_truncation, reason = "half of the hash")]
    fn tag(self) -> u32 {
        self.0 as u32
    }

    /// The slots that may have the key, in the order in which they are tried; all of them in the end.
    fn probes(self, slots: usize) -> impl Iterator<Item = usize> {
        // The last letters of a key have not reached the upper bits of its hash yet.
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

#[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
fn pair_from_bytes(bytes: [u8; 8]) -> (u32, u32) {
    let both = u64::from_le_bytes(bytes);
    (both as u32, (both >> 32) as u32)
}

fn entry_to_bytes((rule, part): Entry) -> [u8; ENTRY_BYTES] {
    let ([r0, r1, r2, r3], [p0, p1]) = (rule.to_le_bytes(), part.to_le_bytes());
    [r0, r1, r2, r3, p0, p1]
}

fn entry_from_bytes([r0, r1, r2, r3, p0, p1]: [u8; ENTRY_BYTES]) -> Entry {
    (u32::from_le_bytes([r0, r1, r2, r3]), u16::from_le_bytes([p0, p1]))
}
