// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rules by keys: as they are built, and as they lie in a snapshot.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::Entry;
use super::word::tagged;
use crate::compile::pressed::bytes::{Cursor, Out};
use crate::fnv;

/// Rules by what they need. A key begins with a letter that says what it is about.
#[derive(Debug)]
pub(super) enum Keys {
    Built {
        keys: BTreeMap<String, Vec<Entry>>,
        /// Empty until all keys are there.
        filter: Vec<u8>,
    },
    /// As they lie in a snapshot: a filter, the places of all keys in order, then the keys with their entries.
    Pressed(Arc<Vec<u8>>, std::ops::Range<usize>),
}

impl Default for Keys {
    fn default() -> Self {
        Self::Built { keys: BTreeMap::new(), filter: Vec::new() }
    }
}

impl Keys {
    pub(super) fn keep(&mut self, key: &str, entry: Entry) {
        if let Self::Built { keys, .. } = self {
            keys.entry(key.to_owned()).or_default().push(entry);
        }
    }

    /// All keys are there.
    pub(super) fn finish(&mut self) {
        if let Self::Built { keys, filter } = self {
            *filter = Filter::of(keys.keys());
        }
    }

    /// The rules under the key of this first letter and rest.
    pub(super) fn get(&self, tag: char, text: &str, found: &mut Vec<Entry>) {
        // Most keys that are looked up do not exist. The filter rejects them before a key is written and searched for.
        match self {
            Self::Built { keys, filter } => {
                if Filter(filter).may_have(tag, text) {
                    found.extend(keys.get(&tagged(tag, text)).into_iter().flatten());
                }
            }
            Self::Pressed(bytes, range) => {
                let table = Table::of(bytes, range);
                if !table.filter.may_have(tag, text) {
                    return;
                }
                let key = tagged(tag, text);
                if let Some((there, entries)) = table.record(table.first_from(&key))
                    && there == key.as_bytes()
                {
                    found.extend(entries);
                }
            }
        }
    }

    /// The rules under all keys that begin so.
    pub(super) fn all(&self, start: &str, found: &mut Vec<Entry>) {
        match self {
            Self::Built { keys, .. } => {
                let from = keys.range::<str, _>((Bound::Included(start), Bound::Unbounded));
                found.extend(from.take_while(|(key, _)| key.starts_with(start)).flat_map(|(_, rules)| rules));
            }
            Self::Pressed(bytes, range) => {
                let table = Table::of(bytes, range);
                let records = (table.first_from(start)..table.count).map_while(|at| table.record(at));
                let fitting = records.take_while(|(key, _)| key.starts_with(start.as_bytes()));
                found.extend(fitting.flat_map(|(_, entries)| entries));
            }
        }
    }

    pub(super) fn write(&self, to: &mut Out) {
        let Self::Built { keys, filter } = self else { return };
        let mut records = Out::default();
        to.bytes(filter);
        to.number(keys.len());
        for (key, entries) in keys {
            to.number(records.len());
            records.text(key);
            write_entries(entries, &mut records);
        }
        to.append(&records);
    }
}

/// Keys as they lie in a snapshot.
struct Table<'a> {
    filter: Filter<'a>,
    count: usize,
    places: &'a [u8],
    records: &'a [u8],
}

impl<'a> Table<'a> {
    fn of(bytes: &'a [u8], range: &std::ops::Range<usize>) -> Self {
        let mut cursor = Cursor::new(bytes.get(range.clone()).unwrap_or_default());
        let filter = Filter::read(&mut cursor);
        let count = cursor.number().unwrap_or(0);
        let places = cursor.take(count.saturating_mul(4)).unwrap_or_default();
        Self { filter, count, places, records: cursor.rest() }
    }

    fn record(&self, at: usize) -> Option<(&'a [u8], Vec<Entry>)> {
        let (key, mut cursor) = self.key(at)?;
        Some((key, read_entries(&mut cursor)?))
    }

    fn key(&self, at: usize) -> Option<(&'a [u8], Cursor<'a>)> {
        let mut place = Cursor::new(self.places.get(at.checked_mul(4)?..)?);
        let mut cursor = Cursor::new(self.records.get(place.number()?..)?);
        let key = cursor.text()?.as_bytes();
        Some((key, cursor))
    }

    /// The first key that is not less than this one.
    fn first_from(&self, key: &str) -> usize {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            let less = self.key(middle).is_some_and(|(there, _)| there < key.as_bytes());
            if less { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// Which keys may be there: two bits for each key, among sixteen times as many bits as there are keys.
struct Filter<'a>(&'a [u8]);

impl<'a> Filter<'a> {
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

    fn read(cursor: &mut Cursor<'a>) -> Self {
        Self(cursor.number().and_then(|length| cursor.take(length)).unwrap_or_default())
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

pub(super) fn write_entries(entries: &[Entry], to: &mut Out) {
    to.number(entries.len());
    for (rule, part) in entries {
        to.number(usize::try_from(*rule).unwrap_or(usize::MAX));
        to.number(usize::from(*part));
    }
}

pub(super) fn read_text(cursor: &mut Cursor<'_>) -> Option<(Vec<String>, Entry)> {
    let entry = read_entries(cursor)?.pop()?;
    let letters = (0..cursor.number()?).map(|_| cursor.text().map(str::to_owned)).collect::<Option<_>>()?;
    Some((letters, entry))
}

pub(super) fn read_entries(cursor: &mut Cursor<'_>) -> Option<Vec<Entry>> {
    let count = cursor.number()?;
    let mut entries = Vec::with_capacity(count.min(cursor.rest().len()));
    for _ in 0..count {
        entries.push((u32::try_from(cursor.number()?).ok()?, u16::try_from(cursor.number()?).ok()?));
    }
    Some(entries)
}
