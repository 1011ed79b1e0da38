// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How much was decided in each minute, and how long that took.

use std::collections::BTreeMap;

use tenterhook_event::Decision;

use crate::read::Line;

/// How many minutes are kept.
const KEPT: u64 = 240;
/// Steps of a histogram per doubling.
const STEPS: u64 = 4;

/// Counts by minute.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stats {
    minutes: BTreeMap<u64, Minute>,
}

/// One minute, or several together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Minute {
    pub(crate) decided: u64,
    pub(crate) denied: u64,
    pub(crate) asked: u64,
    pub(crate) harnesses: BTreeMap<String, u64>,
    pub(crate) rules: BTreeMap<String, u64>,
    /// How many took about so long, by [`bin`].
    took: BTreeMap<u64, u64>,
}

impl Stats {
    pub(crate) fn add(&mut self, line: &Line) {
        let minute = line.ts / 60_000;
        let latest = self.minutes.last_key_value().map_or(minute, |(latest, _)| *latest).max(minute);
        if minute + KEPT < latest {
            return;
        }
        self.minutes.entry(minute).or_default().add(line);
        self.minutes = self.minutes.split_off(&latest.saturating_sub(KEPT));
    }

    /// The latest minutes, oldest first; the last of them is under way.
    pub(crate) fn last(&self, many: usize, now_ms: u64) -> Vec<Minute> {
        let now = now_ms / 60_000;
        let many = u64::try_from(many).unwrap_or(KEPT).min(KEPT);
        let first = (now + 1).saturating_sub(many);
        (first..=now).map(|minute| self.minutes.get(&minute).cloned().unwrap_or_default()).collect()
    }

    /// When the first decision that is counted was made, in milliseconds.
    pub(crate) fn since(&self) -> Option<u64> {
        self.minutes.first_key_value().map(|(minute, _)| minute * 60_000)
    }
}

impl Minute {
    /// Several minutes as one.
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
            for (bin, count) in &minute.took {
                *sum.took.entry(*bin).or_default() += count;
            }
        }
        sum
    }

    fn add(&mut self, line: &Line) {
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
        *self.took.entry(bin(line.took_us)).or_default() += 1;
    }

    /// How long so many of a hundred took at most, in microseconds; within a fifth.
    pub(crate) fn within(&self, percent: u64) -> Option<u64> {
        let all: u64 = self.took.values().sum();
        let rank = (all * percent).div_ceil(100).max(1);
        let mut seen = 0;
        self.took.iter().find_map(|(bin, count)| {
            seen += count;
            (seen >= rank).then(|| edge(*bin))
        })
    }
}

/// The step of a histogram whose steps grow by a quarter of a doubling.
fn bin(us: u64) -> u64 {
    let us = us.max(STEPS);
    let doublings = u64::from(us.ilog2());
    // The two bits after the highest one.
    let rest = (us >> (doublings - 2)) - STEPS;
    doublings * STEPS + rest
}

/// The largest value in a step.
fn edge(bin: u64) -> u64 {
    let (doublings, rest) = (bin / STEPS, bin % STEPS);
    ((STEPS + rest + 1) << (doublings - 2)) - 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(seq: u64, ts: &str, took_us: u64, verdict: &str) -> Line {
        let news = json!({"seq": seq, "ts": ts, "took_us": took_us, "verdict": verdict, "harness": "codex", "rule": "r"});
        Line::told(&news).unwrap()
    }

    #[test]
    fn a_step_holds_its_values_and_is_narrow() {
        for us in [4, 5, 7, 8, 63, 64, 100, 999, 1000, 123_456, 10_000_000] {
            let edge = edge(bin(us));
            assert!(edge >= us && edge <= us + us / 4, "{us} {edge}");
        }
        assert!((4..10_000).all(|us| bin(us) <= bin(us + 1)));
    }

    #[test]
    fn minutes_are_counted_apart_and_old_ones_forgotten() {
        let mut stats = Stats::default();
        for second in 0..50 {
            stats.add(&line(second, &format!("2026-11-15T08:00:{second:02}Z"), 100, "none"));
        }
        stats.add(&line(60, "2026-11-15T08:02:00Z", 9000, "deny"));
        let now = 60_000 * (line(0, "2026-11-15T08:02:30Z", 0, "none").ts / 60_000);
        let last = stats.last(3, now);
        assert_eq!(last.iter().map(|minute| minute.decided).collect::<Vec<_>>(), [50, 0, 1]);
        let sum = Minute::sum(&last);
        assert_eq!((sum.decided, sum.denied, sum.rules["r"]), (51, 1, 51));
        assert!(sum.within(50).unwrap() < 125 && sum.within(99).unwrap() >= 9000);
        assert_eq!(Minute::default().within(50), None);
        stats.add(&line(61, "2026-11-15T18:00:00Z", 1, "none"));
        stats.add(&line(62, "2026-11-15T08:00:00Z", 1, "none"));
        assert_eq!(stats.minutes.len(), 1, "the morning is forgotten");
    }
}
