// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lookup in encoded tables.

use serde::Deserialize;

use crate::format::record::NameTable;

/// A name that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundKey<'a> {
    pub(crate) name: &'a str,
    kind: u8,
    record_offset: usize,
}

impl<'a> NameTable<'a> {
    /// Number of names.
    pub(crate) fn len(&self) -> usize {
        self.index.len() / 4
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The key at a position.
    fn key(&self, at: usize) -> Option<FoundKey<'a>> {
        let start = at.checked_mul(4)?;
        let offset: [u8; 4] = self.index.get(start..start.checked_add(4)?)?.try_into().ok()?;
        let encoded = self.keys.get(usize::try_from(u32::from_le_bytes(offset)).ok()?..)?;
        let ((kind, name, record), _) = postcard::take_from_bytes::<(u8, &'a str, u32)>(encoded).ok()?;
        Some(FoundKey { name, kind, record_offset: usize::try_from(record).ok()? })
    }

    /// Position of the first key that is not less than this one.
    fn lower_bound(&self, kind: u8, name: &str) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            let less = self.key(middle).is_some_and(|key| (key.kind, key.name) < (kind, name));
            if less {
                low = middle.saturating_add(1);
            } else {
                high = middle;
            }
        }
        low
    }

    /// The record of exactly this name.
    pub(crate) fn find(&self, kind: u8, name: &str) -> Option<FoundKey<'a>> {
        if self.is_empty() {
            return None;
        }
        self.key(self.lower_bound(kind, name)).filter(|key| key.kind == kind && key.name == name)
    }

    /// The record whose name begins like this; `None` if two different records have such a name.
    pub(crate) fn find_abbreviation(&self, kind: u8, start: &str) -> Option<FoundKey<'a>> {
        let at = self.lower_bound(kind, start);
        let matches = |key: &FoundKey<'a>| key.kind == kind && key.name.starts_with(start);
        let first = self.key(at).filter(matches)?;
        if first.name == start {
            return Some(first);
        }
        let mut others = (at.saturating_add(1)..self.len()).map_while(|at| self.key(at).filter(matches));
        let is_unique = others.all(|key| key.record_offset == first.record_offset);
        is_unique.then_some(first)
    }

    /// Decodes the record of a key.
    pub(crate) fn record<T: Deserialize<'a>>(&self, key: FoundKey<'a>) -> Option<T> {
        let encoded = self.records.get(key.record_offset..)?;
        postcard::take_from_bytes(encoded).ok().map(|(record, _)| record)
    }

    /// Every name of one kind, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = FoundKey<'a>> + use<'a> {
        let table = *self;
        (0..self.len()).filter_map(move |at| table.key(at))
    }
}
