// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What would have been decided under other rules: the ledger's events, judged once more by what was
//! seen of the machine then.
//!
//! Only rules are replayed. What hooks said is set aside on both sides: compared is what the rules said
//! then, as the trace of each leaf has it, with what they say now. Sessions are remembered from the first
//! event that is replayed on.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use serde::Serialize;
use tenterhook_event::{Decision, Event, EventId};
use tenterhook_ledger::{Reader, StoredRecord};
use tenterhook_policy::RuleSet;

use crate::replay::{Hindsight, Said, strictest};
use tenterhook_error::Failure;
use tenterhook_records::recorded::{JsonField as _, RecordedDecision};

/// How many leaves are read at a time.
const PAGE: u64 = 512;
/// How many differences are named; the others are counted.
pub const MOST_DIFFERENCES: usize = 10_000;

/// The rules that are tried, and whose home it is.
pub struct Backtest<'a> {
    /// The rules.
    pub rules: &'a RuleSet,
    /// The person's home, for `~`.
    pub person: Option<&'a str>,
    /// Only events from this moment on, in milliseconds since the Unix epoch.
    pub from_ms: u64,
    /// Only events before this moment.
    pub until_ms: u64,
    /// How many threads judge.
    pub threads: usize,
}

/// What came of it.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Replay {
    /// Events that were judged.
    pub replayed: u64,
    /// Events about which the rules say the same.
    pub same: u64,
    /// Decisions that would be different, oldest first.
    pub differences: Vec<Difference>,
    /// Differences that are not named, because there are too many.
    pub unnamed: u64,
    /// By rule: what it would change.
    pub by_rule: BTreeMap<String, Changes>,
    /// What could not be replayed, by the reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Events that were judged without the secrets that were taken out of them: rules about secrets
    /// may say less than they did.
    pub redacted: u64,
}

/// One decision that would be different.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The leaf.
    pub seq: u64,
    /// The event.
    pub id: EventId,
    /// What it was about: the command, the path, the tool.
    pub what: String,
    /// What the rules said.
    pub was: Decision,
    /// Which rule said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was_by: Option<String>,
    /// What they would say.
    pub now: Decision,
    /// Which rule would.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now_by: Option<String>,
}

/// How many decisions a rule would change.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// To something stricter, because of it.
    pub stricter: u64,
    /// To something less strict: it decided then and would not now.
    pub looser: u64,
}

type Batch = Vec<(u64, RecordedDecision)>;

