// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the end of a chunked body. The bytes are forwarded unchanged, but not one byte after the end.

/// Maximum length of a line with the size of a chunk, or of a trailer line.
const MAX_LINE_BYTES: usize = 4096;
/// Maximum length of all trailer lines.
const MAX_TRAILER_BYTES: usize = 16 * 1024;
/// Maximum number of hexadecimal digits in the size of a chunk.
const MAX_SIZE_DIGITS: usize = 15;

/// Why a chunked body is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the chunks of the request's body are invalid")]
pub struct ChunkedBodyError;

/// Follows a chunked body as its bytes arrive.
#[derive(Debug, Default)]
pub struct ChunkedBodyScanner {
    state: ScanState,
    line: Vec<u8>,
    trailer_bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ScanState {
    /// In the line with the size of a chunk.
    #[default]
    Size,
    /// In the data of a chunk, with this number of bytes left.
    Data(u64),
    /// In the line break after the data.
    AfterData(u8),
    /// In the lines after the last chunk.
    Trailer,
    /// At the end.
    Done,
}

// === impl ChunkedBodyScanner ===

impl ChunkedBodyScanner {
    /// Reads more bytes. Returns how many of them belong to the body.
    pub fn scan(&mut self, bytes: &[u8]) -> Result<usize, ChunkedBodyError> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            match self.state {
                ScanState::Done => break,
                ScanState::Data(left) => {
                    let taken = usize::try_from(left).map_or(rest.len(), |left| left.min(rest.len()));
                    let left = left.saturating_sub(taken as u64);
                    self.state = if left == 0 { ScanState::AfterData(b'\r') } else { ScanState::Data(left) };
                    at += taken;
                }
                ScanState::AfterData(expected) => {
                    if rest.first() != Some(&expected) {
                        return Err(ChunkedBodyError);
                    }
                    self.state =
                        if expected == b'\r' { ScanState::AfterData(b'\n') } else { ScanState::Size };
                    at += 1;
                }
                ScanState::Size | ScanState::Trailer => {
                    let end = rest.iter().position(|byte| *byte == b'\n');
                    let taken = end.map_or(rest.len(), |end| end + 1);
                    self.line.extend_from_slice(rest.get(..taken).unwrap_or_default());
                    at += taken;
                    if self.line.len() > MAX_LINE_BYTES {
                        return Err(ChunkedBodyError);
                    }
                    if end.is_some() {
                        self.end_line()?;
                    }
                }
            }
        }
        Ok(at)
    }

    /// Whether the body is complete.
    pub fn is_done(&self) -> bool {
        self.state == ScanState::Done
    }

    fn end_line(&mut self) -> Result<(), ChunkedBodyError> {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r\n").ok_or(ChunkedBodyError)?;
        if line.iter().any(|byte| *byte < b' ' && *byte != b'\t') {
            return Err(ChunkedBodyError);
        }
        if self.state == ScanState::Trailer {
            self.trailer_bytes += line.len() + 2;
            if self.trailer_bytes > MAX_TRAILER_BYTES {
                return Err(ChunkedBodyError);
            }
            if line.is_empty() {
                self.state = ScanState::Done;
            }
            return Ok(());
        }
        // An extension after `;` is permitted. A space before it is not: some readers take it for a part of the size.
        let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
        let is_size =
            !digits.is_empty() && digits.len() <= MAX_SIZE_DIGITS && digits.iter().all(u8::is_ascii_hexdigit);
        let size = is_size.then(|| u64::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()).flatten();
        self.state = match size.ok_or(ChunkedBodyError)? {
            0 => ScanState::Trailer,
            size => ScanState::Data(size),
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Scans a body in pieces of this size. Returns the length of the body, if it is complete.
    fn scan(bytes: &[u8], piece: usize) -> Result<Option<usize>, ChunkedBodyError> {
        let mut scanner = ChunkedBodyScanner::default();
        let mut length = 0;
        for part in bytes.chunks(piece.max(1)) {
            let taken = scanner.scan(part)?;
            length += taken;
            if taken < part.len() {
                break;
            }
        }
        Ok(scanner.is_done().then_some(length))
    }

    #[test]
    fn the_end_is_found_wherever_the_bytes_are_cut() {
        let body = b"5;x=y\r\nhello\r\nA\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n";
        let with_more = [body.as_slice(), b"GET http://other/ HTTP/1.1\r\n"].concat();
        for piece in 1..with_more.len() {
            assert_eq!(scan(&with_more, piece), Ok(Some(body.len())), "{piece}");
        }
        assert_eq!(scan(b"5\r\nhel", 100), Ok(None));
    }

    #[test]
    fn ambiguous_chunks_are_refused() {
        for body in [
            &b"5\nhello\r\n0\r\n\r\n"[..],
            b"5 \r\nhello\r\n0\r\n\r\n",
            b"+5\r\nhello\r\n",
            b"0x5\r\nhello\r\n",
            b"\r\n",
            b"5\r\nhelloX\r\n",
            b"5\r\nhello\n0\r\n",
            b"fffffffffffffffff\r\n",
            b"0\r\nA: b\n\r\n",
            b"5;\0\r\nhello",
        ] {
            assert_eq!(scan(body, 3), Err(ChunkedBodyError), "{:?}", String::from_utf8_lossy(body));
        }
        assert_eq!(scan(&[b'1'; MAX_LINE_BYTES + 1], 100), Err(ChunkedBodyError));
        assert_eq!(
            scan(&[b"0\r\n".as_slice(), &b"A: b\r\n".repeat(4000)].concat(), 100),
            Err(ChunkedBodyError)
        );
    }

    proptest! {
        #[test]
        fn where_the_bytes_are_cut_changes_nothing(bytes in "[0-9a-f\r\n;x]{0,60}", piece in 1usize..9) {
            prop_assert_eq!(scan(bytes.as_bytes(), piece), scan(bytes.as_bytes(), 100));
        }
    }
}
