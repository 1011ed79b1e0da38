// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates recorded events with other rules, using the symbolic links that were on the disk at the time.
//!
//! Only rules are replayed. Findings of hooks are ignored on both sides. The recorded findings of rules, from the
//! trace of each record, are compared with the findings of the new rules. Session state starts empty at the first
//! replayed event.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use serde::Serialize;
use tenterhook_event::{Decision, Event, EventId};
use tenterhook_ledger::{Reader, StoredRecord};
use tenterhook_policy::RuleSet;

use crate::replay::{EventReplay, ReplayedVerdict, strictest_verdict};
use tenterhook_error::Failure;
use tenterhook_records::recorded::{JsonField as _, RecordedDecision};

/// Number of records read at a time.
const READ_PAGE_RECORDS: u64 = 512;
/// Maximum number of differences listed; further differences are only counted.
pub const MAX_DIFFERENCES: usize = 10_000;

/// Rules to evaluate, and the range of events.
pub struct Backtest<'a> {
    /// Rules to evaluate.
    pub rules: &'a RuleSet,
    /// Home directory of the user, for `~`.
    pub user_home: Option<&'a str>,
    /// Start of the range, in milliseconds since the Unix epoch.
    pub from_ms: u64,
    /// End of the range, exclusive, in milliseconds since the Unix epoch.
    pub until_ms: u64,
    /// Number of threads.
    pub threads: usize,
}

/// Result of a backtest.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct ReplayReport {
    /// Number of evaluated events.
    pub replayed: u64,
    /// Number of events whose verdict stays the same.
    pub same: u64,
    /// Decisions that would be different, oldest first.
    pub differences: Vec<VerdictChange>,
    /// Number of differences beyond the maximum, which are not listed.
    pub unnamed: u64,
    /// Number of changed decisions, by rule.
    pub by_rule: BTreeMap<String, RuleImpact>,
    /// Number of events that could not be replayed, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Number of events that were evaluated without the secrets that had been removed from them. Rules about secrets
    /// may match less often on such events than they did originally.
    pub redacted: u64,
    /// Number of verdicts.
    #[serde(skip)]
    pub totals: VerdictTotals,
}

/// Number of verdicts of the rules, when the events were recorded and with the new rules.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct VerdictTotals {
    /// Events that were denied.
    pub denied_before: u64,
    /// Events that the new rules deny.
    pub denied_after: u64,
    /// Events that were asked about.
    pub asked_before: u64,
    /// Events that the new rules ask about.
    pub asked_after: u64,
    /// Events that the new rules deny and that were not denied.
    pub newly_denied: u64,
}

/// One decision that would be different.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerdictChange {
    /// Sequence number of the record.
    pub seq: u64,
    /// Id of the event.
    pub id: EventId,
    /// Summary of the call: the command, the path or the tool.
    pub what: String,
    /// Verdict of the rules when the event was recorded.
    pub was: Decision,
    /// Rule that gave the recorded verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was_by: Option<String>,
    /// Verdict of the new rules.
    pub now: Decision,
    /// Rule that gives the new verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now_by: Option<String>,
}

/// Number of decisions that a rule would change.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct RuleImpact {
    /// Number of decisions that the rule makes stricter.
    pub stricter: u64,
    /// Number of decisions that become less strict: the rule made them when they were recorded and would not
    /// make them now.
    pub looser: u64,
}

type Batch = Vec<(u64, RecordedDecision)>;

