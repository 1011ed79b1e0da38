// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Counters and durations of decisions, and the page for Prometheus.

mod exposition;
mod histogram;
mod minutes;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tenterhook_event::{Decision, Event, EventKind};
use tenterhook_harness::HARNESSES;

pub use exposition::{DaemonReadings, OPEN_METRICS_MEDIA_TYPE, render};
pub use histogram::{BUCKET_BOUNDS_US, Histogram, HistogramSnapshot};
pub use minutes::{MinuteCounts, Minutes};

/// All decisions, from weakest to strictest.
const DECISIONS: [Decision; 5] =
    [Decision::None, Decision::Allow, Decision::Defer, Decision::Ask, Decision::Deny];

/// Label for unknown harnesses. Their own names are not used, because callers could choose any number of names.
const OTHER_HARNESS: &str = "other";

/// All counters of a daemon. Counting takes no lock.
pub struct Metrics {
    /// One counter for each harness, kind of event and decision.
    decisions: Vec<AtomicU64>,
    /// Time from the arrival of a call to its decision.
    pub deciding: Histogram,
    /// Time from the decision until its record is on disk.
    pub recording: Histogram,
    /// Decisions of the last hour, per minute.
    pub minutes: Minutes,
    fallbacks: AtomicU64,
    refusals: AtomicU64,
}

impl Default for Metrics {
    fn default() -> Self {
        let numbers = (HARNESSES.len() + 1) * EventKind::ALL.len() * DECISIONS.len();
        Self {
            decisions: (0..numbers).map(|_| AtomicU64::new(0)).collect(),
            deciding: Histogram::default(),
            recording: Histogram::default(),
            minutes: Minutes::default(),
            fallbacks: AtomicU64::new(0),
            refusals: AtomicU64::new(0),
        }
    }
}

impl Metrics {
    /// Counts a decided and recorded event.
    pub fn count_decision(&self, event: &Event, decision: Decision, deciding: Duration, recording: Duration) {
        let harness = HARNESSES.iter().position(|row| row.id == event.source).unwrap_or(HARNESSES.len());
        let kind = EventKind::ALL.iter().position(|kind| *kind == event.event).unwrap_or_default();
        let decision = DECISIONS.iter().position(|one| *one == decision).unwrap_or_default();
        let at = (harness * EventKind::ALL.len() + kind) * DECISIONS.len() + decision;
        if let Some(number) = self.decisions.get(at) {
            number.fetch_add(1, Ordering::Relaxed);
        }
        self.deciding.observe(deciding);
        self.recording.observe(recording);
    }

    /// Counts a decision that a hook made in-process and that was imported later.
    pub fn count_fallback(&self) {
        self.fallbacks.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an unreadable payload.
    pub fn count_refusal(&self) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of decisions that hooks made in-process.
    pub fn fallbacks(&self) -> u64 {
        self.fallbacks.load(Ordering::Relaxed)
    }

    /// Number of unreadable payloads.
    pub fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }

    /// All counts that are not zero, by harness, kind and decision.
    pub fn decisions(&self) -> Vec<(&'static str, EventKind, Decision, u64)> {
        let mut counts = Vec::new();
        let harnesses = HARNESSES.iter().map(|row| row.id).chain([OTHER_HARNESS]);
        let mut numbers = self.decisions.iter();
        for harness in harnesses {
            for kind in EventKind::ALL {
                for (decision, number) in DECISIONS.into_iter().zip(numbers.by_ref().take(DECISIONS.len())) {
                    let count = number.load(Ordering::Relaxed);
                    if count > 0 {
                        counts.push((harness, *kind, decision, count));
                    }
                }
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use tenterhook_event::{EventId, Timestamp};

    use super::*;

    #[test]
    fn decisions_are_counted_where_they_belong() {
        let metrics = Metrics::default();
        let event = |source: &str, kind| {
            Event::new(EventId::from_parts(0, 1), Timestamp::from_unix_ms(0), source, kind, "x")
        };
        let (short, long) = (Duration::from_micros(40), Duration::from_millis(3));
        metrics.count_decision(&event("claude-code", EventKind::PreTool), Decision::Deny, short, long);
        metrics.count_decision(&event("claude-code", EventKind::PreTool), Decision::Deny, short, long);
        metrics.count_decision(&event("made-up", EventKind::Other), Decision::None, short, long);
        assert_eq!(
            metrics.decisions(),
            [
                ("claude-code", EventKind::PreTool, Decision::Deny, 2),
                ("other", EventKind::Other, Decision::None, 1)
            ]
        );
        assert_eq!(metrics.recording.snapshot().count, 3);
    }
}
