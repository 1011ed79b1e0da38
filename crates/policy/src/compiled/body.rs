// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Stores encoded values in one byte buffer. Each value can be read without decoding the others.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Size of an offset in a table of offsets. The size is fixed, so that any offset can be read without reading those
/// before it.
pub(super) const OFFSET_BYTES: usize = 4;

/// The bytes after the header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyBytes<'a>(pub(super) &'a [u8]);

/// A range of the body.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct BodySection {
    start: u32,
    length: u32,
}

/// Appends values to a body.
#[derive(Debug, Default)]
pub(crate) struct BodyWriter(Vec<u8>);

/// The rules cannot be encoded: they take more than four gigabytes.
#[derive(Debug)]
pub(crate) struct WriteError;

impl<'a> BodyBytes<'a> {
    /// Returns the bytes of a section; empty if it is out of range.
    pub(crate) fn bytes(self, section: BodySection) -> &'a [u8] {
        let range = usize::try_from(section.start).ok().zip(usize::try_from(section.length).ok());
        let range = range.and_then(|(start, length)| Some(start..start.checked_add(length)?));
        range.and_then(|range| self.0.get(range)).unwrap_or_default()
    }

    /// Decodes the value of a section; `None` if it is damaged.
    pub(crate) fn read<T: DeserializeOwned>(self, section: BodySection) -> Option<T> {
        let (value, rest) = postcard::take_from_bytes(self.bytes(section)).ok()?;
        rest.is_empty().then_some(value)
    }
}

#[cfg(test)]
impl BodySection {
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        let start = self.start as usize;
        start..start + self.length as usize
    }
}

impl BodyWriter {
    /// Appends an encoded value.
    pub(crate) fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<BodySection, WriteError> {
        let bytes = postcard::to_allocvec(value).map_err(|_| WriteError)?;
        self.add_bytes(&bytes)
    }

    /// Appends bytes unchanged.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) -> Result<BodySection, WriteError> {
        let number = |number: usize| u32::try_from(number).map_err(|_| WriteError);
        let section = BodySection { start: number(self.0.len())?, length: number(bytes.len())? };
        number(self.0.len() + bytes.len())?;
        self.0.extend_from_slice(bytes);
        Ok(section)
    }

    /// Appends a table of the offsets at which sections begin.
    pub(crate) fn add_offsets(
        &mut self,
        sections: impl Iterator<Item = BodySection>,
    ) -> Result<BodySection, WriteError> {
        let offsets: Vec<u8> = sections.flat_map(|section| section.start.to_le_bytes()).collect();
        self.add_bytes(&offsets)
    }

    /// Returns an empty section at the end of the body.
    pub(crate) fn end(&mut self) -> Result<BodySection, WriteError> {
        self.add_bytes(&[])
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Returns the offset at index `number` of a table.
pub(super) fn offset_at(offsets: &[u8], number: usize) -> Option<usize> {
    let bytes = offsets.get(number.checked_mul(OFFSET_BYTES)?..)?.first_chunk::<OFFSET_BYTES>()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}
