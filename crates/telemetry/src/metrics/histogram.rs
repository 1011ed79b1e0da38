// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Histograms of durations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets, in microseconds: from a fast evaluation to a hook that hangs.
pub const BUCKET_BOUNDS_US: [u64; 14] =
    [25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000, 10_000_000, 60_000_000];

/// A histogram of durations.
#[derive(Default)]
pub struct Histogram {
    /// One bucket for each bound, and one for longer durations.
    buckets: [AtomicU64; BUCKET_BOUNDS_US.len() + 1],
    sum_us: AtomicU64,
}

/// The counts of a histogram at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistogramSnapshot {
    /// Count of each bucket. The counts are not cumulative.
    pub buckets: Vec<u64>,
    /// Total number of durations.
    pub count: u64,
    /// Sum of all durations, in microseconds.
    pub sum_us: u64,
}

impl Histogram {
    /// Counts one duration.
    pub fn observe(&self, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let at = BUCKET_BOUNDS_US.partition_point(|bound| *bound < us);
        if let Some(bucket) = self.buckets.get(at) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// The current counts.
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
