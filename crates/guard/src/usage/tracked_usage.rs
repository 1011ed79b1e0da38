// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Usage of one session: its totals, and the position in each of its transcripts.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenterhook_event::{DayUsage, EventKind, Timestamp, TokenCounts, TranscriptUsage};
use tenterhook_policy::{Money, PriceTable};

use super::file_cursor::{CountedAnswer, FileCursor, ReadContext};
use super::{UsageRequest, UsageUpdate};

const USAGE_FILE_FORMAT: u32 = 1;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// Maximum number of subagent transcripts per session.
const MAX_SUBAGENT_FILES: usize = 1000;
/// How long a session may lack a transcript after its first tool call. Clients write transcripts with a delay.
const TRANSCRIPT_DELAY_MS: u64 = 2000;

/// Usage of one session.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TrackedUsage {
    v: u32,
    /// Key of the session, so that two sessions with the same hash do not share a file.
    of: String,
    totals: Totals,
    files: BTreeMap<PathBuf, FileCursor>,
    /// Files in the subagents' directory, and when the directory last changed.
    subagents: Option<Subagents>,
    /// When the transcript was first missing. Older responses in it are copies from another session.
    #[serde(rename = "born_ms")]
    created_ms: Option<u64>,
    /// When a tool was first called without a transcript.
    first_call_ms: Option<u64>,
    /// Incremented when the totals change.
    version: u64,
    /// Version of the totals that was last recorded with a call.
    settled: u64,
    #[serde(skip)]
    is_unsaved: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Subagents {
    changed_ns: i128,
    paths: Vec<PathBuf>,
}

/// One read of a session's transcripts.
pub(super) struct ReadPass<'a> {
    pub(super) request: &'a UsageRequest,
    /// The account that must own the files.
    pub(super) owner: u32,
    pub(super) prices: &'a dyn Fn() -> &'a PriceTable,
    /// Number of bytes that may still be read in this pass.
    pub(super) left: u64,
    /// Whether there is more to read.
    pub(super) is_behind: bool,
}

/// Sums over all responses.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Totals {
    tokens: [u64; 4],
    answers: u64,
    context_tokens: Option<u64>,
    cost: Money,
    unpriced_answers: u64,
    unpriced_tokens: u64,
    day: u64,
    day_tokens: u64,
    day_cost: Money,
    day_unpriced_tokens: u64,
}

impl TrackedUsage {
    pub(super) fn new(key: &str) -> Self {
        Self { v: USAGE_FILE_FORMAT, of: key.to_owned(), ..Self::default() }
    }

    pub(super) fn is_of(&self, key: &str) -> bool {
        self.v == USAGE_FILE_FORMAT && self.of == key
    }

    pub(super) fn is_unsaved(&self) -> bool {
        self.is_unsaved
    }

    pub(super) fn mark_saved(&mut self) {
        self.is_unsaved = false;
    }

    pub(super) fn mark_recorded(&mut self, version: u64) {
        if version > self.settled {
            self.settled = version;
            self.is_unsaved = true;
        }
    }

    /// Returns the totals, if a call has not reported them before or they are incomplete.
    pub(super) fn update(&self, session: &str, unknown: Option<String>, is_behind: bool) -> UsageUpdate {
        let is_news = self.version > self.settled;
        if !is_news && unknown.is_none() {
            return UsageUpdate { is_behind, ..UsageUpdate::default() };
        }
        let usage = Some(TranscriptUsage { unknown, ..self.totals.usage() });
        let unrecorded = is_news.then(|| (session.to_owned(), self.version));
        UsageUpdate { usage, is_behind, unrecorded }
    }

