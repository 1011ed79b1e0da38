// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Incremental parser for server-sent events.

/// Maximum size of an event, to bound memory use.
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// Parses a stream of server-sent events that arrives in arbitrary pieces.
#[derive(Debug, Default)]
pub(super) struct SseParser {
    line: Vec<u8>,
    data: Option<String>,
    after_cr: bool,
}

/// The error for an event that exceeds [`MAX_EVENT_BYTES`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EventTooLong;

impl SseParser {
    /// Parses more bytes and returns the data of each event that is now complete. Event names, ids and comments are
    /// ignored, because model APIs do not need them.
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) -> Result<Vec<String>, EventTooLong> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                b'\n' if after_cr => {}
                b'\n' | b'\r' => {
                    let line = std::mem::take(&mut self.line);
                    events.extend(self.finish_line(&line));
                }
                _ => self.line.push(byte),
            }
            if self.line.len() + self.data.as_ref().map_or(0, String::len) > MAX_EVENT_BYTES {
                return Err(EventTooLong);
            }
        }
        Ok(events)
    }

    /// Handles a complete line. An empty line ends the event. An event without data is ignored.
    fn finish_line(&mut self, line: &[u8]) -> Option<String> {
        if line.is_empty() {
            return self.data.take();
        }
        if let Some(value) = line.strip_prefix(b"data:") {
            let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(&value);
                }
                None => self.data = Some(value.into_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_events_come_out_wherever_the_stream_is_cut() {
        let stream = "\u{feff}: hello\nevent: a\ndata: {\"x\":\"ü\"}\n\ndata:one\r\ndata: two\r\n\r\nid: 7\n\n: ping\n\ndata: [DONE]\n\n";
        let expected = ["{\"x\":\"ü\"}", "one\ntwo", "[DONE]"];
        for size in 1..stream.len() {
            let mut events = SseParser::default();
            let pieces = stream.as_bytes().chunks(size);
            let found: Vec<_> = pieces.flat_map(|piece| events.push_bytes(piece).unwrap()).collect();
            assert_eq!(found, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn what_does_not_end_is_no_event_and_does_not_grow_for_ever() {
        let mut events = SseParser::default();
        assert_eq!(events.push_bytes(b"data: half").unwrap(), Vec::<String>::new());
        assert_eq!(events.push_bytes(&vec![b'x'; MAX_EVENT_BYTES]), Err(EventTooLong));
    }
}
