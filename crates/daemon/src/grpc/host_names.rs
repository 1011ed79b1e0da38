// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Accepts the `:authority` that gRPC clients send over a Unix socket.
//!
//! gRPC's C core (Python, C++, Ruby, PHP) and Java send the socket's path as host: `run%2Fuser%2F1000%2Fdaemon.sock`
//! or the plain path. The HTTP/2 library resets such a stream, because a path is not a host name. On a Unix socket
//! the name does not matter: the kernel identifies the peer. So bytes that are invalid in a host name are replaced
//! before the library reads them. The length does not change, nor do the header compression tables.
//!
//! Over TCP nothing is replaced, because there the name is checked against DNS rebinding.

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Length of the connection preface: `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`.
const PREFACE_BYTES: usize = 24;
const FRAME_HEAD_BYTES: usize = 9;
/// Default frame limit of HTTP/2; the library refuses larger frames.
const MAX_FRAME_BYTES: usize = 16 * 1024;
const READ_BYTES: usize = 16 * 1024;

const HEADERS: u8 = 1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;
/// Index of `:authority` in the static header compression table.
const AUTHORITY_INDEX: usize = 1;
const AUTHORITY: &[u8] = b":authority";

/// A connection whose requests name a host that the HTTP/2 library accepts.
pub(super) struct HostNames<S> {
    stream: S,
    /// Bytes of an incomplete frame.
    unread: Vec<u8>,
    /// Number of following bytes that are passed on unchanged.
    passing: usize,
    ready: Vec<u8>,
    ready_from: usize,
}

impl<S> HostNames<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, unread: Vec::new(), passing: PREFACE_BYTES, ready: Vec::new(), ready_from: 0 }
    }

    /// Accepts bytes from the peer and processes complete frames.
    fn feed(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
        loop {
            let passing = self.passing.min(self.unread.len());
            self.ready.extend(self.unread.drain(..passing));
            self.passing -= passing;
            let Some((head, rest)) = self.unread.split_at_checked(FRAME_HEAD_BYTES) else { return };
            let [high, middle, low, kind, flags, ..] = *head else { return };
            let length = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
            self.passing = FRAME_HEAD_BYTES + length;
            if kind != HEADERS || flags & END_HEADERS == 0 || length > MAX_FRAME_BYTES {
                continue;
            }
            let Some(payload) = rest.get(..length) else {
                // The rest of the frame has not arrived yet.
                self.passing = 0;
                return;
            };
            let start = FRAME_HEAD_BYTES;
            for value in find_authorities(payload, flags) {
                let place = start + value.start..start + value.end;
                self.unread.get_mut(place).into_iter().for_each(make_host_name);
            }
        }
    }
}

/// Replaces bytes that are invalid in a host name, if the value is a socket path.
fn make_host_name(value: &mut [u8]) {
    let is_path = value.iter().any(|byte| b"/%".contains(byte));
    if is_path {
        let odd = |byte: &&mut u8| !byte.is_ascii_alphanumeric() && !b"-._".contains(*byte);
        value.iter_mut().filter(odd).for_each(|byte| *byte = b'-');
    }
}

/// Finds the values of `:authority` in the payload of a HEADERS frame. Huffman-coded strings are skipped.
fn find_authorities(payload: &[u8], flags: u8) -> Vec<Range<usize>> {
    let padding =
        if flags & PADDED == 0 { 0 } else { usize::from(payload.first().copied().unwrap_or_default()) };
    let before = usize::from(flags & PADDED != 0) + if flags & PRIORITY == 0 { 0 } else { 5 };
    let end = payload.len().saturating_sub(padding);
    let mut block = HeaderBlock { bytes: payload.get(..end).unwrap_or_default(), at: before };
    let mut found = Vec::new();
    while let Some(field) = block.next_field() {
        if let HeaderField::Authority(value) = field {
            found.push(value);
        }
    }
    found
}

/// A block of compressed header fields (RFC 7541), parsed only as far as needed to find `:authority`.
struct HeaderBlock<'a> {
    bytes: &'a [u8],
    at: usize,
}

enum HeaderField {
    /// An `:authority` that is not Huffman-coded, with the position of its value.
    Authority(Range<usize>),
    Other,
}

struct HeaderText {
    place: Range<usize>,
    is_compressed: bool,
}

