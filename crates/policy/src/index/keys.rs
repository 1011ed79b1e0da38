// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rules by keys, searched where they lie in the compiled form: a filter, the places of all keys in order, and
//! the keys with their entries.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::word::tagged;
use super::{DAMAGED, Entry};
use crate::compiled::{Body, BodyWriter, PLACE_BYTES, Section, WriteError, place_at};
use crate::fnv;

/// Rules by keys. In the index of a kind of event, a key begins with a letter that says what it is about.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct KeyTable {
    filter: Section,
    /// The places of the records, in the order of their keys, four bytes each.
    places: Section,
    /// Each a key and its entries.
    records: Section,
}

impl KeyTable {
    pub(crate) fn write(
        keys: &BTreeMap<String, Vec<Entry>>,
        to: &mut BodyWriter,
    ) -> Result<Self, WriteError> {
        let (mut places, mut records) = (Vec::with_capacity(keys.len()), BodyWriter::default());
        for (key, entries) in keys {
            places.push(records.add(&(key, entries))?);
        }
        Ok(Self {
            filter: to.add_bytes(&Filter::of(keys.keys()))?,
            places: to.add_places(places.into_iter())?,
            records: to.add_bytes(&records.into_bytes())?,
        })
    }

    /// The entries under the key of this first letter and rest.
    pub(crate) fn get(&self, body: Body<'_>, tag: char, text: &str, found: &mut Vec<Entry>) {
        // Most keys that are looked up do not exist. The filter rejects them before a key is written and searched for.
        if Filter(body.bytes(self.filter)).may_have(tag, text) {
            self.find(body, &tagged(tag, text), found);
        }
    }

    /// The entries under a whole key.
    pub(crate) fn find(&self, body: Body<'_>, key: &str, found: &mut Vec<Entry>) {
        let table = Table::of(self, body);
        let Some(at) = table.first_from(key) else { return found.push(DAMAGED) };
        match table.record(at) {
            Some((there, entries)) if there == key.as_bytes() => add_entries(entries, found),
            None if at < table.count() => found.push(DAMAGED),
            Some(_) | None => {}
        }
    }

    /// The entries under all keys that begin so.
    pub(crate) fn find_all(&self, body: Body<'_>, start: &str, found: &mut Vec<Entry>) {
        let table = Table::of(self, body);
        let Some(first) = table.first_from(start) else { return found.push(DAMAGED) };
        for at in first..table.count() {
            match table.record(at) {
                Some((key, entries)) if key.starts_with(start.as_bytes()) => add_entries(entries, found),
                Some(_) => return,
                None => return found.push(DAMAGED),
            }
        }
    }
}

#[cfg(test)]
impl KeyTable {
    pub(super) fn places(&self) -> std::ops::Range<usize> {
        self.places.range()
    }
}

fn add_entries(bytes: &[u8], found: &mut Vec<Entry>) {
    let Ok((count, mut rest)) = postcard::take_from_bytes::<usize>(bytes) else { return found.push(DAMAGED) };
    for _ in 0..count {
        let Ok((entry, after)) = postcard::take_from_bytes(rest) else { return found.push(DAMAGED) };
        found.push(entry);
        rest = after;
    }
}

/// The parts of a table that are searched.
struct Table<'a> {
    places: &'a [u8],
    records: &'a [u8],
}

impl<'a> Table<'a> {
    fn of(table: &KeyTable, body: Body<'a>) -> Self {
        Self { places: body.bytes(table.places), records: body.bytes(table.records) }
    }

    /// The key at this place, and what follows it.
    fn record(&self, at: usize) -> Option<(&'a [u8], &'a [u8])> {
        let place = place_at(self.places, at)?;
        postcard::take_from_bytes(self.records.get(place..)?).ok()
    }

    fn count(&self) -> usize {
        self.places.len() / PLACE_BYTES
    }

    /// The first key that is not less than this one; `None` if the table is damaged.
    fn first_from(&self, key: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low.midpoint(high);
            let (there, _) = self.record(middle)?;
            if there < key.as_bytes() { low = middle + 1 } else { high = middle }
        }
        Some(low)
    }
}

/// Which keys may be there: two bits for each key, among sixteen times as many bits as there are keys.
struct Filter<'a>(&'a [u8]);

impl Filter<'_> {
    fn of<'k>(keys: impl ExactSizeIterator<Item = &'k String>) -> Vec<u8> {
        let mut bytes = vec![0_u8; (keys.len() * 2).next_power_of_two()];
        for key in keys {
            for (byte, bit) in Self::places(fnv::hash(fnv::START, key.as_bytes()), bytes.len()) {
                if let Some(byte) = bytes.get_mut(byte) {
                    *byte |= bit;
                }
            }
        }
        bytes
    }

    /// Without a filter anything may be there.
    fn may_have(&self, tag: char, text: &str) -> bool {
        let tag = fnv::hash(fnv::START, tag.encode_utf8(&mut [0; 4]).as_bytes());
        self.0.is_empty()
            || Self::places(fnv::hash(tag, text.as_bytes()), self.0.len())
                .into_iter()
                .all(|(byte, bit)| self.0.get(byte).is_some_and(|byte| byte & bit != 0))
    }

    /// The two bits of a key with this hash: in which byte, and which one there.
    fn places(hash: u64, length: usize) -> [(usize, u8); 2] {
        // And the upper half of it stirred once more.
        [hash, (hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)].map(|hash| {
            let bit = usize::try_from(hash >> 24 & 0xffff_ffff).unwrap_or(0) & (length * 8).saturating_sub(1);
            (bit / 8, 1 << (bit % 8))
        })
    }
}
