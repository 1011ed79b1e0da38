// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How long something took, how often.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds, in microseconds: from a fast judgement to a hook that hangs.
pub const BOUNDS: [u64; 14] =
    [25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000, 10_000_000, 60_000_000];

/// How long something took, how often.
#[derive(Default)]
pub struct Histogram {
    /// One more than there are bounds: the last is for what takes longer than all of them.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    sum_us: AtomicU64,
}

/// A histogram at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistogramSnapshot {
    /// How many fell into each bucket, the ones before it not counted.
    pub buckets: Vec<u64>,
    /// How many there were in all.
    pub count: u64,
    /// How long they took together.
    pub sum_us: u64,
}

impl Histogram {
    /// Counts one.
    pub fn observe(&self, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let at = BOUNDS.partition_point(|bound| *bound < us);
        if let Some(bucket) = self.buckets.get(at) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// The counts as they are now.
    pub fn snapshot(&self) -> HistogramSnapshot {
        let buckets: Vec<_> = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect();
        HistogramSnapshot {
            count: buckets.iter().sum(),
            buckets,
            sum_us: self.sum_us.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_its_own_bucket() {
        let histogram = Histogram::default();
        for us in [0, 25, 26, 60_000_000, 60_000_001] {
            histogram.observe(Duration::from_micros(us));
        }
        let snapshot = histogram.snapshot();
        let filled: Vec<_> =
            snapshot.buckets.iter().enumerate().filter(|(_, count)| **count > 0).map(|(at, _)| at).collect();
        assert_eq!((filled, snapshot.count), (vec![0, 1, 13, 14], 5));
        assert_eq!(snapshot.sum_us, 51 + 120_000_001);
    }
}