impl Backtest<'_> {
    /// Replays a ledger. `progress` hears how many leaves of how many were read.
    pub fn run(&self, reader: &Reader, progress: &mut dyn FnMut(u64, u64)) -> Result<Replay, Failure> {
        // A limit or a budget that all sessions share needs all of them in order.
        let threads = if self.rules.needs_all_sessions() { 1 } else { self.threads.clamp(1, 16) };
        std::thread::scope(|scope| {
            let mut inboxes = Vec::new();
            let mut workers = Vec::new();
            for _ in 0..threads {
                let (send, receive) = sync_channel::<Batch>(4);
                inboxes.push(send);
                workers.push(scope.spawn(move || self.judge_all(&receive)));
            }
            let mut whole = Replay::default();
            let read = self.deal(reader, &inboxes, &mut whole, progress);
            drop(inboxes);
            for worker in workers {
                let part = worker.join().map_err(|_| Failure::internal("judging broke off"))?;
                whole.add(part);
            }
            read?;
            whole.differences.sort_unstable_by_key(|difference| difference.seq);
            let named = whole.differences.len().min(MOST_DIFFERENCES);
            whole.unnamed += u64::try_from(whole.differences.split_off(named).len()).unwrap_or(u64::MAX);
            Ok(whole)
        })
    }

    /// Reads the ledger and deals its events out, each session to one worker.
    fn deal(
        &self,
        reader: &Reader,
        inboxes: &[SyncSender<Batch>],
        whole: &mut Replay,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), Failure> {
        let unreadable = |error: tenterhook_ledger::ReadError| Failure::internal(error.to_string());
        let size = reader.size().map_err(unreadable)?;
        let mut next = 0;
        while next < size {
            let page = reader.records_from(next, PAGE).map_err(unreadable)?;
            let Some(last) = page.last() else { break };
            next = last.seq + 1;
            let mut hands: Vec<Batch> = inboxes.iter().map(|_| Vec::new()).collect();
            for record in &page {
                match self.admit(record) {
                    Ok(Some(recorded)) => {
                        let hand = hand(&recorded.event, hands.len());
                        if let Some(hand) = hands.get_mut(hand) {
                            hand.push((record.seq, recorded));
                        }
                    }
                    Ok(None) => {}
                    Err(why) => *whole.left_out.entry(why).or_default() += 1,
                }
            }
            for (inbox, hand) in inboxes.iter().zip(hands) {
                if !hand.is_empty() && inbox.send(hand).is_err() {
                    return Err(Failure::internal("judging broke off"));
                }
            }
            progress(next.min(size), size);
        }
        Ok(())
    }

    /// An event that can be judged again; `None` for what is no event of this time.
    fn admit(&self, record: &StoredRecord) -> Result<Option<RecordedDecision>, &'static str> {
        let envelope = match record.envelope() {
            None => return Err("the leaf was pruned"),
            Some(Err(_)) => return Err("the leaf cannot be read"),
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
                tenterhook_ledger::PayloadStorage::Hash => "the payload was too large to be kept",
                tenterhook_ledger::PayloadStorage::Whole => "the payload was erased",
            });
        }
        RecordedDecision::from_record(record).map(Some).map_err(|_| "the leaf cannot be read")
    }

    fn judge_all(&self, inbox: &Receiver<Batch>) -> Replay {
        let mut replay = Replay::default();
        let mut hindsight = Hindsight::new(self.rules, self.person, usize::MAX);
        for (seq, recorded) in inbox.iter().flatten() {
            let event = &recorded.event;
            let Said { decision: now, rule: now_by, .. } = hindsight.judge(event, Some(&recorded.seen));
            let (was, was_by) = strictest(&recorded.outcome.trace);
            replay.replayed += 1;
            let redacted = recorded.leaf.field("payload").field("redacted").as_u64();
            replay.redacted += u64::from(redacted.is_some_and(|marks| marks > 0));
            if was == now {
                replay.same += 1;
                continue;
            }
            let mut count = |rule: &Option<String>, stricter: bool| {
                let changes =
                    replay.by_rule.entry(rule.clone().unwrap_or_else(|| "–".to_owned())).or_default();
                if stricter { changes.stricter += 1 } else { changes.looser += 1 }
            };
            if now > was {
                count(&now_by, true);
            } else {
                count(&was_by, false);
            }
            if replay.differences.len() < MOST_DIFFERENCES {
                let what = gist(event);
                replay.differences.push(Difference { seq, id: event.id, what, was, was_by, now, now_by });
            } else {
                replay.unnamed += 1;
            }
        }
        replay
    }
}

impl Replay {
    fn add(&mut self, part: Self) {
        self.replayed += part.replayed;
        self.same += part.same;
        self.differences.extend(part.differences);
        self.unnamed += part.unnamed;
        self.redacted += part.redacted;
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

/// Which worker has an event's session.
fn hand(event: &Event, hands: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    (&event.source, &event.harness_session_id).hash(&mut hasher);
    let hands = u64::try_from(hands.max(1)).unwrap_or(1);
    usize::try_from(hasher.finish() % hands).unwrap_or(0)
}

/// An event in a line.
pub fn gist(event: &Event) -> String {
    let Some(tool) = &event.tool else { return event.native_event.clone() };
    let args = ["command", "file_path", "path", "absolute_path", "url", "cmd"];
    let arg = args.iter().find_map(|key| tool.args.get(key)?.as_str());
    match arg {
        Some(arg) => format!("{} {}", tool.name, arg.chars().take(200).collect::<String>()),
        None => tool.name.clone(),
    }
}
