// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decisions in a time range: counts and decision times in buckets.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use tenterhook_api::{Activity, ActivityBucket, DecisionCounts, DecisionTime, NamedCounts};
use tenterhook_event::Timestamp;
use tenterhook_ledger::{Filter, LeafKind, ReadError, Reader, Stats};

use crate::call_rows::record_ms;

/// Durations of a bucket, in seconds.
const BUCKET_SECONDS: [u64; 16] =
    [1, 5, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];
/// Maximum number of names in a list.
const MAX_NAMES: usize = 10;
/// Maximum number of decisions whose times are read. More are sampled.
const MAX_TIMED: u64 = 6000;
/// Number of neighbouring decisions in a sample.
const SAMPLE_RECORDS: u64 = 50;

/// Summarizes the decisions that match a filter, in at most `max_buckets` buckets.
pub fn activity(
    reader: &Reader,
    filter: &Filter,
    now_ms: u64,
    max_buckets: u64,
) -> Result<Activity, ReadError> {
    let filter = Filter { kind: filter.kind.or(Some(LeafKind::Decision)), ..filter.clone() };
    let until = filter.until_ms.unwrap_or(now_ms);
    let stats = reader.stats(&filter)?;
    let start = stats.first_ms.unwrap_or(until).min(until);
    let bucket_ms = bucket_duration(until - start, max_buckets);
    let first = start / bucket_ms;
    let mut buckets = BTreeMap::new();
    for number in first..=until / bucket_ms {
        let part = Filter {
            from_ms: Some((number * bucket_ms).max(filter.from_ms.unwrap_or(0))),
            until_ms: Some(((number + 1) * bucket_ms).min(filter.until_ms.unwrap_or(u64::MAX))),
            ..filter.clone()
        };
        let counts = verdict_counts(&reader.stats(&part)?);
        if counts.all > 0 {
            let at = Timestamp::from_unix_ms(number * bucket_ms);
            buckets.insert(number, ActivityBucket { at, counts, decision_time: None });
        }
    }
    let sampled = add_times(reader, &filter, start..until, bucket_ms, &mut buckets)?;
    let stopped = |verdict: &str| -> Result<Stats, ReadError> {
        let wanted = filter.verdict.as_deref().is_none_or(|wanted| wanted == verdict);
        if !wanted {
            return Ok(Stats::default());
        }
        reader.stats(&Filter { verdict: Some(verdict.to_owned()), ..filter.clone() })
    };
    let (denied, asked) = (stopped("deny")?, stopped("ask")?);
    let names = |all: &[(String, u64)], of: fn(&Stats) -> &Vec<(String, u64)>| {
        named_counts(all, of(&denied), of(&asked))
    };
    Ok(Activity {
        from: Timestamp::from_unix_ms(first * bucket_ms),
        until: Timestamp::from_unix_ms(until),
        bucket_ms,
        total: verdict_counts(&stats),
        decision_time: sampled.total,
        rules: names(&[], |stats| &stats.rules),
        harnesses: names(&stats.harnesses, |stats| &stats.harnesses),
        tools: names(&stats.tools, |stats| &stats.tools),
        buckets: buckets.into_values().collect(),
        sampled: sampled.is_partial,
    })
}

/// Returns the shortest duration with which the range has at most `max_buckets` buckets.
fn bucket_duration(range_ms: u64, max_buckets: u64) -> u64 {
    let fits = |seconds: &&u64| range_ms / (**seconds * 1000) < max_buckets.max(1);
    let days = || (range_ms / max_buckets.max(1) / 86_400_000 + 1) * 86_400;
    BUCKET_SECONDS.iter().find(fits).copied().unwrap_or_else(days) * 1000
}

fn verdict_counts(stats: &Stats) -> DecisionCounts {
    let of = |wanted: &str| {
        stats.verdicts.iter().find(|(verdict, _)| verdict == wanted).map_or(0, |(_, count)| *count)
    };
    DecisionCounts { all: stats.leaves - stats.undelivered, asked: of("ask"), denied: of("deny") }
}

