// SPDX-License-Identifier: Apache-2.0 OR MIT

//! TH1: the protocol between hooks and the daemon (`docs/spec/hook-socket.md`).
//!
//! All functions work on bytes and do no I/O.
//!
//! ```
//! use tenterhook_shim::wire::{ClientRequest, DaemonMessage, HookRequest};
//!
//! let request = HookRequest {
//!     harness: "claude-code",
//!     event: "pre-tool-use",
//!     id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
//!     within_ms: 55_000,
//!     version: "0.1.0",
//!     revision: 2,
//!     project: None,
//!     headless: false,
//!     parent: 0,
//!     payload_len: 2,
//! };
//! let mut bytes = Vec::new();
//! request.write(&mut bytes)?;
//! bytes.extend(b"{}");
//! let (asked, header) = ClientRequest::read(&bytes)?.expect("a whole header");
//! assert_eq!(asked, ClientRequest::Hook(request));
//! assert_eq!(bytes.get(header..), Some(&b"{}"[..]));
//!
//! let reply = b"TH1 reply 0 3 0\nyes";
//! let (head, rest) = DaemonMessage::read(reply)?.expect("a whole line");
//! assert_eq!(head, DaemonMessage::Reply { exit: 0, stdout_len: 3, stderr_len: 0 });
//! assert_eq!(reply.get(rest..), Some(&b"yes"[..]));
//! # Ok::<(), tenterhook_shim::wire::Malformed>(())
//! ```

use std::fmt;

/// Revision of TH1 that this version supports. The daemon sends its version before the answer to clients of revision 2.
pub const REVISION: u32 = 2;
/// First bytes of a hook's connection.
pub const MAGIC: &[u8] = b"TH1 ";
/// Largest header of a request, and longest line of a reply.
pub const MAX_HEADER_BYTES: usize = 8 * 1024;
pub use crate::harness_rows::MAX_PAYLOAD_BYTES;
/// Line of a request whose harness runs without a prompt.
const HEADLESS_LINE: &[u8] = b"headless 1";
/// Largest reply, both streams together.
pub const MAX_REPLY_BYTES: usize = 64 * 1024 * 1024;

/// A request over the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientRequest<'a> {
    /// A hook call; the payload follows the header.
    Hook(HookRequest<'a>),
    /// A request for the status line.
    Status {
        /// Revision of TH1 that the client supports.
        revision: u32,
    },
}

/// One hook call, without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookRequest<'a> {
    /// Id of the harness.
    pub harness: &'a str,
    /// Event, as named in the harness's settings.
    pub event: &'a str,
    /// Id of the event, created by the client. The daemon makes one decision for each id.
    pub id: &'a str,
    /// Time limit of the call in milliseconds.
    pub within_ms: u64,
    /// Version of the client; empty if it sent none.
    pub version: &'a str,
    /// Revision of TH1 that the client supports; 1 if it sent none.
    pub revision: u32,
    /// Value of the harness's project variable. It may contain any bytes.
    pub project: Option<&'a [u8]>,
    /// Whether the harness runs without a prompt.
    pub headless: bool,
    /// Process id of the client's parent; 0 if the client sent none. It grants no permissions.
    pub parent: u32,
    /// Number of payload bytes after the header.
    pub payload_len: usize,
}

