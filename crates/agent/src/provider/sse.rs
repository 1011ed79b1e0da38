// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Server-sent events: bytes as they arrive → the data of each event.

/// No event of a model is longer; a stream without line ends must not fill the memory.
const LONGEST: usize = 16 * 1024 * 1024;

/// Reads a stream piece by piece, wherever it was cut into pieces.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Option<String>,
    after_cr: bool,
}

/// An event is longer than any event is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Events {
    /// Takes in some bytes and returns the data of every event that ends in them. Names, ids and
    /// comments are passed over: what models say is all in the data.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                b'\n' if after_cr => {}
                b'\n' | b'\r' => {
                    let line = std::mem::take(&mut self.line);
                    events.extend(self.end_of_line(&line));
                }
                _ => self.line.push(byte),
            }
            if self.line.len() + self.data.as_ref().map_or(0, String::len) > LONGEST {
                return Err(TooLong);
            }
        }
        Ok(events)
    }

    /// An empty line ends an event; one that has no data is none.
    fn end_of_line(&mut self, line: &[u8]) -> Option<String> {
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
            let mut events = Events::default();
            let pieces = stream.as_bytes().chunks(size);
            let found: Vec<_> = pieces.flat_map(|piece| events.take(piece).unwrap()).collect();
            assert_eq!(found, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn what_does_not_end_is_no_event_and_does_not_grow_for_ever() {
        let mut events = Events::default();
        assert_eq!(events.take(b"data: half").unwrap(), Vec::<String>::new());
        assert_eq!(events.take(&vec![b'x'; LONGEST]), Err(TooLong));
    }
}
