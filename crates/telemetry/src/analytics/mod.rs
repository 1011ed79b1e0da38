// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Statistics about hooks, per minute, from the trace of every outcome. Their memory use is bounded.

mod duration_counts;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use tenterhook_api::{HookFailure, HookMinute, HookNumbers, HookSummary};
use tenterhook_event::{Decision, Event, Origin, Outcome, Timestamp, TraceEntry, TraceStatus};

use duration_counts::DurationCounts;
use tenterhook_records::sanitize;

/// Number of minutes that are kept.
pub const KEPT_MINUTES: u64 = 180;
/// Maximum number of hooks with statistics. Programs can register hooks under any number of ids.
const MAX_TRACKED_HOOKS: usize = 256;
const MINUTE_MS: u64 = 60_000;
const MAX_ERROR_CHARS: usize = 500;

/// Statistics about all hooks.
#[derive(Default)]
pub struct Analytics {
    hooks: Mutex<HashMap<String, HookHistory>>,
}

#[derive(Default)]
struct HookHistory {
    all: HookCounts,
    minutes: VecDeque<(u64, HookCounts)>,
    last_call: Option<Timestamp>,
    last_error: Option<HookFailure>,
}

#[derive(Debug, Clone, Default)]
struct HookCounts {
    calls: u64,
    failures: u64,
    timeouts: u64,
    blocks: u64,
    modifications: u64,
    skipped: u64,
    times: DurationCounts,
}

impl Analytics {
    /// Counts every hook that is in the trace of an outcome.
    pub fn count_outcome(&self, event: &Event, outcome: &Outcome) {
        let mut steps = outcome.trace.iter().filter_map(|step| match &step.by {
            Origin::Hook(id) => Some((id.as_ref(), step)),
            _ => None,
        });
        let Some(first) = steps.next() else { return };
        let mut hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, step) in std::iter::once(first).chain(steps) {
            if !hooks.contains_key(id) {
                if hooks.len() >= MAX_TRACKED_HOOKS {
                    continue;
                }
                hooks.insert(id.to_owned(), HookHistory::default());
            }
            let changed = outcome.modifications.iter().any(|modification| modification.by == step.by);
            if let Some(record) = hooks.get_mut(id) {
                record.count_step(event, step, changed);
            }
        }
    }

    /// Summaries of all hooks, with details for each of the last `minutes` minutes.
    pub fn summaries(&self, minutes: u64, now: Timestamp) -> BTreeMap<String, HookSummary> {
        let from = (now.unix_ms() / MINUTE_MS + 1).saturating_sub(minutes.min(KEPT_MINUTES));
        let hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        hooks.iter().map(|(id, record)| (id.clone(), record.summary(from))).collect()
    }
}

impl HookHistory {
    fn count_step(&mut self, event: &Event, step: &TraceEntry, changed: bool) {
        let minute = event.ts.unix_ms() / MINUTE_MS;
        // Events arrive nearly in order. A late event is counted in the latest minute.
        if self.minutes.back().is_none_or(|(last, _)| *last < minute) {
            self.minutes.push_back((minute, HookCounts::default()));
            while self.minutes.front().is_some_and(|(first, _)| first + KEPT_MINUTES <= minute) {
                self.minutes.pop_front();
            }
        }
        self.all.count(step, changed);
        if let Some((_, counts)) = self.minutes.back_mut() {
            counts.count(step, changed);
        }
        self.last_call = Some(event.ts);
        if matches!(step.status, TraceStatus::Failed | TraceStatus::TimedOut) {
            let message = sanitize(step.note.as_deref().unwrap_or("no error message"), MAX_ERROR_CHARS);
            self.last_error = Some(HookFailure { ts: event.ts, id: event.id, message });
        }
    }

    fn summary(&self, from: u64) -> HookSummary {
        let recent = self.minutes.iter().filter(|(minute, _)| *minute >= from);
        let mut sum = HookCounts::default();
        let mut minutes = Vec::new();
        for (minute, counts) in recent {
            sum.add(counts);
            minutes.push(HookMinute {
                ts: Timestamp::from_unix_ms(minute * MINUTE_MS),
                numbers: counts.numbers(),
            });
        }
        HookSummary {
            all: self.all.numbers(),
            recent: sum.numbers(),
            last_call: self.last_call,
            last_error: self.last_error.clone(),
            minutes,
        }
    }
}

impl HookCounts {
    fn count(&mut self, step: &TraceEntry, changed: bool) {
        if step.status == TraceStatus::Skipped {
            self.skipped += 1;
            return;
        }
        self.calls += 1;
        self.failures += u64::from(step.status == TraceStatus::Failed);
        self.timeouts += u64::from(step.status == TraceStatus::TimedOut);
        self.blocks += u64::from(step.decision == Decision::Deny);
        self.modifications += u64::from(changed);
        if step.status != TraceStatus::Detached {
            self.times.observe(step.took_us);
        }
    }

    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.failures += other.failures;
        self.timeouts += other.timeouts;
        self.blocks += other.blocks;
        self.modifications += other.modifications;
        self.skipped += other.skipped;
        self.times.add(&other.times);
    }

    fn numbers(&self) -> HookNumbers {
        let Self { calls, failures, timeouts, blocks, modifications, skipped, ref times } = *self;
        HookNumbers {
            calls,
            failures,
            timeouts,
            blocks,
            modifications,
            skipped,
            p50_us: times.percentile(50),
            p95_us: times.percentile(95),
            p99_us: times.percentile(99),
        }
    }
}

#[cfg(test)]
mod tests;
