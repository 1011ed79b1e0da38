// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How the hooks do: taken from the trace that every outcome has, minute by minute. Nobody waits for it, and
//! it never grows beyond a bound.

mod times;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use tenterhook_api::{HookFailure, HookMinute, HookNumbers, HookSummary};
use tenterhook_event::{Decision, Event, Origin, Outcome, Timestamp, TraceEntry, TraceStatus};

use tenterhook_records::sanitize;
use times::Times;

/// How many minutes are kept.
pub const KEPT_MINUTES: u64 = 180;
/// How many hooks are known; ids of programs could go on for ever.
const MOST: usize = 256;
const MINUTE: u64 = 60_000;
const LONGEST_ERROR: usize = 500;

/// Statistics of all hooks.
#[derive(Default)]
pub struct Analytics {
    hooks: Mutex<HashMap<String, HookRecord>>,
}

#[derive(Default)]
struct HookRecord {
    all: Counts,
    minutes: VecDeque<(u64, Counts)>,
    last_call: Option<Timestamp>,
    last_error: Option<HookFailure>,
}

#[derive(Debug, Clone, Default)]
struct Counts {
    calls: u64,
    failures: u64,
    timeouts: u64,
    blocks: u64,
    modifications: u64,
    skipped: u64,
    times: Times,
}

impl Analytics {
    /// An event was decided.
    pub fn decided(&self, event: &Event, outcome: &Outcome) {
        let mut steps = outcome.trace.iter().filter_map(|step| match &step.by {
            Origin::Hook(id) => Some((id.as_ref(), step)),
            _ => None,
        });
        let Some(first) = steps.next() else { return };
        let mut hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, step) in std::iter::once(first).chain(steps) {
            if !hooks.contains_key(id) {
                if hooks.len() >= MOST {
                    continue;
                }
                hooks.insert(id.to_owned(), HookRecord::default());
            }
            let changed = outcome.modifications.iter().any(|said| said.by == step.by);
            if let Some(record) = hooks.get_mut(id) {
                record.took_part(event, step, changed);
            }
        }
    }

    /// How every hook does, in the last minutes.
    pub fn all(&self, minutes: u64, now: Timestamp) -> BTreeMap<String, HookSummary> {
        let from = (now.unix_ms() / MINUTE + 1).saturating_sub(minutes.min(KEPT_MINUTES));
        let hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        hooks.iter().map(|(id, record)| (id.clone(), record.summary(from))).collect()
    }
}

impl HookRecord {
    fn took_part(&mut self, event: &Event, step: &TraceEntry, changed: bool) {
        let minute = event.ts.unix_ms() / MINUTE;
        // Events come nearly in order; one that is late counts for the latest minute.
        if self.minutes.back().is_none_or(|(last, _)| *last < minute) {
            self.minutes.push_back((minute, Counts::default()));
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
            let message = sanitize(step.note.as_deref().unwrap_or("it did not say why"), LONGEST_ERROR);
            self.last_error = Some(HookFailure { ts: event.ts, id: event.id, message });
        }
    }

    fn summary(&self, from: u64) -> HookSummary {
        let recent = self.minutes.iter().filter(|(minute, _)| *minute >= from);
        let mut sum = Counts::default();
        let mut minutes = Vec::new();
        for (minute, counts) in recent {
            sum.add(counts);
            minutes
                .push(HookMinute { ts: Timestamp::from_unix_ms(minute * MINUTE), numbers: counts.numbers() });
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

impl Counts {
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
            self.times.took(step.took_us);
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
