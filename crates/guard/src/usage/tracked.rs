// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What is known of one session's usage: totals, and how far each of its transcripts was read.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenterhook_event::{DayUsage, EventKind, Timestamp, TokenCounts, TranscriptUsage};
use tenterhook_policy::{Money, PriceTable};

use super::cursor::{Counted, FileCursor, Reading};
use super::{UsageFound, UsageRequest};

const FORMAT: u32 = 1;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// How many transcripts of subagents a session may have.
const MAX_SUBAGENT_FILES: usize = 1000;
/// How long after its first tool call a session may be without a transcript: clients write a moment later.
const TRANSCRIPT_DELAY_MS: u64 = 2000;

/// What is known of one session's usage.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TrackedUsage {
    v: u32,
    /// The session, so that two with the same hash do not share a file.
    of: String,
    totals: Totals,
    files: BTreeMap<PathBuf, FileCursor>,
    /// Files of the subagents' directory, and when it was last changed.
    subagents: Option<Subagents>,
    /// When the transcript was first looked for and was not there. Older answers in it are copies from another session.
    born_ms: Option<u64>,
    /// When a tool was first called while there was no transcript.
    first_call_ms: Option<u64>,
    /// Rises when the totals change.
    version: u64,
    /// The version that is recorded with a call.
    settled: u64,
    #[serde(skip)]
    is_unsaved: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Subagents {
    changed_ns: i128,
    paths: Vec<PathBuf>,
}

/// One look at the transcripts of a session.
pub(super) struct ReadPass<'a> {
    pub(super) request: &'a UsageRequest,
    /// The account that the files must belong to.
    pub(super) owner: u32,
    pub(super) prices: &'a dyn Fn() -> &'a PriceTable,
    /// How many bytes may still be read.
    pub(super) left: u64,
    /// Whether there is more to read.
    pub(super) is_behind: bool,
}

/// Sums over all answers.
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
        Self { v: FORMAT, of: key.to_owned(), ..Self::default() }
    }

    pub(super) fn is_of(&self, key: &str) -> bool {
        self.v == FORMAT && self.of == key
    }

    pub(super) fn is_unsaved(&self) -> bool {
        self.is_unsaved
    }

    pub(super) fn mark_saved(&mut self) {
        self.is_unsaved = false;
    }

    pub(super) fn settle(&mut self, version: u64) {
        if version > self.settled {
            self.settled = version;
            self.is_unsaved = true;
        }
    }

    /// The totals, where a call has to know them.
    pub(super) fn found(&self, session: &str, unknown: Option<String>, is_behind: bool) -> UsageFound {
        let is_news = self.version > self.settled;
        if !is_news && unknown.is_none() {
            return UsageFound { is_behind, ..UsageFound::default() };
        }
        let usage = Some(TranscriptUsage { unknown, ..self.totals.usage() });
        let settles = is_news.then(|| (session.to_owned(), self.version));
        UsageFound { usage, is_behind, settles }
    }

    /// Reads what is new, and says why the totals are not complete.
    pub(super) fn read(&mut self, path: &Path, pass: &mut ReadPass<'_>) -> Option<String> {
        let request = pass.request;
        let mut unknown = match std::fs::symlink_metadata(path) {
            Ok(found) => {
                self.first_call_ms = None;
                self.read_file(path, &found, true, pass)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.missing(path, request.kind, request.ts.unix_ms())
            }
            Err(error) => Some(format!("`{}`: {error}", path.display())),
        };
        // Other transcripts of the session: its subagents go on while this one is named, or have just ended.
        let mut others = self.subagent_files((request.format.subagents)(path).as_deref(), &mut unknown);
        others.extend(self.files.keys().filter(|known| !others.contains(known)).cloned().collect::<Vec<_>>());
        for other in others.iter().filter(|other| *other != path) {
            // One that is gone has counted, and is named again when its agent goes on.
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
        let (totals, born_ms, prices) = (&mut self.totals, self.born_ms, pass.prices);
        let now_ms = pass.request.ts.unix_ms();
        let reading = Reading { format: &pass.request.format, now_ms, found };
        let mut has_counted = false;
        let read = file.read(path, pass.owner, reading, &mut pass.left, &mut |counted| {
            if counted.ts.is_none_or(|ts| born_ms.is_none_or(|born| ts.unix_ms() >= born)) {
                totals.count(&counted, is_main, now_ms, prices());
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

    /// There is no transcript: not yet, or not any more.
    fn missing(&mut self, path: &Path, kind: EventKind, now_ms: u64) -> Option<String> {
        if self.files.contains_key(path) {
            return Some(format!("`{}` was removed", path.display()));
        }
        if self.born_ms.is_none() {
            self.born_ms = Some(now_ms);
            self.is_unsaved = true;
        }
        // The first tool call comes before the client has written the answer that asked for it.
        let has_called = matches!(kind, EventKind::PreTool | EventKind::PostTool | EventKind::ToolError);
        if self.first_call_ms.is_none() && has_called {
            self.first_call_ms = Some(now_ms);
            self.is_unsaved = true;
        }
        let is_late =
            self.first_call_ms.is_some_and(|first| now_ms.saturating_sub(first) >= TRANSCRIPT_DELAY_MS);
        is_late.then(|| format!("the client has not written `{}`", path.display()))
    }

    /// The transcripts of the session's subagents. The directory is listed again when it has changed.
    fn subagent_files(&mut self, dir: Option<&Path>, unknown: &mut Option<String>) -> Vec<PathBuf> {
        let Some(dir) = dir else { return Vec::new() };
        let found = std::fs::symlink_metadata(dir).ok().filter(Metadata::is_dir);
        let Some(found) = found else {
            return self.subagents.as_ref().map(|known| known.paths.clone()).unwrap_or_default();
        };
        let changed_ns = super::cursor::changed_ns(&found);
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
    /// Adds an answer, or what an answer has more than was counted of it before.
    fn count(&mut self, counted: &Counted, is_main: bool, now_ms: u64, prices: &PriceTable) {
        let added = counted.tokens.beyond(counted.before);
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

/// Number by number.
pub(super) trait Beyond {
    /// What this has more than another.
    fn beyond(self, other: Self) -> Self;
    /// The greater of both.
    fn raised_to(self, other: Self) -> Self;
}

impl Beyond for [u64; 4] {
    fn beyond(mut self, other: Self) -> Self {
        self.iter_mut().zip(other).for_each(|(own, other)| *own = own.saturating_sub(other));
        self
    }

    fn raised_to(mut self, other: Self) -> Self {
        self.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(other));
        self
    }
}
