// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Collects the content of a report: counts of all matching records, and the records to list.

use std::collections::BTreeMap;

use serde_json::Value;
use tenterhook_event::{Decision, Timestamp};
use tenterhook_ledger::{Filter, ReadError, Reader, StoredRecord};
use tenterhook_records::recorded::{JsonField as _, envelope};

use crate::RecordRow;
use crate::html::chart::VerdictCounts;

const QUERY_PAGE_RECORDS: u64 = 512;
/// Maximum number of listed records; each is listed with its proof.
const MAX_LISTED_RECORDS: usize = 500;
const HOUR_MS: u64 = 3_600_000;
/// Maximum number of hours for hourly bars; longer periods are counted by day.
const MAX_HOURLY_BARS: u64 = 7 * 24;

pub(super) struct ListedRecord {
    pub(super) row: RecordRow,
    pub(super) kind: String,
    /// The proof as text; `None` if the record was pruned or no checkpoint covers it yet.
    pub(super) proof: Option<String>,
}

#[derive(Default)]
pub(super) struct ReportCounts {
    pub(super) decisions: u64,
    pub(super) sessions: usize,
    pub(super) first: Option<u64>,
    pub(super) last: Option<u64>,
    /// Bars without gaps, each with its start in milliseconds.
    pub(super) bars: Vec<(u64, VerdictCounts)>,
    /// Period of a bar, in milliseconds.
    pub(super) step: u64,
    pub(super) verdicts: Vec<(String, u64)>,
    pub(super) rules: Vec<(String, u64)>,
    pub(super) tools: Vec<(String, u64)>,
    /// Calls with the verdict `deny` or `ask`, and changes to the protection settings, newest first.
    pub(super) shown: Vec<ListedRecord>,
    pub(super) left_out: u64,
    pub(super) checkpoint: Option<String>,
    pub(super) key: Option<String>,
}

pub(super) fn collect_counts(reader: &Reader, filter: &Filter) -> Result<ReportCounts, ReadError> {
    let mut report = ReportCounts::default();
    let mut sessions = std::collections::BTreeSet::new();
    let mut hours: BTreeMap<u64, VerdictCounts> = BTreeMap::new();
    let [mut verdicts, mut rules, mut tools]: [BTreeMap<String, u64>; 3] = Default::default();
    let mut filter = filter.clone();
    loop {
        let page = reader.query(&filter, QUERY_PAGE_RECORDS)?;
        for record in &page.records {
            let fields = envelope(record);
            let row = RecordRow::from_record(record);
            if let Some(verdict) = row.verdict {
                report.decisions += 1;
                sessions.extend(fields.field("harness_session_id").as_str().map(ToOwned::to_owned));
                *verdicts.entry(verdict.label().to_owned()).or_default() += 1;
                count_name(&mut rules, fields.field("policy_rule_id"));
                count_name(&mut tools, fields.field("tool").field("name"));
                let ts = fields.field("ts").as_str().and_then(|ts| ts.parse().ok()).map(Timestamp::unix_ms);
                if let Some(ts) = ts {
                    let bucket = hours.entry(ts / HOUR_MS).or_default();
                    let kind = match verdict {
                        Decision::None | Decision::Allow => 0,
                        Decision::Defer | Decision::Ask => 1,
                        Decision::Deny => 2,
                    };
                    if let Some(number) = bucket.get_mut(kind) {
                        *number += 1;
                    }
                    report.first = Some(report.first.map_or(ts, |first| first.min(ts)));
                    report.last = Some(report.last.map_or(ts, |last| last.max(ts)));
                }
            }
            let past = fields.field("kind") == "seen";
            if !past && row.verdict.is_none_or(|verdict| verdict > Decision::Allow) {
                list_record(reader, record, row, &fields, &mut report)?;
            }
        }
        match page.next {
            Some(next) => filter.before = Some(next),
            None => break,
        }
    }
    report.sessions = sessions.len();
    (report.bars, report.step) = build_bars(&hours);
    report.verdicts = largest_first(verdicts);
    report.rules = largest_first(rules);
    report.tools = largest_first(tools);
    report.checkpoint = reader.checkpoint()?.map(|(_, note)| note);
    report.key = reader.key()?.map(|key| key.to_string());
    Ok(report)
}

fn list_record(
    reader: &Reader,
    record: &StoredRecord,
    row: RecordRow,
    fields: &Value,
    report: &mut ReportCounts,
) -> Result<(), ReadError> {
    if report.shown.len() >= MAX_LISTED_RECORDS {
        report.left_out += 1;
        return Ok(());
    }
    let proof = reader.proof(record.seq)?.map(|proof| proof.to_string());
    let kind = fields.field("kind").as_str().unwrap_or("pruned").to_owned();
    report.shown.push(ListedRecord { row, kind, proof });
    Ok(())
}

fn count_name(counts: &mut BTreeMap<String, u64>, name: &Value) {
    if let Some(name) = name.as_str() {
        *counts.entry(name.to_owned()).or_default() += 1;
    }
}

fn largest_first(counts: BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(name, number)| (std::cmp::Reverse(*number), name.clone()));
    counts
}

/// Builds bars without gaps, by hour, or by day if there would be too many.
fn build_bars(hours: &BTreeMap<u64, VerdictCounts>) -> (Vec<(u64, VerdictCounts)>, u64) {
    let (Some((first, _)), Some((last, _))) = (hours.first_key_value(), hours.last_key_value()) else {
        return (Vec::new(), HOUR_MS);
    };
    let size = if last - first < MAX_HOURLY_BARS { 1 } else { 24 };
    let mut bars: BTreeMap<u64, VerdictCounts> = BTreeMap::new();
    // Bound the number of bars: a wrong clock would produce millions.
    let range = (first / size)..=(last / size).min(first / size + 400);
    bars.extend(range.map(|at| (at, VerdictCounts::default())));
    for (hour, counts) in hours {
        let bar = bars.entry(hour / size).or_default();
        for (sum, number) in bar.iter_mut().zip(counts) {
            *sum += number;
        }
    }
    (bars.into_iter().map(|(at, counts)| (at * size * HOUR_MS, counts)).collect(), size * HOUR_MS)
}