    /// Reads new lines. Returns why the totals are incomplete, if they are.
    pub(super) fn read(&mut self, path: &Path, pass: &mut ReadPass<'_>) -> Option<String> {
        let request = pass.request;
        let mut unknown = match std::fs::symlink_metadata(path) {
            Ok(found) => {
                self.first_call_ms = None;
                self.read_file(path, &found, true, pass)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.note_missing(path, request.kind, request.ts.unix_ms())
            }
            Err(error) => Some(format!("`{}`: {error}", path.display())),
        };
        // The session's subagents have their own transcripts; they may still be running or have just ended.
        let mut others = self.subagent_files((request.format.subagents)(path).as_deref(), &mut unknown);
        others.extend(self.files.keys().filter(|known| !others.contains(known)).cloned().collect::<Vec<_>>());
        for other in others.iter().filter(|other| *other != path) {
            // A removed transcript stays counted. It is listed again if its agent continues.
            if let Ok(found) = std::fs::symlink_metadata(other) {
                let why = self.read_file(other, &found, false, pass);
                unknown = unknown.or(why);
            }
        }
        let behind = || "the transcript is still being read; try again".to_owned();
        unknown.or_else(|| pass.is_behind.then(behind))
    }

    fn read_file(
        &mut self,
        path: &Path,
        found: &Metadata,
        is_main: bool,
        pass: &mut ReadPass<'_>,
    ) -> Option<String> {
        if !self.files.contains_key(path) {
            self.files.insert(path.to_owned(), FileCursor::default());
        }
        let file = self.files.get_mut(path)?;
        let (totals, created_ms, prices) = (&mut self.totals, self.created_ms, pass.prices);
        let now_ms = pass.request.ts.unix_ms();
        let context = ReadContext { format: &pass.request.format, now_ms, found };
        let mut has_counted = false;
        let read = file.read(path, pass.owner, context, &mut pass.left, &mut |counted| {
            if counted.ts.is_none_or(|ts| created_ms.is_none_or(|born| ts.unix_ms() >= born)) {
                totals.add_answer(&counted, is_main, now_ms, prices());
                has_counted = true;
            }
        });
        pass.is_behind |= file.is_behind();
        self.version += u64::from(has_counted);
        self.is_unsaved |= has_counted || matches!(read, Ok(true));
        match read {
            Err(error) => Some(error.to_string()),
            Ok(_) => file.problem().map(|why| format!("`{}` {why}", path.display())),
        }
    }

    /// Records that the transcript does not exist yet or no longer exists.
    fn note_missing(&mut self, path: &Path, kind: EventKind, now_ms: u64) -> Option<String> {
        if self.files.contains_key(path) {
            return Some(format!("`{}` was removed", path.display()));
        }
        if self.created_ms.is_none() {
            self.created_ms = Some(now_ms);
            self.is_unsaved = true;
        }
        // The first tool call happens before the client has written the response that requested it.
        let has_called = matches!(kind, EventKind::PreTool | EventKind::PostTool | EventKind::ToolError);
        if self.first_call_ms.is_none() && has_called {
            self.first_call_ms = Some(now_ms);
            self.is_unsaved = true;
        }
        let is_late =
            self.first_call_ms.is_some_and(|first| now_ms.saturating_sub(first) >= TRANSCRIPT_DELAY_MS);
        is_late.then(|| format!("the client has not written `{}`", path.display()))
    }

    /// Returns the transcripts of the session's subagents. The directory is listed again after a change.
    fn subagent_files(&mut self, dir: Option<&Path>, unknown: &mut Option<String>) -> Vec<PathBuf> {
        let Some(dir) = dir else { return Vec::new() };
        let found = std::fs::symlink_metadata(dir).ok().filter(Metadata::is_dir);
        let Some(found) = found else {
            return self.subagents.as_ref().map(|known| known.paths.clone()).unwrap_or_default();
        };
        let changed_ns = super::file_cursor::changed_ns(&found);
        if self.subagents.as_ref().is_none_or(|known| known.changed_ns != changed_ns) {
            let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
            let is_transcript =
                |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
            let mut paths: Vec<_> = entries.map(|entry| entry.path()).filter(is_transcript).collect();
            paths.sort_unstable();
            self.subagents = Some(Subagents { changed_ns, paths });
            self.is_unsaved = true;
        }
        let mut paths = self.subagents.as_ref().map(|known| known.paths.clone()).unwrap_or_default();
        if paths.len() > MAX_SUBAGENT_FILES {
            paths.truncate(MAX_SUBAGENT_FILES);
            *unknown = Some(format!("`{}` has more than {MAX_SUBAGENT_FILES} transcripts", dir.display()));
        }
        paths
    }
}

