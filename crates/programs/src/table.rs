// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Looks up names in encoded tables.

use serde::Deserialize;

use crate::format::record::{CommandRecord, INDEX_ENTRY_BYTES, KEY_WORD, NameTable, NamedRecord};

/// A name in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundKey<'a> {
    pub(crate) name: &'a str,
    /// Index in the table.
    pub(crate) position: usize,
    kind: u8,
    record_offset: usize,
}

impl<'a> NameTable<'a> {
    /// Returns the number of names.
    pub(crate) fn len(&self) -> usize {
        self.index.len() / INDEX_ENTRY_BYTES
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Returns the kind, name and record offset at an index. Names are compared as bytes.
    fn entry(&self, at: usize) -> Option<(u8, &'a [u8], usize)> {
        let start = at.checked_mul(INDEX_ENTRY_BYTES)?;
        let entry = self.index.get(start..)?.first_chunk::<INDEX_ENTRY_BYTES>()?;
        let [kind, length, k0, k1, k2, k3, r0, r1, r2, r3] = *entry;
        let key = usize::try_from(u32::from_le_bytes([k0, k1, k2, k3])).ok()?;
        let name = self.keys.get(key..)?.get(..usize::from(length))?;
        Some((kind, name, usize::try_from(u32::from_le_bytes([r0, r1, r2, r3])).ok()?))
    }

    /// Returns the key at an index.
    fn key(&self, at: usize) -> Option<FoundKey<'a>> {
        let (kind, name, record_offset) = self.entry(at)?;
        Some(FoundKey { name: str::from_utf8(name).ok()?, position: at, kind, record_offset })
    }

    /// Returns the index of the first key that is not less than this one.
    fn lower_bound(&self, kind: u8, name: &str) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            let entry = self.entry(middle);
            let less = entry.is_some_and(|(its_kind, its_name, _)| {
                its_kind < kind || its_kind == kind && its_name < name.as_bytes()
            });
            if less {
                low = middle.saturating_add(1);
            } else {
                high = middle;
            }
        }
        low
    }

    /// Finds a key by its exact name.
    pub(crate) fn find(&self, kind: u8, name: &str) -> Option<FoundKey<'a>> {
        if self.is_empty() {
            return None;
        }
        self.key(self.lower_bound(kind, name)).filter(|key| key.kind == kind && key.name == name)
    }

    /// Finds a key by an abbreviation; `None` if it is ambiguous.
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

    /// Finds the record for `FAMILY.KIND`, stored as `FAMILY.*`.
    pub(crate) fn find_kinds(&self, family: &str) -> Option<FoundKey<'a>> {
        let at = self.lower_bound(KEY_WORD, family);
        let mut begins_alike = (at..self.len())
            .map_while(|at| self.key(at).filter(|key| key.kind == KEY_WORD && key.name.starts_with(family)));
        begins_alike.find(|key| key.name.strip_suffix(".*") == Some(family))
    }

    /// Decodes the record of a key.
    pub(crate) fn record<T: Deserialize<'a>>(&self, key: FoundKey<'a>) -> Option<T> {
        let encoded = self.records.get(key.record_offset..)?;
        postcard::take_from_bytes(encoded).ok().map(|(record, _)| record)
    }

    /// Decodes the command of a key.
    pub(crate) fn command(&self, key: FoundKey<'a>) -> Option<CommandRecord<'a>> {
        let named: NamedRecord<'a> = self.record(key)?;
        let encoded = self.records.get(usize::try_from(named.record_offset).ok()?..)?;
        let (record, _) = postcard::take_from_bytes::<CommandRecord<'a>>(encoded).ok()?;
        Some(CommandRecord { name: named.name, ..record })
    }

    /// Returns all names, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = FoundKey<'a>> + use<'a> {
        let table = *self;
        (0..self.len()).filter_map(move |at| table.key(at))
    }
}