/// The first line of a message from the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DaemonMessage<'a> {
    /// The daemon is still working on the call.
    Wait,
    /// Version of the daemon, sent before the answer to clients of revision 2.
    Version(&'a str),
    /// The native reply for the harness: the exit code, then the bytes of both streams.
    Reply {
        /// Exit code for the harness.
        exit: u8,
        /// Number of bytes of standard output, right after the line.
        stdout_len: usize,
        /// Number of bytes of standard error, after standard output.
        stderr_len: usize,
    },
    /// The daemon cannot answer and gives the reason. The client has to evaluate the call itself.
    Fallback(&'a str),
    /// State of the daemon, for the status line.
    Status(&'a str),
}

/// Bytes that are not a valid TH1 message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}

// === impl ClientRequest ===

impl<'a> ClientRequest<'a> {
    /// The complete request for the status line.
    pub const STATUS: &'static [u8] = b"TH1 status\nrevision 2\n\n";

    /// Parses a header. Returns the request and the header's length; `None` if the header is incomplete.
    pub fn read(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, Malformed> {
        if !bytes.starts_with(MAGIC) {
            let so_far = bytes.len() < MAGIC.len() && MAGIC.starts_with(bytes);
            return if so_far { Ok(None) } else { Err(Malformed("not TH1")) };
        }
        let window = bytes.get(..MAX_HEADER_BYTES).unwrap_or(bytes);
        let Some(end) = window.windows(2).position(|pair| pair == b"\n\n") else {
            let full = window.len() == MAX_HEADER_BYTES;
            return if full { Err(Malformed("the header is too long")) } else { Ok(None) };
        };
        let mut lines = window.get(..end).unwrap_or_default().split(|byte| *byte == b'\n');
        let first = lines.next().and_then(|line| std::str::from_utf8(line).ok());
        let mut words = first.ok_or(Malformed("the first line is not UTF-8"))?.split(' ').skip(1);
        let asked = match words.next() {
            Some("status") => Self::Status { revision: lines.find_map(revision_of).unwrap_or(1) },
            Some("hook") => Self::Hook(HookRequest::of(&mut words, lines)?),
            _ => return Err(Malformed("unknown request")),
        };
        if words.next().is_some() {
            return Err(Malformed("the first line is too long"));
        }
        Ok(Some((asked, end + 2)))
    }
}

// === impl HookRequest ===

impl<'a> HookRequest<'a> {
    fn of(
        words: &mut dyn Iterator<Item = &'a str>,
        lines: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Self, Malformed> {
        let mut name = || words.next().filter(|word| is_name(word)).ok_or(Malformed("a name is missing"));
        let (harness, event, id) = (name()?, name()?, name()?);
        let mut count = || words.next().and_then(number).ok_or(Malformed("a number is missing"));
        let (within_ms, payload_len) = (count()?, count()?);
        let payload_len = usize::try_from(payload_len).ok().filter(|length| *length <= MAX_PAYLOAD_BYTES + 1);
        let payload_len = payload_len.ok_or(Malformed("the payload is too large"))?;
        let mut request = Self {
            harness,
            event,
            id,
            within_ms,
            version: "",
            revision: 1,
            project: None,
            headless: false,
            parent: 0,
            payload_len,
        };
        for line in lines {
            // Lines that this version does not know are ignored, because a newer client may send them.
            if let Some(revision) = revision_of(line) {
                request.revision = revision;
            } else if let Some(version) = line.strip_prefix(b"version ") {
                request.version =
                    std::str::from_utf8(version).map_err(|_| Malformed("the version is not UTF-8"))?;
            } else if let Some(project) = line.strip_prefix(b"project ") {
                request.project = Some(project);
            } else if line == HEADLESS_LINE {
                request.headless = true;
            } else if let Some(parent) = line.strip_prefix(b"parent ") {
                let parent = std::str::from_utf8(parent).ok().and_then(number);
                request.parent = parent.and_then(|parent| parent.try_into().ok()).unwrap_or(0);
            }
        }
        Ok(request)
    }

    /// Writes the header; the payload follows it directly.
    pub fn write(&self, to: &mut Vec<u8>) -> Result<(), Malformed> {
        if ![self.harness, self.event, self.id].into_iter().all(is_name) {
            return Err(Malformed("a name is not a single word"));
        }
        to.extend_from_slice(b"TH1 hook");
        for word in [self.harness, self.event, self.id] {
            to.push(b' ');
            to.extend_from_slice(word.as_bytes());
        }
        for count in [self.within_ms, u64::try_from(self.payload_len).unwrap_or(u64::MAX)] {
            to.push(b' ');
            write_number(count, to);
        }
        to.push(b'\n');
        if self.parent > 0 {
            to.extend_from_slice(b"parent ");
            write_number(self.parent.into(), to);
            to.push(b'\n');
        }
        if self.revision > 1 {
            to.extend_from_slice(b"revision ");
            write_number(self.revision.into(), to);
            to.push(b'\n');
        }
        if self.headless {
            to.extend_from_slice(HEADLESS_LINE);
            to.push(b'\n');
        }
        let project = self.project.unwrap_or_default();
        for (name, value) in [(&b"version "[..], self.version.as_bytes()), (b"project ", project)] {
            // A value that contains a line end is left out.
            if !value.is_empty() && !value.contains(&b'\n') && value.len() < MAX_HEADER_BYTES / 2 {
                to.extend_from_slice(name);
                to.extend_from_slice(value);
                to.push(b'\n');
            }
        }
        to.push(b'\n');
        Ok(())
    }
}

// === impl DaemonMessage ===

impl<'a> DaemonMessage<'a> {
    /// Parses the first line of a message. Returns the message and the line's length; `None` if the line is
    /// incomplete.
    pub fn read(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, Malformed> {
        let window = bytes.get(..MAX_HEADER_BYTES).unwrap_or(bytes);
        let Some(end) = window.iter().position(|byte| *byte == b'\n') else {
            let start = window.get(..MAGIC.len()).unwrap_or(window);
            if !MAGIC.starts_with(start) || window.len() == MAX_HEADER_BYTES {
                return Err(Malformed("not TH1"));
            }
            return Ok(None);
        };
        let line = window.get(..end).and_then(|line| line.strip_prefix(MAGIC));
        let line = line.and_then(|line| std::str::from_utf8(line).ok()).ok_or(Malformed("not TH1"))?;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let reply = match word {
            "wait" if rest.is_empty() => Self::Wait,
            "version" => Self::Version(rest),
            "fallback" => Self::Fallback(rest),
            "status" => Self::Status(rest),
            "reply" => {
                let mut numbers = rest.split(' ').map(number);
                let mut next = || numbers.next().flatten().ok_or(Malformed("a number is missing"));
                let (exit, stdout, stderr) = (next()?, next()?, next()?);
                if numbers.next().is_some() {
                    return Err(Malformed("the line is too long"));
                }
                let exit = u8::try_from(exit).map_err(|_| Malformed("the exit code is out of range"))?;
                let bounded =
                    |count: u64| usize::try_from(count).ok().filter(|count| *count <= MAX_REPLY_BYTES);
                let [Some(stdout_len), Some(stderr_len)] = [stdout, stderr].map(bounded) else {
                    return Err(Malformed("the reply is too large"));
                };
                Self::Reply { exit, stdout_len, stderr_len }
            }
            _ => return Err(Malformed("unknown reply")),
        };
        Ok(Some((reply, end + 1)))
    }

    /// Writes the first line of a message; the streams of a reply follow it directly.
    pub fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(MAGIC);
        match self {
            Self::Wait => to.extend_from_slice(b"wait"),
            Self::Reply { exit, stdout_len, stderr_len } => {
                to.extend_from_slice(b"reply ");
                write_number(u64::from(*exit), to);
                for length in [stdout_len, stderr_len] {
                    to.push(b' ');
                    write_number(u64::try_from(*length).unwrap_or(u64::MAX), to);
                }
            }
            Self::Version(version) => write_words(b"version ", version, to),
            Self::Fallback(why) => write_words(b"fallback ", why, to),
            Self::Status(text) => write_words(b"status ", text, to),
        }
        to.push(b'\n');
    }

    /// A complete reply: the first line and both streams.
    pub fn whole(exit: u8, stdout: &[u8], stderr: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(48 + stdout.len() + stderr.len());
        DaemonMessage::Reply { exit, stdout_len: stdout.len(), stderr_len: stderr.len() }.write(&mut bytes);
        bytes.extend_from_slice(stdout);
        bytes.extend_from_slice(stderr);
        bytes
    }
}

/// Whether a text is a valid name: one word without spaces.
fn is_name(word: &str) -> bool {
    !word.is_empty() && word.len() <= 256 && word.bytes().all(|byte| byte > b' ' && byte != 0x7F)
}

/// The revision in a line of the header.
fn revision_of(line: &[u8]) -> Option<u32> {
    let digits = line.strip_prefix(b"revision ").and_then(|digits| std::str::from_utf8(digits).ok())?;
    number(digits)?.try_into().ok()
}

/// Parses digits only: no sign, no space.
fn number(word: &str) -> Option<u64> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten()
}

fn write_number(count: u64, to: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let (mut rest, mut used) = (count, 0);
    for layout in digits.iter_mut().rev() {
        *layout = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        (rest, used) = (rest / 10, used + 1);
        if rest == 0 {
            break;
        }
    }
    to.extend_from_slice(digits.get(digits.len() - used..).unwrap_or_default());
}

/// Writes text as one line of limited length.
fn write_words(word: &[u8], text: &str, to: &mut Vec<u8>) {
    to.extend_from_slice(word);
    let mut cut = text.len().min(MAX_HEADER_BYTES / 2);
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    let text = text.get(..cut).unwrap_or_default();
    to.extend(text.bytes().map(|byte| if byte == b'\n' { b' ' } else { byte }));
}

#[cfg(test)]
mod tests;