impl Totals {
    /// Adds a response, or the part of it that was not counted before.
    fn add_answer(&mut self, counted: &CountedAnswer, is_main: bool, now_ms: u64, prices: &PriceTable) {
        let added = counted.tokens.excess_over(counted.before);
        for (sum, more) in self.tokens.iter_mut().zip(added) {
            *sum = sum.saturating_add(more);
        }
        self.answers = self.answers.saturating_add(u64::from(counted.is_new));
        let (all, before) = (tokens_of(counted.tokens), tokens_of(counted.before));
        if is_main {
            self.context_tokens = Some(all.prompt());
        }
        let cost =
            |tokens: &TokenCounts| counted.model.as_deref().and_then(|model| prices.cost(model, tokens));
        let added_tokens = added.into_iter().fold(0, u64::saturating_add);
        let (cost, unpriced) = match cost(&all) {
            Some(now) => (now.saturating_sub(cost(&before).unwrap_or_default()), 0),
            None => (Money::default(), added_tokens),
        };
        self.cost = self.cost.saturating_add(cost);
        self.unpriced_tokens = self.unpriced_tokens.saturating_add(unpriced);
        self.unpriced_answers =
            self.unpriced_answers.saturating_add(u64::from(counted.is_new && unpriced > 0));
        let today = now_ms / DAY_MS;
        if self.day < today {
            (self.day, self.day_tokens, self.day_unpriced_tokens) = (today, 0, 0);
            self.day_cost = Money::default();
        }
        let is_today = counted.ts.is_none_or(|ts: Timestamp| ts.unix_ms() / DAY_MS >= today);
        if is_today {
            self.day_tokens = self.day_tokens.saturating_add(added_tokens);
            self.day_cost = self.day_cost.saturating_add(cost);
            self.day_unpriced_tokens = self.day_unpriced_tokens.saturating_add(unpriced);
        }
    }

    fn usage(&self) -> TranscriptUsage {
        let TokenCounts { input, output, cache_read, cache_write } = tokens_of(self.tokens);
        let today = DayUsage {
            day: self.day,
            tokens: self.day_tokens,
            cost_microusd: self.day_cost.as_microusd(),
            unpriced_tokens: self.day_unpriced_tokens,
        };
        TranscriptUsage {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: cache_read,
            cache_write_tokens: cache_write,
            answers: self.answers,
            context_tokens: self.context_tokens,
            cost_microusd: self.cost.as_microusd(),
            unpriced_answers: self.unpriced_answers,
            unpriced_tokens: self.unpriced_tokens,
            today: (today.tokens > 0).then_some(today),
            unknown: None,
        }
    }
}

fn tokens_of([input, output, cache_read, cache_write]: [u64; 4]) -> TokenCounts {
    TokenCounts { input, output, cache_read, cache_write }
}

/// Arithmetic on the four token counts of an answer.
pub(super) trait TokenCountOps {
    /// Returns the part of each count that exceeds the other's.
    fn excess_over(self, other: Self) -> Self;
    /// Returns the greater value of each count.
    fn max_with(self, other: Self) -> Self;
}

impl TokenCountOps for [u64; 4] {
    fn excess_over(mut self, other: Self) -> Self {
        self.iter_mut().zip(other).for_each(|(own, other)| *own = own.saturating_sub(other));
        self
    }

    fn max_with(mut self, other: Self) -> Self {
        self.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(other));
        self
    }
}
