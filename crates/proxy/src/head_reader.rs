// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads from a connection into a bounded buffer until a head is complete.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Size of one read.
const READ_BYTES: usize = 4096;

/// A connection's unread bytes.
#[derive(Debug, Default)]
pub(crate) struct HeadBuffer {
    bytes: Vec<u8>,
}

/// Result of waiting for a head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HeadRead<T> {
    /// The head is complete.
    Complete(T),
    /// The other side closed the connection before.
    Closed,
    /// The head is larger than permitted.
    TooLarge,
}

impl HeadBuffer {
    /// Returns the first byte, after waiting for it.
    pub(crate) async fn first_byte(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
    ) -> io::Result<Option<u8>> {
        if self.bytes.is_empty() {
            self.read_more(stream, READ_BYTES).await?;
        }
        Ok(self.bytes.first().copied())
    }

    /// Reads until `parse` returns a value for the bytes read so far, together with the number of bytes it used.
    pub(crate) async fn read_until<T>(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        max_bytes: usize,
        parse: impl Fn(&[u8]) -> Option<(T, usize)>,
    ) -> io::Result<HeadRead<T>> {
        loop {
            if let Some((found, used)) = parse(&self.bytes) {
                self.bytes.drain(..used.min(self.bytes.len()));
                return Ok(HeadRead::Complete(found));
            }
            let room = max_bytes.saturating_sub(self.bytes.len());
            if room == 0 {
                return Ok(HeadRead::TooLarge);
            }
            if self.read_more(stream, room.min(READ_BYTES)).await? == 0 {
                return Ok(HeadRead::Closed);
            }
        }
    }

    /// Returns the bytes that were read after the head.
    pub(crate) fn take_rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    async fn read_more(&mut self, stream: &mut (impl AsyncRead + Unpin), room: usize) -> io::Result<usize> {
        let mut piece = [0; READ_BYTES];
        let piece = piece.get_mut(..room.min(READ_BYTES)).unwrap_or_default();
        let read = stream.read(piece).await?;
        self.bytes.extend_from_slice(piece.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// Finds the empty line that ends an HTTP head. Returns the head and its length. Bare line feeds are accepted as ends
/// here, so that an invalid head is refused at once instead of after the timeout.
pub(crate) fn split_http_head(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let strict = bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
    let loose = bytes.windows(2).position(|two| two == b"\n\n").map(|at| at + 2);
    let end = strict.into_iter().chain(loose).min()?;
    Some((bytes.get(..end)?.to_vec(), end))
}