impl HeaderBlock<'_> {
    /// Reads the next field. Returns `None` if the block has ended or cannot be parsed.
    fn next_field(&mut self) -> Option<HeaderField> {
        let first = *self.bytes.get(self.at)?;
        let prefix_bits = match first {
            // An indexed field.
            0x80.. => {
                self.read_integer(7)?;
                return Some(HeaderField::Other);
            }
            0x40.. => 6,
            // A change of the table size.
            0x20.. => {
                self.read_integer(5)?;
                return Some(HeaderField::Other);
            }
            _ => 4,
        };
        let is_authority = match self.read_integer(prefix_bits)? {
            0 => {
                let name = self.read_text()?;
                !name.is_compressed && self.bytes.get(name.place) == Some(AUTHORITY)
            }
            index => index == AUTHORITY_INDEX,
        };
        let value = self.read_text()?;
        let is_plain = is_authority && !value.is_compressed;
        Some(if is_plain { HeaderField::Authority(value.place) } else { HeaderField::Other })
    }

    fn read_text(&mut self) -> Option<HeaderText> {
        let is_compressed = self.bytes.get(self.at)? & 0x80 != 0;
        let length = self.read_integer(7)?;
        let place = self.at..self.at.checked_add(length)?;
        self.at = place.end;
        (place.end <= self.bytes.len()).then_some(HeaderText { place, is_compressed })
    }

    fn read_integer(&mut self, prefix_bits: u32) -> Option<usize> {
        let most = (1_usize << prefix_bits) - 1;
        let mut value = usize::from(*self.bytes.get(self.at)?) & most;
        self.at += 1;
        if value < most {
            return Some(value);
        }
        // Three more bytes are enough for every length that fits a frame.
        for shift in [0, 7, 14] {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            value += usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HostNames<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.ready.is_empty() {
            let mut bytes = [0; READ_BYTES];
            let mut read = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut read))?;
            if read.filled().is_empty() {
                // The library reports errors in the remaining bytes.
                this.ready.append(&mut this.unread);
                if this.ready.is_empty() {
                    return Poll::Ready(Ok(()));
                }
            }
            this.feed(read.filled());
        }
        let left = this.ready.get(this.ready_from..).unwrap_or_default();
        let taken = left.get(..left.len().min(buf.remaining())).unwrap_or_default();
        buf.put_slice(taken);
        this.ready_from += taken.len();
        if this.ready_from >= this.ready.len() {
            this.ready.clear();
            this.ready_from = 0;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HostNames<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags, 0, 0, 0, 1], payload].concat()
    }

    fn literal(kind: u8, name: &[u8], value: &[u8]) -> Vec<u8> {
        let length = |text: &[u8]| u8::try_from(text.len()).unwrap();
        [&[kind, length(name)][..], name, &[length(value)], value].concat()
    }

    /// Returns the output for input that arrives in pieces of this size.
    fn through(bytes: &[u8], piece: usize) -> Vec<u8> {
        let mut names = HostNames::new(());
        bytes.chunks(piece).for_each(|piece| names.feed(piece));
        assert!(names.unread.is_empty(), "{:?}", names.unread);
        names.ready
    }

    #[test]
    fn the_path_of_a_socket_becomes_a_host_name_of_the_same_length() {
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        let path = literal(0x40, b":path", b"/HookService/ListHooks");
        for (sent, expected) in [
            (&b"%2Frun%2Fth-1.sock"[..], &b"-2Frun-2Fth-1.sock"[..]),
            (b"/run/user:1/th.sock", b"-run-user-1-th.sock"),
            (b"localhost", b"localhost"),
            (b"run%2Fth.sock", b"run-2Fth.sock"),
            (b"[::1]:7878", b"[::1]:7878"),
        ] {
            for authority in [
                |value: &[u8]| literal(0x40, b":authority", value),
                |value: &[u8]| literal(0, b":authority", value),
                |value: &[u8]| [&[0x41, u8::try_from(value.len()).unwrap()], value].concat(),
            ] {
                let data = frame(0, 0, &authority(b"%2Fnot-a-header"));
                let whole = |value: &[u8]| {
                    let block = [&[0x83, 0x3f, 0x21][..], &path, &authority(value), &[0x86]].concat();
                    let padded = [&[2, 0, 0, 0, 0, 7][..], &block, &[0x41, 0]].concat();
                    [
                        preface.clone(),
                        frame(4, 0, &[]),
                        frame(HEADERS, END_HEADERS, &block),
                        data.clone(),
                        frame(HEADERS, END_HEADERS | PADDED | PRIORITY, &padded),
                    ]
                    .concat()
                };
                for piece in [1, 7, 30, 4096] {
                    assert_eq!(through(&whole(sent), piece), whole(expected), "{piece}");
                }
            }
        }
    }

    #[test]
    fn frames_that_cannot_be_read_pass_as_they_are() {
        let preface = [b'x'; PREFACE_BYTES].to_vec();
        for payload in [&b"\x40\x7f\xff\xff\xff\xff"[..], b"\x41\x7f%2F", b"\x40\x0a:authority", b"", b"\xff"]
        {
            let bytes =
                [preface.clone(), frame(HEADERS, END_HEADERS | PADDED, payload), frame(9, 4, payload)]
                    .concat();
            assert_eq!(through(&bytes, 5), bytes);
        }
    }
}