fn named_counts(
    all: &[(String, u64)],
    denied: &[(String, u64)],
    asked: &[(String, u64)],
) -> Vec<NamedCounts> {
    let mut names = BTreeMap::<&str, DecisionCounts>::new();
    for (name, count) in denied {
        names.entry(name).or_default().denied += count;
    }
    for (name, count) in asked {
        names.entry(name).or_default().asked += count;
    }
    for counts in names.values_mut() {
        counts.all = counts.denied + counts.asked;
    }
    for (name, count) in all {
        names.entry(name).or_default().all = *count;
    }
    let mut names: Vec<_> =
        names.into_iter().map(|(name, counts)| NamedCounts { name: name.to_owned(), counts }).collect();
    names.sort_by_key(|one| std::cmp::Reverse(one.counts.all));
    names.truncate(MAX_NAMES);
    names
}

struct TimeSummary {
    total: Option<DecisionTime>,
    is_partial: bool,
}

#[derive(Deserialize)]
struct TimedDecision {
    ts: Timestamp,
    took_us: Option<u64>,
}

/// Adds decision times to the buckets. Filters for a tool, rule, verdict or text do not apply to them.
fn add_times(
    reader: &Reader,
    filter: &Filter,
    range: Range<u64>,
    bucket_ms: u64,
    buckets: &mut BTreeMap<u64, ActivityBucket>,
) -> Result<TimeSummary, ReadError> {
    let records = first_record_after(reader, range.start)?..first_record_after(reader, range.end)?;
    let count = records.end.saturating_sub(records.start);
    let is_partial = count > MAX_TIMED;
    let step = if is_partial { count / (MAX_TIMED / SAMPLE_RECORDS) } else { count.max(1) };
    let mut times = BTreeMap::<u64, Vec<u64>>::new();
    let is = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
    let mut from = records.start;
    while from < records.end {
        let end = if is_partial { (from + SAMPLE_RECORDS).min(records.end) } else { records.end };
        let wanted =
            |harness: &str, session: &str| is(&filter.harness, harness) && is(&filter.session, session);
        reader.scan_decisions(from..end, wanted, |decision| {
            if let Ok(TimedDecision { ts, took_us: Some(us) }) = serde_json::from_slice(decision.bytes)
                && range.contains(&ts.unix_ms())
            {
                times.entry(ts.unix_ms() / bucket_ms).or_default().push(us);
            }
        })?;
        from += step;
    }
    let mut all = Vec::new();
    for (number, mut times) in times {
        all.extend_from_slice(&times);
        if let Some(bucket) = buckets.get_mut(&number) {
            bucket.decision_time = percentiles(&mut times);
        }
    }
    Ok(TimeSummary { total: percentiles(&mut all), is_partial })
}

fn percentiles(times: &mut [u64]) -> Option<DecisionTime> {
    times.sort_unstable();
    let at =
        |percent: usize| times.get((times.len() * percent / 100).min(times.len().checked_sub(1)?)).copied();
    Some(DecisionTime { p50_us: at(50)?, p95_us: at(95)?, p99_us: at(99)? })
}

/// Returns the number of the first record at or after a time. Records are almost in the order of their times.
fn first_record_after(reader: &Reader, ms: u64) -> Result<u64, ReadError> {
    let (mut low, mut high) = (0, reader.size()?);
    while low < high {
        let middle = low + (high - low) / 2;
        // A pruned record has no time, so the next record that has one is compared.
        let known = reader.records_from(middle, 1)?;
        let is_before = known.first().and_then(record_ms).is_none_or(|found| found < ms);
        if is_before { low = middle + 1 } else { high = middle }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_have_a_round_duration() {
        let minute = 60_000;
        assert_eq!(bucket_duration(15 * minute - 1, 60), 15_000);
        assert_eq!(bucket_duration(60 * minute - 1, 60), minute);
        assert_eq!(bucket_duration(24 * 60 * minute - 1, 60), 30 * minute);
        assert_eq!(bucket_duration(0, 60), 1000);
        assert_eq!(bucket_duration(400 * 24 * 60 * minute, 60) % (24 * 60 * minute), 0);
    }

    #[test]
    fn percentiles_are_measured_values() {
        assert_eq!(percentiles(&mut []), None);
        let expected = DecisionTime { p50_us: 51, p95_us: 96, p99_us: 100 };
        assert_eq!(percentiles(&mut (1..=100).rev().collect::<Vec<_>>()), Some(expected));
    }
}
