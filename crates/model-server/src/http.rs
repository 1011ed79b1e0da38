// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The part of HTTP/1.1 that a model client on loopback needs: one request per connection, with a body of known
//! length. Anything else is rejected.

use std::io::{self, BufRead, Read, Write};

use serde_json::{Value, json};

use crate::script::Fault;

/// Much larger than any client's header. The limit stops the server from reading invalid data forever.
const MAX_HEAD_BYTES: u64 = 64 * 1024;

/// Larger than any client's request. A request repeats the whole conversation.
const MAX_BODY_BYTES: u64 = 64 << 20;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ServedRequest {
    pub(crate) method: String,
    /// Path without the query.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// How the body of an answer is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Delivery {
    /// At once, with its length in the header.
    #[default]
    Whole,
    /// In chunks, one for each event of a stream, with a pause between chunks.
    Paced {
        /// Length of the pause.
        pause_ms: u64,
    },
}

/// An answer, split into the pieces in which it is written.
#[derive(Debug)]
pub(crate) struct ServerResponse {
    status: Status,
    content_type: &'static str,
    retry_after: Option<u64>,
    pieces: Vec<Vec<u8>>,
    disturbance: Option<ScriptedDisturbance>,
}

/// A scripted fault between two pieces.
#[derive(Debug, Clone, Copy)]
enum ScriptedDisturbance {
    /// The rest is never sent, although it was announced.
    Cut { after: usize },
    /// The rest is sent after this delay.
    Stall { after: usize, ms: u64 },
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Status {
    Ok,
    BadRequest,
    NotFound,
    Other(u16),
}

/// Reads one request; `None` if the client closed the connection without sending a request.
pub(crate) fn read_request(stream: &mut impl BufRead) -> io::Result<Option<ServedRequest>> {
    let mut head = stream.by_ref().take(MAX_HEAD_BYTES);
    let mut line = String::new();
    if head.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(malformed("no request line"));
    };
    let method = method.to_owned();
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let length = read_headers(&mut head)?;

    if length > MAX_BODY_BYTES {
        return Err(malformed("the body is too long"));
    }
    let mut body = Vec::new();
    stream.take(length).read_to_end(&mut body)?;
    if body.len() as u64 != length {
        return Err(malformed("the body is shorter than its content-length"));
    }
    Ok(Some(ServedRequest { method, path, body }))
}

