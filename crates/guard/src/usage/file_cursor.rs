// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tracks the position in one transcript and what was counted up to that position.

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

use super::tracked_usage::TokenCountOps as _;

/// Maximum length of a line. Longer lines are skipped.
const MAX_LINE_BYTES: u64 = 16 << 20;
/// Maximum number of recent responses remembered by key. A response has one line for each of its blocks.
const MAX_RECENT_ANSWERS: usize = 64;
/// Number of bytes before the offset that are compared before reading continues.
const ANCHOR_BYTES: usize = 64;

/// Position in one transcript.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FileCursor {
    stamp: FileStamp,
    offset: u64,
    /// Hash of the bytes before the offset, and their number.
    anchor: (String, usize),
    /// Whether the rest of a line that is too long is being skipped.
    is_skipping: bool,
    /// Whether the last read ended before the end of the file.
    is_behind: bool,
    /// Keys of recent responses, with the tokens counted for each.
    recent: VecDeque<(String, [u64; 4])>,
    /// The highest total so far, for transcripts that contain totals.
    total: [u64; 4],
    model: Option<String>,
    /// Time of the latest response that was counted.
    counted_until_ms: u64,
    /// Set after the file was replaced or truncated. Responses up to this time were counted before.
    replayed_until_ms: Option<u64>,
    unreadable_lines: u64,
    long_lines: u64,
}

/// Parameters of one read.
#[derive(Clone, Copy)]
pub(super) struct ReadContext<'a> {
    pub(super) format: &'a UsageFormat,
    pub(super) now_ms: u64,
    /// Metadata of the path itself. Links are not followed.
    pub(super) found: &'a Metadata,
}

/// Identifies a version of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct FileStamp {
    device: u64,
    inode: u64,
    length: u64,
    changed_ns: i128,
}

/// Token counts of a response, or a difference between two totals.
pub(super) struct CountedAnswer {
    pub(super) model: Option<String>,
    pub(super) ts: Option<Timestamp>,
    /// All tokens of the response.
    pub(super) tokens: [u64; 4],
    /// Tokens of the response that were counted before.
    pub(super) before: [u64; 4],
    /// Whether the response is counted for the first time.
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

    /// Returns why the file was not counted completely.
    pub(super) fn problem(&self) -> Option<&'static str> {
        if self.unreadable_lines > 0 {
            return Some("has a line with unreadable token counts");
        }
        (self.long_lines > 0).then_some("has a line that is too long")
    }

    /// Reads new lines, at most `left` bytes. Returns whether anything changed.
    pub(super) fn read(
        &mut self,
        path: &Path,
        owner: u32,
        context: ReadContext<'_>,
        left: &mut u64,
        count: &mut dyn FnMut(CountedAnswer),
    ) -> Result<bool> {
        // If the path has become a link or a pipe, its stamp differs, and `open` below refuses it.
        if !self.is_behind && FileStamp::of(context.found) == self.stamp {
            return Ok(false);
        }
        let file = tenterhook_files::open(path, FileClass::OwnedBy(owner))?;
        let mut file = file.ok_or_else(|| Error::from(std::io::ErrorKind::NotFound))?;
        let stamp = FileStamp::of(&file.metadata()?);
        if self.is_replaced(&file, stamp) {
            self.offset = 0;
            self.is_skipping = false;
            self.replayed_until_ms = Some(self.counted_until_ms);
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let read = self.read_lines(file, context, left, count);
        self.stamp = stamp;
        self.is_behind = *left == 0 && self.offset < stamp.length;
        read.map(|()| true)
    }

    /// Returns whether this is another file than before, is shorter, or differs just before the offset.
    fn is_replaced(&self, file: &File, stamp: FileStamp) -> bool {
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
        context: ReadContext<'_>,
        left: &mut u64,
        count: &mut dyn FnMut(CountedAnswer),
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
                // The client is still writing the line, or the file ends here.
                return Ok(());
            }
            *left -= read.min(*left);
            if !is_whole && read < MAX_LINE_BYTES && !self.is_skipping {
                // The line is too long for the bytes that this call may still read, but a later call can read
                // it.
                return Ok(());
            }
            self.offset += read;
            self.set_anchor(&line);
            if self.is_skipping || !is_whole {
                self.long_lines += u64::from(!self.is_skipping);
                self.is_skipping = !is_whole;
                continue;
            }
            match context.format.read_line(&String::from_utf8_lossy(&line)) {
                Ok(found) => {
                    for found in found {
                        self.apply_line(found, context.now_ms, count);
                    }
                }
                Err(_) => self.unreadable_lines += 1,
            }
        }
        Ok(())
    }

    fn set_anchor(&mut self, line: &[u8]) {
        let tail = line.get(line.len().saturating_sub(ANCHOR_BYTES)..).unwrap_or_default();
        self.anchor = (FileFingerprint::of(tail).fnv1a, tail.len());
    }

    fn apply_line(&mut self, found: UsageLine, now_ms: u64, count: &mut dyn FnMut(CountedAnswer)) {
        match found {
            UsageLine::Model(model) => self.model = Some(model),
            UsageLine::Total { ts, tokens } => {
                let tokens = token_array(tokens).max_with(self.total);
                if tokens == self.total {
                    return;
                }
                let added = tokens.excess_over(self.total);
                self.total = tokens;
                let model = self.model.clone();
                count(CountedAnswer { model, ts, tokens: added, before: [0; 4], is_new: true });
            }
            UsageLine::Answer { key, model, ts, tokens } => {
                let ts_ms = ts.map(Timestamp::unix_ms);
                if self.replayed_until_ms.is_some_and(|until| ts_ms.is_none_or(|ts| ts <= until)) {
                    return;
                }
                // After the file is replaced, responses up to this time are skipped, so a time in the future would
                // skip new ones.
                self.counted_until_ms = self.counted_until_ms.max(ts_ms.unwrap_or_default().min(now_ms));
                let known = self.recent.iter().position(|(other, _)| *other == key);
                let before = known.and_then(|at| self.recent.remove(at)).map(|(_, before)| before);
                let before_tokens = before.unwrap_or_default();
                let tokens = token_array(tokens).max_with(before_tokens);
                if self.recent.len() >= MAX_RECENT_ANSWERS {
                    self.recent.pop_front();
                }
                self.recent.push_back((key, tokens));
                if before.is_none() || tokens != before_tokens {
                    count(CountedAnswer {
                        model,
                        ts,
                        tokens,
                        before: before_tokens,
                        is_new: before.is_none(),
                    });
                }
            }
        }
    }
}

fn token_array(tokens: TokenCounts) -> [u64; 4] {
    [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write]
}
