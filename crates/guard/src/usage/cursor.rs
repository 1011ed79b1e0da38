// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How far one transcript was read, and what of it was counted.

use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader, Error, Read as _, Result, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use tenterhook_event::{Timestamp, TokenCounts};
use tenterhook_files::FileClass;
use tenterhook_harness_install::receipt::FileFingerprint;
use tenterhook_transcript::usage::{UsageFormat, UsageLine};

use super::tracked::Beyond as _;

/// No line of a client is longer. What is longer is not read.
const MAX_LINE_BYTES: u64 = 16 << 20;
/// How many of the latest answers are known by their keys: an answer has a line for each of its blocks.
const MAX_RECENT_ANSWERS: usize = 64;
/// How many bytes before the place where reading goes on are compared.
const ANCHOR_BYTES: usize = 64;

/// How far one transcript was read.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FileCursor {
    stamp: FileStamp,
    offset: u64,
    /// A hash of the bytes before the offset, and how many they are.
    anchor: (String, usize),
    /// Whether the rest of a line that is too long is passed over.
    is_skipping: bool,
    /// Whether the last read ended before the end of the file.
    is_behind: bool,
    /// Keys of the latest answers, and what was counted of each.
    recent: VecDeque<(String, [u64; 4])>,
    /// The highest total, in a transcript that has totals.
    total: [u64; 4],
    model: Option<String>,
    /// When the latest answer that was counted was written.
    counted_until_ms: u64,
    /// The file was replaced or cut: answers up to this time were counted before.
    replayed_until_ms: Option<u64>,
    unreadable_lines: u64,
    long_lines: u64,
}

/// How a transcript is read at a call.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) format: &'a UsageFormat,
    pub(super) now_ms: u64,
    /// What is there now; a link is not followed.
    pub(super) found: &'a Metadata,
}

/// By what a change of a file is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct FileStamp {
    device: u64,
    inode: u64,
    length: u64,
    changed_ns: i128,
}

/// An answer, or a difference of totals.
pub(super) struct Counted {
    pub(super) model: Option<String>,
    pub(super) ts: Option<Timestamp>,
    /// All tokens of the answer.
    pub(super) tokens: [u64; 4],
    /// Those that were counted before.
    pub(super) before: [u64; 4],
    /// Whether it is the first time that the answer is counted.
    pub(super) is_new: bool,
}

impl FileStamp {
    fn of(found: &Metadata) -> Self {
        Self { device: found.dev(), inode: found.ino(), length: found.len(), changed_ns: changed_ns(found) }
    }
}

pub(super) fn changed_ns(found: &Metadata) -> i128 {
    i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec())
}

