// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Values in a row of bytes, found again without decoding all of them.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A place in a table takes so many bytes, so that the n-th is found without reading those before it.
pub(super) const PLACE_BYTES: usize = 4;

/// The bytes behind a header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body<'a>(pub(super) &'a [u8]);

/// A part of the body.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Section {
    start: u32,
    length: u32,
}

/// A body while it is written.
#[derive(Debug, Default)]
pub(crate) struct BodyWriter(Vec<u8>);

/// Rules that cannot be written: they take more than four gigabytes.
#[derive(Debug)]
pub(crate) struct WriteError;

impl<'a> Body<'a> {
    /// The bytes of a section; none if it lies outside.
    pub(crate) fn bytes(self, section: Section) -> &'a [u8] {
        let range = usize::try_from(section.start).ok().zip(usize::try_from(section.length).ok());
        let range = range.and_then(|(start, length)| Some(start..start.checked_add(length)?));
        range.and_then(|range| self.0.get(range)).unwrap_or_default()
    }

    /// The value of a section; `None` if it is damaged.
    pub(crate) fn read<T: DeserializeOwned>(self, section: Section) -> Option<T> {
        let (value, rest) = postcard::take_from_bytes(self.bytes(section)).ok()?;
        rest.is_empty().then_some(value)
    }
}

#[cfg(test)]
impl Section {
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        let start = self.start as usize;
        start..start + self.length as usize
    }
}

impl BodyWriter {
    /// Adds a value.
    pub(crate) fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<Section, WriteError> {
        let bytes = postcard::to_allocvec(value).map_err(|_| WriteError)?;
        self.add_bytes(&bytes)
    }

    /// Adds bytes as they are.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) -> Result<Section, WriteError> {
        let number = |number: usize| u32::try_from(number).map_err(|_| WriteError);
        let section = Section { start: number(self.0.len())?, length: number(bytes.len())? };
        number(self.0.len() + bytes.len())?;
        self.0.extend_from_slice(bytes);
        Ok(section)
    }

    /// Adds a table of where sections begin.
    pub(crate) fn add_places(
        &mut self,
        sections: impl Iterator<Item = Section>,
    ) -> Result<Section, WriteError> {
        let places: Vec<u8> = sections.flat_map(|section| section.start.to_le_bytes()).collect();
        self.add_bytes(&places)
    }

    /// An empty section at the end.
    pub(crate) fn end(&mut self) -> Result<Section, WriteError> {
        self.add_bytes(&[])
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// The n-th place of a table.
pub(super) fn place_at(places: &[u8], number: usize) -> Option<usize> {
    let bytes = places.get(number.checked_mul(PLACE_BYTES)?..)?.first_chunk::<PLACE_BYTES>()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}