impl Backtest<'_> {
    /// Replays a ledger. `progress` receives the number of records read so far and the total.
    pub fn run(&self, reader: &Reader, progress: &mut dyn FnMut(u64, u64)) -> Result<ReplayReport, Failure> {
        // A limit or budget shared by all sessions needs all events in order.
        let threads = if self.rules.needs_all_sessions() { 1 } else { self.threads.clamp(1, 16) };
        std::thread::scope(|scope| {
            let mut senders = Vec::new();
            let mut workers = Vec::new();
            for _ in 0..threads {
                let (send, receive) = sync_channel::<Batch>(4);
                senders.push(send);
                workers.push(scope.spawn(move || self.judge_all(&receive)));
            }
            let mut report = ReplayReport::default();
            let read = self.distribute(reader, &senders, &mut report, progress);
            drop(senders);
            for worker in workers {
                let part = worker.join().map_err(|_| Failure::internal("a worker thread failed"))?;
                report.add(part);
            }
            read?;
            report.differences.sort_unstable_by_key(|difference| difference.seq);
            let named = report.differences.len().min(MAX_DIFFERENCES);
            report.unnamed += u64::try_from(report.differences.split_off(named).len()).unwrap_or(u64::MAX);
            Ok(report)
        })
    }

    /// Reads the ledger and distributes its events so that each session goes to one worker.
    fn distribute(
        &self,
        reader: &Reader,
        senders: &[SyncSender<Batch>],
        report: &mut ReplayReport,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), Failure> {
        let unreadable = |error: tenterhook_ledger::ReadError| Failure::internal(error.to_string());
        let size = reader.size().map_err(unreadable)?;
        let mut next = 0;
        while next < size {
            let page = reader.records_from(next, READ_PAGE_RECORDS).map_err(unreadable)?;
            let Some(last) = page.last() else { break };
            next = last.seq + 1;
            let mut batches: Vec<Batch> = senders.iter().map(|_| Vec::new()).collect();
            for record in &page {
                match self.replayable_event(record) {
                    Ok(Some(recorded)) => {
                        let batch = worker_of(&recorded.event, batches.len());
                        if let Some(batch) = batches.get_mut(batch) {
                            batch.push((record.seq, recorded));
                        }
                    }
                    Ok(None) => {}
                    Err(why) => *report.left_out.entry(why).or_default() += 1,
                }
            }
            for (receiver, batch) in senders.iter().zip(batches) {
                if !batch.is_empty() && receiver.send(batch).is_err() {
                    return Err(Failure::internal("a worker thread failed"));
                }
            }
            progress(next.min(size), size);
        }
        Ok(())
    }

    /// Returns the event to replay; `None` for other records and for events outside the range.
    fn replayable_event(&self, record: &StoredRecord) -> Result<Option<RecordedDecision>, &'static str> {
        let envelope = match record.envelope() {
            None => return Err("the record was pruned"),
            Some(Err(_)) => return Err("the record cannot be read"),
            Some(Ok(envelope)) => envelope,
        };
        if envelope.kind != tenterhook_ledger::LeafKind::Decision {
            return Ok(None);
        }
        let ts = envelope.ts.parse().map_or(0, tenterhook_event::Timestamp::unix_ms);
        if ts < self.from_ms || ts >= self.until_ms {
            return Ok(None);
        }
        if let Some(payload) = &envelope.payload
            && record.payload.as_ref().is_none_or(|stored| stored.bytes.is_none())
        {
            return Err(match payload.stored {
                tenterhook_ledger::PayloadStorage::Hash => "the payload was too large to be stored",
                tenterhook_ledger::PayloadStorage::Whole => "the payload was erased",
            });
        }
        RecordedDecision::from_record(record).map(Some).map_err(|_| "the record cannot be read")
    }

    fn judge_all(&self, receiver: &Receiver<Batch>) -> ReplayReport {
        let mut report = ReplayReport::default();
        let mut replay = EventReplay::new(self.rules, self.user_home, usize::MAX);
        for (seq, recorded) in receiver.iter().flatten() {
            let event = &recorded.event;
            let ReplayedVerdict { decision: now, rule: now_by, .. } =
                replay.judge(event, Some(&recorded.seen));
            let (was, was_by) = strictest_verdict(&recorded.outcome.trace);
            report.replayed += 1;
            report.totals.count(was, now);
            let redacted = recorded.leaf.field("payload").field("redacted").as_u64();
            report.redacted += u64::from(redacted.is_some_and(|marks| marks > 0));
            if was == now {
                report.same += 1;
                continue;
            }
            let mut count = |rule: &Option<String>, stricter: bool| {
                let changes =
                    report.by_rule.entry(rule.clone().unwrap_or_else(|| "–".to_owned())).or_default();
                if stricter { changes.stricter += 1 } else { changes.looser += 1 }
            };
            if now > was {
                count(&now_by, true);
            } else {
                count(&was_by, false);
            }
            if report.differences.len() < MAX_DIFFERENCES {
                let what = summarize_event(event);
                report.differences.push(VerdictChange { seq, id: event.id, what, was, was_by, now, now_by });
            } else {
                report.unnamed += 1;
            }
        }
        report
    }
}

impl ReplayReport {
    fn add(&mut self, part: Self) {
        self.replayed += part.replayed;
        self.same += part.same;
        self.differences.extend(part.differences);
        self.unnamed += part.unnamed;
        self.redacted += part.redacted;
        self.totals.add(part.totals);
        for (rule, changes) in part.by_rule {
            let sum = self.by_rule.entry(rule).or_default();
            sum.stricter += changes.stricter;
            sum.looser += changes.looser;
        }
        for (why, count) in part.left_out {
            *self.left_out.entry(why).or_default() += count;
        }
    }
}

impl VerdictTotals {
    fn count(&mut self, was: Decision, now: Decision) {
        self.denied_before += u64::from(was == Decision::Deny);
        self.denied_after += u64::from(now == Decision::Deny);
        self.asked_before += u64::from(was == Decision::Ask);
        self.asked_after += u64::from(now == Decision::Ask);
        self.newly_denied += u64::from(now == Decision::Deny && was != Decision::Deny);
    }

    fn add(&mut self, other: Self) {
        let Self { denied_before, denied_after, asked_before, asked_after, newly_denied } = other;
        self.denied_before += denied_before;
        self.denied_after += denied_after;
        self.asked_before += asked_before;
        self.asked_after += asked_after;
        self.newly_denied += newly_denied;
    }
}

/// Returns the index of the worker for an event's session.
fn worker_of(event: &Event, batches: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    (&event.source, &event.harness_session_id).hash(&mut hasher);
    let batches = u64::try_from(batches.max(1)).unwrap_or(1);
    usize::try_from(hasher.finish() % batches).unwrap_or(0)
}

/// Returns a one-line summary of an event.
pub fn summarize_event(event: &Event) -> String {
    let Some(tool) = &event.tool else { return event.native_event.clone() };
    let args = ["command", "file_path", "path", "absolute_path", "url", "cmd"];
    let arg = args.iter().find_map(|key| tool.args.get(key)?.as_str());
    match arg {
        Some(arg) => format!("{} {}", tool.name, arg.chars().take(200).collect::<String>()),
        None => tool.name.clone(),
    }
}
