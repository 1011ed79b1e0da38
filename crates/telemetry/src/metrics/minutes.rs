// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decisions of the last hour, per minute.

use std::sync::atomic::{AtomicU64, Ordering};

use tenterhook_event::Decision;

use super::{BUCKET_BOUNDS_US, DECISIONS};

/// Number of minutes that are kept.
pub(crate) const MINUTES_PER_HOUR: u64 = 60;

/// Decisions and their durations in each of the last 60 minutes. A slot is reused after an hour. Counting
/// takes no lock, so a decision at the start of a minute may be lost while the slot is cleared.
pub struct Minutes(Vec<MinuteSlot>);

#[derive(Default)]
struct MinuteSlot {
    minute: AtomicU64,
    decisions: [AtomicU64; DECISIONS.len()],
    buckets: [AtomicU64; BUCKET_BOUNDS_US.len() + 1],
}

/// Counts of one minute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinuteCounts {
    /// Minutes since the Unix epoch.
    pub number: u64,
    /// Count of each decision.
    pub decisions: Vec<(Decision, u64)>,
    /// The percentiles p50, p95 and p99 of the duration, in microseconds.
    pub percentiles_us: [u64; 3],
}

impl Default for Minutes {
    fn default() -> Self {
        Self((0..MINUTES_PER_HOUR).map(|_| MinuteSlot::default()).collect())
    }
}

impl Minutes {
    /// Counts a decision.
    pub fn count_decision(&self, decision: Decision, took_us: u64, now_ms: u64) {
        self.count(decision, Some(took_us), now_ms);
    }

    /// Counts an unreadable call, which is denied. It has no duration.
    pub fn count_refusal(&self, now_ms: u64) {
        self.count(Decision::Deny, None, now_ms);
    }

    fn count(&self, decision: Decision, took_us: Option<u64>, now_ms: u64) {
        let minute = now_ms / 60_000;
        let Some(slot) = self.slot(minute) else { return };
        let found = slot.minute.load(Ordering::Relaxed);
        if found != minute
            && slot.minute.compare_exchange(found, minute, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            for number in slot.decisions.iter().chain(&slot.buckets) {
                number.store(0, Ordering::Relaxed);
            }
        }
        let decision = DECISIONS.iter().position(|one| *one == decision).unwrap_or_default();
        let bucket = took_us.map(|took_us| BUCKET_BOUNDS_US.partition_point(|bound| *bound < took_us));
        let bucket = bucket.and_then(|bucket| slot.buckets.get(bucket));
        for number in [slot.decisions.get(decision), bucket].into_iter().flatten() {
            number.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The minutes of the last hour that have decisions, oldest first.
    pub fn last_minutes(&self, now_ms: u64) -> Vec<MinuteCounts> {
        let now = now_ms / 60_000;
        let wanted = now.saturating_sub(MINUTES_PER_HOUR - 1)..=now;
        wanted.filter_map(|minute| self.slot(minute)?.read(minute)).collect()
    }

    fn slot(&self, minute: u64) -> Option<&MinuteSlot> {
        self.0.get(usize::try_from(minute % MINUTES_PER_HOUR).ok()?)
    }
}

impl MinuteSlot {
    fn read(&self, minute: u64) -> Option<MinuteCounts> {
        (self.minute.load(Ordering::Relaxed) == minute).then_some(())?;
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let decisions = DECISIONS.into_iter().zip(self.decisions.iter().map(load)).collect();
        let buckets: Vec<_> = self.buckets.iter().map(load).collect();
        Some(MinuteCounts {
            number: minute,
            decisions,
            percentiles_us: [50, 95, 99].map(|percent| percentile(&buckets, percent)),
        })
    }
}

/// The duration that `percent` of all calls did not exceed, interpolated within a bucket.
fn percentile(buckets: &[u64], percent: u64) -> u64 {
    let all: u64 = buckets.iter().sum();
    let mut left = (all * percent).div_ceil(100);
    let mut from = 0;
    for (count, bound) in buckets.iter().zip(BUCKET_BOUNDS_US) {
        if left <= *count {
            return if *count == 0 { from } else { from + (bound - from) * left / count };
        }
        left -= count;
        from = bound;
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000;

    #[test]
    fn decisions_are_counted_in_their_minute() {
        let minutes = Minutes::default();
        minutes.count_decision(Decision::Deny, 40, 100 * MINUTE);
        minutes.count_decision(Decision::None, 40, 100 * MINUTE + 59_999);
        minutes.count_decision(Decision::None, 400, 101 * MINUTE);
        minutes.count_refusal(101 * MINUTE);
        let last = minutes.last_minutes(101 * MINUTE);
        let counts: Vec<_> = last
            .iter()
            .map(|one| (one.number, one.decisions.iter().map(|(_, count)| *count).collect::<Vec<_>>()))
            .collect();
        assert_eq!(counts, [(100, vec![1, 0, 0, 0, 1]), (101, vec![1, 0, 0, 0, 1])]);
    }

    #[test]
    fn an_hour_later_a_minute_is_forgotten() {
        let minutes = Minutes::default();
        minutes.count_decision(Decision::None, 40, 100 * MINUTE);
        assert_eq!(minutes.last_minutes((100 + MINUTES_PER_HOUR - 1) * MINUTE).len(), 1);
        assert!(minutes.last_minutes((100 + MINUTES_PER_HOUR) * MINUTE).is_empty());
        minutes.count_decision(Decision::None, 40, (100 + MINUTES_PER_HOUR) * MINUTE);
        assert_eq!(
            minutes.last_minutes((100 + MINUTES_PER_HOUR) * MINUTE)[0].decisions[0].1,
            1,
            "the slot is reset"
        );
    }

    #[test]
    fn times_lie_where_the_buckets_say() {
        let minutes = Minutes::default();
        for us in 1..=100 {
            minutes.count_decision(Decision::None, us, 0);
        }
        minutes.count_decision(Decision::None, 90_000_000, MINUTE);
        let last = minutes.last_minutes(MINUTE);
        assert_eq!(last[0].percentiles_us, [50, 95, 99]);
        assert_eq!(last[1].percentiles_us, [60_000_000; 3], "longer than all bounds");
        assert_eq!(percentile(&[0; BUCKET_BOUNDS_US.len() + 1], 50), 0);
    }
}
