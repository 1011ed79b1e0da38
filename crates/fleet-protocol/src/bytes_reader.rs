// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads a binary message from front to back without copying.

/// The unread rest of a binary message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BytesReader<'a>(pub(crate) &'a [u8]);

impl<'a> BytesReader<'a> {
    /// Takes the next `length` bytes.
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    pub(crate) fn take_array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    pub(crate) fn take_u8(&mut self) -> Option<u8> {
        self.take_array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn take_u16(&mut self) -> Option<u16> {
        self.take_array().map(u16::from_be_bytes)
    }

    pub(crate) fn take_u32(&mut self) -> Option<u32> {
        self.take_array().map(u32::from_be_bytes)
    }

    pub(crate) fn take_u64(&mut self) -> Option<u64> {
        self.take_array().map(u64::from_be_bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
