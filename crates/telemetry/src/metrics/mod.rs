// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Counters and times of decisions, and the page on which Prometheus reads them.

mod exposition;
mod histogram;
mod minutes;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tenterhook_event::{Decision, Event, EventKind};
use tenterhook_harness::HARNESSES;

pub use exposition::{DaemonReadings, OPEN_METRICS_MEDIA_TYPE, render};
pub use histogram::{BOUNDS, Histogram, HistogramSnapshot};
pub use minutes::{MinuteCounts, Minutes};

/// Every decision, in the order of their strictness.
const DECISIONS: [Decision; 5] =
    [Decision::None, Decision::Allow, Decision::Defer, Decision::Ask, Decision::Deny];

/// What a harness is called that is in no table: names that callers choose would never end.
const OTHER: &str = "other";

/// Everything that is counted. Nobody ever waits for it.
pub struct Metrics {
    /// One number for each harness, kind of event and decision.
    decisions: Vec<AtomicU64>,
    /// From the door to the fold.
    pub deciding: Histogram,
    /// From the fold to the disk.
    pub recording: Histogram,
    /// The last hour.
    pub minutes: Minutes,
    taken_in: AtomicU64,
    refused: AtomicU64,
}

impl Default for Metrics {
    fn default() -> Self {
        let numbers = (HARNESSES.len() + 1) * EventKind::ALL.len() * DECISIONS.len();
        Self {
            decisions: (0..numbers).map(|_| AtomicU64::new(0)).collect(),
            deciding: Histogram::default(),
            recording: Histogram::default(),
            minutes: Minutes::default(),
            taken_in: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }
}

impl Metrics {
    /// One event was decided and recorded.
    pub fn decided(&self, event: &Event, decision: Decision, deciding: Duration, recording: Duration) {
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

    /// A decision that a hook made by itself came in.
    pub fn taken_in(&self) {
        self.taken_in.fetch_add(1, Ordering::Relaxed);
    }

    /// A payload that nobody could read was refused.
    pub fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// How often hooks decided by themselves, and how often a payload could not be read.
    pub fn odd(&self) -> (u64, u64) {
        (self.taken_in.load(Ordering::Relaxed), self.refused.load(Ordering::Relaxed))
    }

    /// Every count that is not zero: harness, kind, decision.
    pub fn decisions(&self) -> Vec<(&'static str, EventKind, Decision, u64)> {
        let mut counts = Vec::new();
        let harnesses = HARNESSES.iter().map(|row| row.id).chain([OTHER]);
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
        metrics.decided(&event("claude-code", EventKind::PreTool), Decision::Deny, short, long);
        metrics.decided(&event("claude-code", EventKind::PreTool), Decision::Deny, short, long);
        metrics.decided(&event("made-up", EventKind::Other), Decision::None, short, long);
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