/// Reads up to the blank line and returns the length of the body.
fn read_headers(head: &mut impl BufRead) -> io::Result<u64> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 {
            return Err(malformed("the head does not end"));
        }
        let line = line.trim_end();
        if line.is_empty() {
            return Ok(length);
        }
        let (name, value) = line.split_once(':').ok_or_else(|| malformed("a header has no colon"))?;
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(|_| malformed("content-length is not a number"))?;
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(malformed("chunked bodies are not supported"));
        }
    }
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl ServerResponse {
    pub(crate) fn json(status: Status, body: &Value) -> Self {
        Self::new(status, "application/json", vec![body.to_string().into_bytes()])
    }

    fn new(status: Status, content_type: &'static str, pieces: Vec<Vec<u8>>) -> Self {
        Self { status, content_type, retry_after: None, pieces, disturbance: None }
    }

    pub(crate) fn error(status: Status, message: &str) -> Self {
        let kind = match status {
            Status::Ok => "none",
            Status::BadRequest => "invalid_request_error",
            Status::NotFound => "not_found_error",
            Status::Other(_) => "api_error",
        };
        Self::json(status, &json!({"type": "error", "error": {"type": kind, "message": message}}))
    }

    /// An event stream. Clients parse it incrementally; sending it with a known length keeps the framing simple.
    pub(crate) fn event_stream(events: &[(&str, Value)]) -> Self {
        let texts = events.iter().map(|(name, data)| format!("event: {name}\ndata: {data}\n\n"));
        Self::stream(texts)
    }

    /// An event stream without event names; `end` is a final event that is not JSON.
    pub(crate) fn data_stream(events: &[Value], end: Option<&str>) -> Self {
        let texts = events.iter().map(ToString::to_string).chain(end.map(ToOwned::to_owned));
        Self::stream(texts.map(|data| format!("data: {data}\n\n")))
    }

    fn stream(texts: impl Iterator<Item = String>) -> Self {
        Self::new(Status::Ok, "text/event-stream", texts.map(String::into_bytes).collect())
    }

    /// The answer with a fault.
    pub(crate) fn with(mut self, fault: &Fault) -> Self {
        match fault {
            Fault::Cut { after } => self.disturbance = Some(ScriptedDisturbance::Cut { after: *after }),
            Fault::Stall { after, ms } => {
                self.disturbance = Some(ScriptedDisturbance::Stall { after: *after, ms: *ms });
            }
            Fault::Short { after } => self.pieces.truncate(*after),
            Fault::Malformed { after } => {
                let place = (*after).min(self.pieces.len());
                self.pieces.insert(place, b"data: {\"type\": nonsense\n\n".to_vec());
            }
            Fault::Status { status, retry_after, message } => {
                let message = message.as_deref().unwrap_or("the script says so");
                self = Self::error(Status::Other(*status), message);
                self.retry_after = *retry_after;
            }
        }
        self
    }

    /// The header without a body, for HEAD requests.
    pub(crate) fn without_body(mut self) -> Self {
        self.pieces.clear();
        self
    }

    /// Writes the answer. `pause` is called to wait for a number of milliseconds.
    pub(crate) fn write(
        &self,
        stream: &mut impl Write,
        delivery: Delivery,
        pause: impl Fn(u64),
    ) -> io::Result<()> {
        let status = match self.status {
            Status::Ok => "200 OK".to_owned(),
            Status::BadRequest => "400 Bad Request".to_owned(),
            Status::NotFound => "404 Not Found".to_owned(),
            Status::Other(status) => format!("{status} Scripted"),
        };
        let Self { content_type, pieces, .. } = self;
        let framing = match delivery {
            Delivery::Whole => format!("content-length: {}", pieces.iter().map(Vec::len).sum::<usize>()),
            Delivery::Paced { .. } => "transfer-encoding: chunked".to_owned(),
        };
        let retry_after = self.retry_after.map(|seconds| format!("retry-after: {seconds}\r\n"));
        let retry_after = retry_after.unwrap_or_default();
        write!(
            stream,
            "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\n{framing}\r\n\
             {retry_after}connection: close\r\n\r\n"
        )?;
        for (written, piece) in pieces.iter().enumerate() {
            match self.disturbance {
                Some(ScriptedDisturbance::Cut { after }) if after == written => return stream.flush(),
                Some(ScriptedDisturbance::Stall { after, ms }) if after == written => pause(ms),
                _ => {}
            }
            match delivery {
                Delivery::Whole => stream.write_all(piece)?,
                Delivery::Paced { pause_ms } => {
                    if written > 0 {
                        pause(pause_ms);
                    }
                    write!(stream, "{:x}\r\n", piece.len())?;
                    stream.write_all(piece)?;
                    stream.write_all(b"\r\n")?;
                }
            }
            stream.flush()?;
        }
        if delivery != Delivery::Whole {
            stream.write_all(b"0\r\n\r\n")?;
        }
        stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut bytes: &[u8]) -> io::Result<Option<ServedRequest>> {
        read_request(&mut bytes)
    }

    #[test]
    fn a_request_is_method_path_and_body() {
        let request = read(b"POST /v1/messages?beta=true HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}next");
        let expected =
            ServedRequest { method: "POST".into(), path: "/v1/messages".into(), body: b"{}".into() };
        assert_eq!(request.unwrap(), Some(expected));
    }

    #[test]
    fn an_answer_comes_whole_or_in_chunks() {
        let answer = ServerResponse::data_stream(&[json!(1)], Some("[DONE]"));
        let written = |delivery| {
            let mut bytes = Vec::new();
            answer.write(&mut bytes, delivery, |_| ()).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        assert!(
            written(Delivery::Whole)
                .ends_with("content-length: 23\r\nconnection: close\r\n\r\ndata: 1\n\ndata: [DONE]\n\n")
        );
        let chunks = "9\r\ndata: 1\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";
        let paced = written(Delivery::Paced { pause_ms: 1 });
        assert!(paced.ends_with(&format!("transfer-encoding: chunked\r\nconnection: close\r\n\r\n{chunks}")));
    }

    #[test]
    fn a_silent_peer_is_no_request() {
        assert_eq!(read(b"").unwrap(), None);
    }

    #[test]
    fn what_cannot_be_framed_is_refused() {
        for (bytes, why) in [
            (&b"\r\n"[..], "no request line"),
            (b"GET / HTTP/1.1\r\n", "the head does not end"),
            (b"GET / HTTP/1.1\r\nhost\r\n\r\n", "a header has no colon"),
            (b"POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n", "content-length is not a number"),
            (
                b"POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\n{}",
                "the body is shorter than its content-length",
            ),
            (b"POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n", "the body is too long"),
            (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", "chunked bodies are not supported"),
        ] {
            assert_eq!(read(bytes).unwrap_err().to_string(), why);
        }
    }
}
