// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The last hour, minute by minute.

use std::sync::atomic::{AtomicU64, Ordering};

use tenterhook_event::Decision;

use super::{BOUNDS, DECISIONS};

/// How many minutes are kept.
pub(crate) const KEPT: u64 = 60;

/// What was decided in each of the last minutes, and how fast. Nobody ever waits for it; whoever comes in
/// the moment a minute begins may be counted in neither.
pub struct Minutes(Vec<MinuteSlot>);

#[derive(Default)]
struct MinuteSlot {
    minute: AtomicU64,
    decisions: [AtomicU64; DECISIONS.len()],
    buckets: [AtomicU64; BOUNDS.len() + 1],
}

/// One minute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinuteCounts {
    /// Minutes since 1970.
    pub number: u64,
    /// How many of each decision.
    pub decisions: Vec<(Decision, u64)>,
    /// Below which time half, 95 % and 99 % of them were decided, in microseconds.
    pub shares: [u64; 3],
}

impl Default for Minutes {
    fn default() -> Self {
        Self((0..KEPT).map(|_| MinuteSlot::default()).collect())
    }
}

impl Minutes {
    /// An event was decided.
    pub fn decided(&self, decision: Decision, took_us: u64, now_ms: u64) {
        self.count(decision, Some(took_us), now_ms);
    }

    /// A call that nobody could read was denied; there is nothing to say about how fast.
    pub fn refused(&self, now_ms: u64) {
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
        let bucket = took_us.map(|took_us| BOUNDS.partition_point(|bound| *bound < took_us));
        let bucket = bucket.and_then(|bucket| slot.buckets.get(bucket));
        for number in [slot.decisions.get(decision), bucket].into_iter().flatten() {
            number.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The last minutes in which something was decided, oldest first.
    pub fn last(&self, now_ms: u64) -> Vec<MinuteCounts> {
        let now = now_ms / 60_000;
        let wanted = now.saturating_sub(KEPT - 1)..=now;
        wanted.filter_map(|minute| self.slot(minute)?.read(minute)).collect()
    }

    fn slot(&self, minute: u64) -> Option<&MinuteSlot> {
        self.0.get(usize::try_from(minute % KEPT).ok()?)
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
            shares: [50, 95, 99].map(|share| percentile(&buckets, share)),
        })
    }
}

/// Below which time so many of a hundred lie, as near as the buckets tell.
fn percentile(buckets: &[u64], share: u64) -> u64 {
    let all: u64 = buckets.iter().sum();
    let mut left = (all * share).div_ceil(100);
    let mut from = 0;
    for (count, bound) in buckets.iter().zip(BOUNDS) {
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
        minutes.decided(Decision::Deny, 40, 100 * MINUTE);
        minutes.decided(Decision::None, 40, 100 * MINUTE + 59_999);
        minutes.decided(Decision::None, 400, 101 * MINUTE);
        minutes.refused(101 * MINUTE);
        let last = minutes.last(101 * MINUTE);
        let counts: Vec<_> = last
            .iter()
            .map(|one| (one.number, one.decisions.iter().map(|(_, count)| *count).collect::<Vec<_>>()))
            .collect();
        assert_eq!(counts, [(100, vec![1, 0, 0, 0, 1]), (101, vec![1, 0, 0, 0, 1])]);
    }

    #[test]
    fn an_hour_later_a_minute_is_forgotten() {
        let minutes = Minutes::default();
        minutes.decided(Decision::None, 40, 100 * MINUTE);
        assert_eq!(minutes.last((100 + KEPT - 1) * MINUTE).len(), 1);
        assert!(minutes.last((100 + KEPT) * MINUTE).is_empty());
        minutes.decided(Decision::None, 40, (100 + KEPT) * MINUTE);
        assert_eq!(minutes.last((100 + KEPT) * MINUTE)[0].decisions[0].1, 1, "the slot begins anew");
    }

    #[test]
    fn times_lie_where_the_buckets_say() {
        let minutes = Minutes::default();
        for us in 1..=100 {
            minutes.decided(Decision::None, us, 0);
        }
        minutes.decided(Decision::None, 90_000_000, MINUTE);
        let last = minutes.last(MINUTE);
        assert_eq!(last[0].shares, [50, 95, 99]);
        assert_eq!(last[1].shares, [60_000_000; 3], "longer than all bounds");
        assert_eq!(percentile(&[0; BOUNDS.len() + 1], 50), 0);
    }
}
