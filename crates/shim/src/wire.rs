// SPDX-License-Identifier: Apache-2.0 OR MIT

//! TH1: how a hook asks the daemon, and how it answers (`docs/spec/hook-socket.md`).
//!
//! Pure functions over bytes: nothing is read or written here.
//!
//! ```
//! use tenterhook_shim::wire::{Asked, Reply, Request};
//!
//! let request = Request {
//!     harness: "claude-code",
//!     event: "pre-tool-use",
//!     id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
//!     within_ms: 55_000,
//!     version: "0.1.0",
//!     revision: 2,
//!     project: None,
//!     parent: 0,
//!     payload_len: 2,
//! };
//! let mut bytes = Vec::new();
//! request.write(&mut bytes)?;
//! bytes.extend(b"{}");
//! let (asked, header) = Asked::read(&bytes)?.expect("a whole header");
//! assert_eq!(asked, Asked::Hook(request));
//! assert_eq!(bytes.get(header..), Some(&b"{}"[..]));
//!
//! let reply = b"TH1 reply 0 3 0\nyes";
//! let (head, rest) = Reply::read(reply)?.expect("a whole line");
//! assert_eq!(head, Reply::Reply { exit: 0, stdout_len: 3, stderr_len: 0 });
//! assert_eq!(reply.get(rest..), Some(&b"yes"[..]));
//! # Ok::<(), tenterhook_shim::wire::Malformed>(())
//! ```

use std::fmt;

/// The revision of TH1 that this version speaks. To an asker of revision 2 the daemon sends its version before the
/// answer.
pub const REVISION: u32 = 2;
/// A connection that begins so is a hook's.
pub const MAGIC: &[u8] = b"TH1 ";
/// The longest header of a request, and the longest line of a reply, in bytes.
pub const MAX_HEADER: usize = 8 * 1024;
pub use crate::harness_rows::MAX_PAYLOAD;
/// The largest reply, both streams together, in bytes.
pub const MAX_REPLY: usize = 64 * 1024 * 1024;

/// What somebody asks over the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked<'a> {
    /// A harness fired an event; the payload follows the header.
    Hook(Request<'a>),
    /// The status line: one line about how things stand.
    Status {
        /// The revision of TH1 that the asker speaks.
        revision: u32,
    },
}

/// One hook call, without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// The harness's id.
    pub harness: &'a str,
    /// The event, as the harness's settings name it.
    pub event: &'a str,
    /// The event's id, minted at the door: one decision for each.
    pub id: &'a str,
    /// How long the asker waits at most, in milliseconds.
    pub within_ms: u64,
    /// The asker's version; empty if it does not say.
    pub version: &'a str,
    /// The revision of TH1 that the asker speaks; 1 if it does not say.
    pub revision: u32,
    /// What the harness's project variable says, whatever bytes it is of.
    pub project: Option<&'a [u8]>,
    /// The process that called the asker; 0 if it does not say. Nothing is granted by it.
    pub parent: u32,
    /// How many bytes of payload follow the header.
    pub payload_len: usize,
}

