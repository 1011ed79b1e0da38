// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Counts decisions per minute and measures their durations.

use std::collections::{BTreeMap, BTreeSet};

use tenterhook_event::Decision;

use crate::parse::DecisionRow;

/// Maximum number of minutes kept.
const MAX_MINUTES: u64 = 240;
/// Maximum number of records that are remembered as counted. Older records are not counted.
const MAX_COUNTED: usize = 20_000;
/// Number of histogram bins per doubling of the duration.
const BINS_PER_DOUBLING: u64 = 4;

/// Ranges of minutes that charts show.
const SHOWN_MINUTES: [usize; 4] = [15, 30, 60, 120];
const MAX_SHOWN_MINUTES: usize = 240;

/// Decision statistics by minute.
#[derive(Debug, Clone, Default)]
pub(crate) struct DecisionStats {
    minutes: BTreeMap<u64, MinuteStats>,
    /// Numbers of the latest counted records.
    counted: BTreeSet<u64>,
}

/// Statistics of one minute, or the sum of several minutes.
#[derive(Debug, Clone, Default)]
pub(crate) struct MinuteStats {
    pub(crate) decided: u64,
    pub(crate) denied: u64,
    pub(crate) asked: u64,
    pub(crate) harnesses: BTreeMap<String, u64>,
    pub(crate) rules: BTreeMap<String, u64>,
    /// Number of decisions by [`histogram_bin`] of their duration.
    durations: BTreeMap<u64, u64>,
}

impl DecisionStats {
    /// Counts a decision, once.
    pub(crate) fn add(&mut self, line: &DecisionRow) {
        let is_forgotten =
            self.counted.len() >= MAX_COUNTED && self.counted.first().is_some_and(|first| line.seq < *first);
        if is_forgotten || !self.counted.insert(line.seq) {
            return;
        }
        if self.counted.len() > MAX_COUNTED {
            self.counted.pop_first();
        }
        let minute = line.ts / 60_000;
        let latest = self.minutes.last_key_value().map_or(minute, |(latest, _)| *latest).max(minute);
        if minute + MAX_MINUTES < latest {
            return;
        }
        self.minutes.entry(minute).or_default().add(line);
        self.minutes = self.minutes.split_off(&latest.saturating_sub(MAX_MINUTES));
    }

    /// Returns the statistics of the latest minutes, oldest first. The last one is the current minute.
    pub(crate) fn last_minutes(&self, number: usize, now_ms: u64) -> Vec<MinuteStats> {
        let now = now_ms / 60_000;
        let number = u64::try_from(number).unwrap_or(MAX_MINUTES).min(MAX_MINUTES);
        let first = (now + 1).saturating_sub(number);
        (first..=now).map(|minute| self.minutes.get(&minute).cloned().unwrap_or_default()).collect()
    }

    /// Returns the number of minutes to show: the smallest usual range that contains the first counted minute.
    pub(crate) fn shown_minutes(&self, now_ms: u64) -> usize {
        let age = self.since().map_or(0, |since| now_ms.saturating_sub(since) / 60_000);
        let age = usize::try_from(age).unwrap_or(MAX_SHOWN_MINUTES);
        SHOWN_MINUTES.into_iter().find(|minutes| age < *minutes).unwrap_or(MAX_SHOWN_MINUTES)
    }

    /// Returns the time of the first counted minute, in milliseconds.
    pub(crate) fn since(&self) -> Option<u64> {
        self.minutes.first_key_value().map(|(minute, _)| minute * 60_000)
    }
}

impl MinuteStats {
    /// Adds up several minutes.
    pub(crate) fn sum(minutes: &[Self]) -> Self {
        let mut sum = Self::default();
        for minute in minutes {
            sum.decided += minute.decided;
            sum.denied += minute.denied;
            sum.asked += minute.asked;
            for (all, some) in [(&mut sum.harnesses, &minute.harnesses), (&mut sum.rules, &minute.rules)] {
                for (name, count) in some {
                    *all.entry(name.clone()).or_default() += count;
                }
            }
            for (bin, count) in &minute.durations {
                *sum.durations.entry(*bin).or_default() += count;
            }
        }
        sum
    }

