// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a report is about: counts of all leaves that fit, and those that people should look at.

use std::collections::BTreeMap;

use serde_json::Value;
use tenterhook_event::{Decision, Timestamp};
use tenterhook_ledger::{Filter, ReadFailed, Reader, Record};
use tenterhook_records::recorded::{Field as _, leaf};

use crate::RecordRow;
use crate::html::chart::Counts;

const PAGE: u64 = 512;
/// How many leaves the table has at most: each carries its proof.
const MOST_SHOWN: usize = 500;
const HOUR: u64 = 3_600_000;
/// Longer periods are counted by day.
const MOST_HOURS: u64 = 7 * 24;

pub(super) struct Shown {
    pub(super) row: RecordRow,
    pub(super) kind: String,
    /// The proof as a text; a leaf that no checkpoint covers yet has none.
    pub(super) proof: Option<String>,
}

#[derive(Default)]
pub(super) struct Gathered {
    pub(super) decisions: u64,
    pub(super) sessions: usize,
    pub(super) first: Option<u64>,
    pub(super) last: Option<u64>,
    /// Bars from the first to the last moment, with their beginning in milliseconds.
    pub(super) bars: Vec<(u64, Counts)>,
    /// How long a bar is, in milliseconds.
    pub(super) step: u64,
    pub(super) verdicts: Vec<(String, u64)>,
    pub(super) rules: Vec<(String, u64)>,
    pub(super) tools: Vec<(String, u64)>,
    /// Denials, questions and changes of protection, newest first.
    pub(super) shown: Vec<Shown>,
    pub(super) left_out: u64,
    pub(super) checkpoint: Option<String>,
    pub(super) key: Option<String>,
}

pub(super) fn gather(reader: &Reader, filter: &Filter) -> Result<Gathered, ReadFailed> {
    let mut gathered = Gathered::default();
    let mut sessions = std::collections::BTreeSet::new();
    let mut hours: BTreeMap<u64, Counts> = BTreeMap::new();
    let [mut verdicts, mut rules, mut tools]: [BTreeMap<String, u64>; 3] = Default::default();
    let mut filter = filter.clone();
    loop {
        let page = reader.query(&filter, PAGE)?;
        for record in &page.records {
            let leaf = leaf(record);
            let row = RecordRow::of(record);
            if let Some(verdict) = row.verdict {
                gathered.decisions += 1;
                sessions.extend(leaf.field("harness_session_id").as_str().map(ToOwned::to_owned));
                *verdicts.entry(verdict.word().to_owned()).or_default() += 1;
                count(&mut rules, leaf.field("policy_rule_id"));
                count(&mut tools, leaf.field("tool").field("name"));
                let ts = leaf.field("ts").as_str().and_then(|ts| ts.parse().ok()).map(Timestamp::unix_ms);
                if let Some(ts) = ts {
                    let place = hours.entry(ts / HOUR).or_default();
                    let kind = match verdict {
                        Decision::None | Decision::Allow => 0,
                        Decision::Defer | Decision::Ask => 1,
                        Decision::Deny => 2,
                    };
                    if let Some(number) = place.get_mut(kind) {
                        *number += 1;
                    }
                    gathered.first = Some(gathered.first.map_or(ts, |first| first.min(ts)));
                    gathered.last = Some(gathered.last.map_or(ts, |last| last.max(ts)));
                }
            }
            let past = leaf.field("kind") == "seen";
            if !past && row.verdict.is_none_or(|verdict| verdict > Decision::Allow) {
                show(reader, record, row, &leaf, &mut gathered)?;
            }
        }
        match page.next {
            Some(next) => filter.before = Some(next),
            None => break,
        }
    }
    gathered.sessions = sessions.len();
    (gathered.bars, gathered.step) = bars(&hours);
    gathered.verdicts = largest(verdicts);
    gathered.rules = largest(rules);
    gathered.tools = largest(tools);
    gathered.checkpoint = reader.checkpoint()?.map(|(_, note)| note);
    gathered.key = reader.key()?.map(|key| key.to_string());
    Ok(gathered)
}

fn show(
    reader: &Reader,
    record: &Record,
    row: RecordRow,
    leaf: &Value,
    to: &mut Gathered,
) -> Result<(), ReadFailed> {
    if to.shown.len() >= MOST_SHOWN {
        to.left_out += 1;
        return Ok(());
    }
    let proof = reader.proof(record.seq)?.map(|proof| proof.to_string());
    let kind = leaf.field("kind").as_str().unwrap_or("pruned").to_owned();
    to.shown.push(Shown { row, kind, proof });
    Ok(())
}

fn count(counts: &mut BTreeMap<String, u64>, name: &Value) {
    if let Some(name) = name.as_str() {
        *counts.entry(name.to_owned()).or_default() += 1;
    }
}

fn largest(counts: BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(name, number)| (std::cmp::Reverse(*number), name.clone()));
    counts
}

/// Bars without gaps, by the hour, or by the day when there would be too many.
fn bars(hours: &BTreeMap<u64, Counts>) -> (Vec<(u64, Counts)>, u64) {
    let (Some((first, _)), Some((last, _))) = (hours.first_key_value(), hours.last_key_value()) else {
        return (Vec::new(), HOUR);
    };
    let size = if last - first < MOST_HOURS { 1 } else { 24 };
    let mut bars: BTreeMap<u64, Counts> = BTreeMap::new();
    // Nobody looks at more bars than that; a clock that was wrong would make millions.
    let range = (first / size)..=(last / size).min(first / size + 400);
    bars.extend(range.map(|at| (at, Counts::default())));
    for (hour, counts) in hours {
        let bar = bars.entry(hour / size).or_default();
        for (sum, number) in bar.iter_mut().zip(counts) {
            *sum += number;
        }
    }
    (bars.into_iter().map(|(at, counts)| (at * size * HOUR, counts)).collect(), size * HOUR)
}