impl FileCursor {
    pub(super) fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Why not everything in the file was counted.
    pub(super) fn problem(&self) -> Option<&'static str> {
        if self.unreadable_lines > 0 {
            return Some("has a line with token counts that cannot be read");
        }
        (self.long_lines > 0).then_some("has a line that is too long to be read")
    }

    /// Reads what is new, at most as many bytes as are left. Says whether anything changed.
    pub(super) fn read(
        &mut self,
        path: &Path,
        owner: u32,
        reading: Reading<'_>,
        left: &mut u64,
        count: &mut dyn FnMut(Counted),
    ) -> Result<bool> {
        // A link or a pipe in the place of the file has another stamp, and is refused below.
        if !self.is_behind && FileStamp::of(reading.found) == self.stamp {
            return Ok(false);
        }
        let file = tenterhook_files::open(path, FileClass::OwnedBy(owner))?;
        let mut file = file.ok_or_else(|| Error::from(std::io::ErrorKind::NotFound))?;
        let stamp = FileStamp::of(&file.metadata()?);
        if self.is_another(&file, stamp) {
            self.offset = 0;
            self.is_skipping = false;
            self.replayed_until_ms = Some(self.counted_until_ms);
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let read = self.read_lines(file, reading, left, count);
        self.stamp = stamp;
        self.is_behind = *left == 0 && self.offset < stamp.length;
        read.map(|()| true)
    }

    /// Whether the file is not the one that was read before, or does not have the same beginning.
    fn is_another(&self, file: &File, stamp: FileStamp) -> bool {
        let known = self.stamp;
        if self.offset == 0 {
            return false;
        }
        if (known.device, known.inode) != (stamp.device, stamp.inode) || stamp.length < self.offset {
            return true;
        }
        let (hash, length) = &self.anchor;
        let mut bytes = vec![0; *length];
        let start = self.offset.saturating_sub(u64::try_from(*length).unwrap_or_default());
        file.read_exact_at(&mut bytes, start).is_err() || FileFingerprint::of(&bytes).fnv1a != *hash
    }

    fn read_lines(
        &mut self,
        file: File,
        reading: Reading<'_>,
        left: &mut u64,
        count: &mut dyn FnMut(Counted),
    ) -> Result<()> {
        let mut input = BufReader::with_capacity(1 << 16, file);
        let mut line = Vec::new();
        while *left > 0 {
            line.clear();
            line.shrink_to(1 << 20);
            let limit = (*left).min(MAX_LINE_BYTES);
            let read =
                u64::try_from(input.by_ref().take(limit).read_until(b'\n', &mut line)?).unwrap_or(limit);
            let is_whole = line.last() == Some(&b'\n');
            if !is_whole && read < limit {
                // The client is still writing it, or there is nothing more.
                return Ok(());
            }
            *left -= read.min(*left);
            if !is_whole && read < MAX_LINE_BYTES && !self.is_skipping {
                // Too long for this call only.
                return Ok(());
            }
            self.offset += read;
            self.set_anchor(&line);
            if self.is_skipping || !is_whole {
                self.long_lines += u64::from(!self.is_skipping);
                self.is_skipping = !is_whole;
                continue;
            }
            match reading.format.read_line(&String::from_utf8_lossy(&line)) {
                Ok(found) => found.into_iter().for_each(|found| self.take(found, reading.now_ms, count)),
                Err(_) => self.unreadable_lines += 1,
            }
        }
        Ok(())
    }

    fn set_anchor(&mut self, line: &[u8]) {
        let tail = line.get(line.len().saturating_sub(ANCHOR_BYTES)..).unwrap_or_default();
        self.anchor = (FileFingerprint::of(tail).fnv1a, tail.len());
    }

    fn take(&mut self, found: UsageLine, now_ms: u64, count: &mut dyn FnMut(Counted)) {
        match found {
            UsageLine::Model(model) => self.model = Some(model),
            UsageLine::Total { ts, tokens } => {
                let tokens = array(tokens).raised_to(self.total);
                if tokens == self.total {
                    return;
                }
                let added = tokens.beyond(self.total);
                self.total = tokens;
                let model = self.model.clone();
                count(Counted { model, ts, tokens: added, before: [0; 4], is_new: true });
            }
            UsageLine::Answer { key, model, ts, tokens } => {
                let ts_ms = ts.map(Timestamp::unix_ms);
                if self.replayed_until_ms.is_some_and(|until| ts_ms.is_none_or(|ts| ts <= until)) {
                    return;
                }
                // A time in the future would hide what comes after it when the file is read again.
                self.counted_until_ms = self.counted_until_ms.max(ts_ms.unwrap_or_default().min(now_ms));
                let known = self.recent.iter().position(|(other, _)| *other == key);
                let before = known.and_then(|at| self.recent.remove(at)).map(|(_, before)| before);
                let before_tokens = before.unwrap_or_default();
                let tokens = array(tokens).raised_to(before_tokens);
                if self.recent.len() >= MAX_RECENT_ANSWERS {
                    self.recent.pop_front();
                }
                self.recent.push_back((key, tokens));
                if before.is_none() || tokens != before_tokens {
                    count(Counted { model, ts, tokens, before: before_tokens, is_new: before.is_none() });
                }
            }
        }
    }
}

fn array(tokens: TokenCounts) -> [u64; 4] {
    [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write]
}