    fn add(&mut self, line: &DecisionRow) {
        self.decided += 1;
        match line.verdict {
            Decision::Deny => self.denied += 1,
            Decision::Ask => self.asked += 1,
            _ => {}
        }
        *self.harnesses.entry(line.harness.clone()).or_default() += 1;
        if !line.rule.is_empty() {
            *self.rules.entry(line.rule.clone()).or_default() += 1;
        }
        *self.durations.entry(histogram_bin(line.took_us)).or_default() += 1;
    }

    /// Returns a percentile of the durations in microseconds. The error is at most a quarter of the value.
    pub(crate) fn percentile_us(&self, percent: u64) -> Option<u64> {
        let all: u64 = self.durations.values().sum();
        let rank = (all * percent).div_ceil(100).max(1);
        let mut seen = 0;
        self.durations.iter().find_map(|(bin, count)| {
            seen += count;
            (seen >= rank).then(|| bin_upper_edge(*bin))
        })
    }
}

/// Returns the histogram bin of a duration. Each doubling has [`BINS_PER_DOUBLING`] bins.
fn histogram_bin(us: u64) -> u64 {
    let us = us.max(BINS_PER_DOUBLING);
    let doublings = u64::from(us.ilog2());
    // Takes the two bits after the highest bit.
    let rest = (us >> (doublings - 2)) - BINS_PER_DOUBLING;
    doublings * BINS_PER_DOUBLING + rest
}

/// Returns the largest value in a bin.
fn bin_upper_edge(bin: u64) -> u64 {
    let (doublings, rest) = (bin / BINS_PER_DOUBLING, bin % BINS_PER_DOUBLING);
    ((BINS_PER_DOUBLING + rest + 1) << (doublings - 2)) - 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(seq: u64, ts: &str, took_us: u64, verdict: &str) -> DecisionRow {
        let news = json!({"seq": seq, "ts": ts, "took_us": took_us, "verdict": verdict, "harness": "codex", "rule": "r"});
        DecisionRow::from_event(&news).unwrap()
    }

    #[test]
    fn a_bin_contains_its_values_and_is_narrow() {
        for us in [4, 5, 7, 8, 63, 64, 100, 999, 1000, 123_456, 10_000_000] {
            let edge = bin_upper_edge(histogram_bin(us));
            assert!(edge >= us && edge <= us + us / 4, "{us} {edge}");
        }
        assert!((4..10_000).all(|us| histogram_bin(us) <= histogram_bin(us + 1)));
    }

    #[test]
    fn minutes_are_counted_apart_and_old_ones_forgotten() {
        let mut stats = DecisionStats::default();
        for second in 0..50 {
            stats.add(&line(second, &format!("2026-11-15T08:00:{second:02}Z"), 100, "none"));
        }
        stats.add(&line(60, "2026-11-15T08:02:00Z", 9000, "deny"));
        let now = 60_000 * (line(0, "2026-11-15T08:02:30Z", 0, "none").ts / 60_000);
        let last = stats.last_minutes(3, now);
        assert_eq!(last.iter().map(|minute| minute.decided).collect::<Vec<_>>(), [50, 0, 1]);
        let sum = MinuteStats::sum(&last);
        assert_eq!((sum.decided, sum.denied, sum.rules["r"]), (51, 1, 51));
        assert!(sum.percentile_us(50).unwrap() < 125 && sum.percentile_us(99).unwrap() >= 9000);
        assert_eq!(MinuteStats::default().percentile_us(50), None);
        stats.add(&line(61, "2026-11-15T18:00:00Z", 1, "none"));
        stats.add(&line(62, "2026-11-15T08:00:00Z", 1, "none"));
        assert_eq!(stats.minutes.len(), 1, "old minutes are dropped");
    }
}