/// The head of one message of the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply<'a> {
    /// It is alive and works on it.
    Wait,
    /// The daemon's version. Comes before the answer, and only to an asker of revision 2.
    Version(&'a str),
    /// The harness's own reply: the exit code, then so many bytes for each stream.
    Reply {
        /// The exit code.
        exit: u8,
        /// Bytes of standard output, right after the line.
        stdout_len: usize,
        /// Bytes of standard error, after those.
        stderr_len: usize,
    },
    /// It cannot answer, and why: the asker judges by itself.
    Fallback(&'a str),
    /// How things stand, for the status line.
    Status(&'a str),
}

/// The bytes are no TH1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}

// === impl Asked ===

impl<'a> Asked<'a> {
    /// The status line's question, whole.
    pub const STATUS: &'static [u8] = b"TH1 status\nrevision 2\n\n";

    /// Reads a header and says how long it is. `None`: more has to come.
    pub fn read(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, Malformed> {
        if !bytes.starts_with(MAGIC) {
            let so_far = bytes.len() < MAGIC.len() && MAGIC.starts_with(bytes);
            return if so_far { Ok(None) } else { Err(Malformed("not TH1")) };
        }
        let window = bytes.get(..MAX_HEADER).unwrap_or(bytes);
        let Some(end) = window.windows(2).position(|pair| pair == b"\n\n") else {
            let full = window.len() == MAX_HEADER;
            return if full { Err(Malformed("the header is too long")) } else { Ok(None) };
        };
        let mut lines = window.get(..end).unwrap_or_default().split(|byte| *byte == b'\n');
        let first = lines.next().and_then(|line| std::str::from_utf8(line).ok());
        let mut words = first.ok_or(Malformed("the first line is no text"))?.split(' ').skip(1);
        let asked = match words.next() {
            Some("status") => Self::Status { revision: lines.find_map(revision_of).unwrap_or(1) },
            Some("hook") => Self::Hook(Request::of(&mut words, lines)?),
            _ => return Err(Malformed("an unknown question")),
        };
        if words.next().is_some() {
            return Err(Malformed("the first line is too long"));
        }
        Ok(Some((asked, end + 2)))
    }
}

// === impl Request ===

impl<'a> Request<'a> {
    fn of(
        words: &mut dyn Iterator<Item = &'a str>,
        lines: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Self, Malformed> {
        let mut name = || words.next().filter(|word| is_name(word)).ok_or(Malformed("a name is missing"));
        let (harness, event, id) = (name()?, name()?, name()?);
        let mut count = || words.next().and_then(number).ok_or(Malformed("a number is missing"));
        let (within_ms, payload_len) = (count()?, count()?);
        let payload_len = usize::try_from(payload_len).ok().filter(|length| *length <= MAX_PAYLOAD + 1);
        let payload_len = payload_len.ok_or(Malformed("the payload is too large"))?;
        let mut request = Self {
            harness,
            event,
            id,
            within_ms,
            version: "",
            revision: 1,
            project: None,
            parent: 0,
            payload_len,
        };
        for line in lines {
            // A newer asker may say more than is known here.
            if let Some(revision) = revision_of(line) {
                request.revision = revision;
            } else if let Some(version) = line.strip_prefix(b"version ") {
                request.version = std::str::from_utf8(version).map_err(|_| Malformed("no version"))?;
            } else if let Some(project) = line.strip_prefix(b"project ") {
                request.project = Some(project);
            } else if let Some(parent) = line.strip_prefix(b"parent ") {
                let parent = std::str::from_utf8(parent).ok().and_then(number);
                request.parent = parent.and_then(|parent| parent.try_into().ok()).unwrap_or(0);
            }
        }
        Ok(request)
    }

    /// Writes the header; the payload comes right after it.
    pub fn write(&self, to: &mut Vec<u8>) -> Result<(), Malformed> {
        if ![self.harness, self.event, self.id].into_iter().all(is_name) {
            return Err(Malformed("a name is no single word"));
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
        let project = self.project.unwrap_or_default();
        for (name, value) in [(&b"version "[..], self.version.as_bytes()), (b"project ", project)] {
            // A line that cannot be told from the end of the header is left out.
            if !value.is_empty() && !value.contains(&b'\n') && value.len() < MAX_HEADER / 2 {
                to.extend_from_slice(name);
                to.extend_from_slice(value);
                to.push(b'\n');
            }
        }
        to.push(b'\n');
        Ok(())
    }
}

// === impl Reply ===

impl<'a> Reply<'a> {
    /// Reads the head of one message and says how long it is. `None`: more has to come.
    pub fn read(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, Malformed> {
        let window = bytes.get(..MAX_HEADER).unwrap_or(bytes);
        let Some(end) = window.iter().position(|byte| *byte == b'\n') else {
            let start = window.get(..MAGIC.len()).unwrap_or(window);
            if !MAGIC.starts_with(start) || window.len() == MAX_HEADER {
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
                let exit = u8::try_from(exit).map_err(|_| Malformed("no exit code"))?;
                let bounded = |count: u64| usize::try_from(count).ok().filter(|count| *count <= MAX_REPLY);
                let [Some(stdout_len), Some(stderr_len)] = [stdout, stderr].map(bounded) else {
                    return Err(Malformed("the reply is too large"));
                };
                Self::Reply { exit, stdout_len, stderr_len }
            }
            _ => return Err(Malformed("an unknown answer")),
        };
        Ok(Some((reply, end + 1)))
    }

    /// Writes the head of a message; the streams of a reply come right after it.
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

    /// A whole reply: the head and both streams.
    pub fn whole(exit: u8, stdout: &[u8], stderr: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(48 + stdout.len() + stderr.len());
        Reply::Reply { exit, stdout_len: stdout.len(), stderr_len: stderr.len() }.write(&mut bytes);
        bytes.extend_from_slice(stdout);
        bytes.extend_from_slice(stderr);
        bytes
    }
}

/// What stands alone between two spaces.
fn is_name(word: &str) -> bool {
    !word.is_empty() && word.len() <= 256 && word.bytes().all(|byte| byte > b' ' && byte != 0x7F)
}

/// The revision that a line of the header names.
fn revision_of(line: &[u8]) -> Option<u32> {
    let digits = line.strip_prefix(b"revision ").and_then(|digits| std::str::from_utf8(digits).ok())?;
    number(digits)?.try_into().ok()
}

/// Digits and nothing else: no sign, no space.
fn number(word: &str) -> Option<u64> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten()
}

fn write_number(count: u64, to: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let (mut rest, mut used) = (count, 0);
    for place in digits.iter_mut().rev() {
        *place = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        (rest, used) = (rest / 10, used + 1);
        if rest == 0 {
            break;
        }
    }
    to.extend_from_slice(digits.get(digits.len() - used..).unwrap_or_default());
}

/// One line, whatever is in it, and not longer than a line may be.
fn write_words(word: &[u8], text: &str, to: &mut Vec<u8>) {
    to.extend_from_slice(word);
    let mut cut = text.len().min(MAX_HEADER / 2);
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    let text = text.get(..cut).unwrap_or_default();
    to.extend(text.bytes().map(|byte| if byte == b'\n' { b' ' } else { byte }));
}

#[cfg(test)]
mod tests;
