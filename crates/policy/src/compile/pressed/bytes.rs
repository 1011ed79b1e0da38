// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Numbers and texts in a row of bytes, to be found again without reading all of it.

/// Bytes being written. A number takes four of them; what is too large for that is cut, and the reader
/// will find nothing there.
#[derive(Debug, Default)]
pub(crate) struct Out(Vec<u8>);

/// Bytes being read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a>(&'a [u8]);

impl Out {
    pub(crate) fn number(&mut self, number: usize) {
        self.0.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn append(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn number(&mut self) -> Option<usize> {
        let (bytes, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        usize::try_from(u32::from_le_bytes(*bytes)).ok()
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let length = self.number()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }
}
