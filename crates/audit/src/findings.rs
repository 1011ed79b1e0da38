// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Counts over the calls of past sessions, and a few examples of each rule.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hasher as _;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Value, json};
use tenterhook_event::plain_text::strip_control_characters;
use tenterhook_event::{Decision, Event, EventKind, Timestamp};
use tenterhook_guard::backtest::gist;
use tenterhook_guard::replay::Said;
use tenterhook_harness::Harness;
use tenterhook_records::sanitize;
use tenterhook_transcript::{LeftOut, Unread};

use crate::import::ImportCounts;
use tenterhook_report::html::chart::Counts;

/// How many examples of a rule are kept.
const EXAMPLES: usize = 3;
/// How long an example may be, in characters.
const LONGEST: usize = 160;
/// How many projects, and how many kinds of unread parts, are told apart; the rest is counted together.
const NAMES: usize = 5_000;
const DAY: u64 = 86_400_000;
/// Length of a bar of the chart, in milliseconds.
pub(crate) const WEEK: u64 = 7 * DAY;

/// What an audit found.
#[derive(Debug, Default)]
pub struct AuditFindings {
    /// Harnesses whose transcripts were read, by id.
    pub harnesses: BTreeMap<&'static str, HarnessCounts>,
    /// Tool calls.
    pub calls: u64,
    /// Calls by verdict.
    pub verdicts: Counts,
    /// Time of the first call.
    pub first: Option<Timestamp>,
    /// Time of the last call.
    pub last: Option<Timestamp>,
    /// Rules that matched, by id.
    pub rules: BTreeMap<String, RuleCounts>,
    /// Calls by project and verdict.
    pub projects: BTreeMap<String, Counts>,
    /// By the Monday on which they begin, in milliseconds.
    pub weeks: BTreeMap<u64, Counts>,
    /// By a hash of its name: how often a person would have been asked in a session.
    sessions: HashMap<u64, u64>,
    /// By day: how often a person would have been asked.
    days: BTreeMap<u64, u64>,
    /// Parts of transcripts that were not understood, by harness and reason.
    pub unread: BTreeMap<(&'static str, String), u64>,
    /// Transcripts that were not read, with their harness.
    pub left_out: Vec<(&'static str, LeftOut)>,
    /// How long reading took, in milliseconds.
    pub took_ms: u64,
    /// Where transcripts were searched: the harness's title and a directory.
    pub searched: Vec<(&'static str, PathBuf)>,
}

/// Counts of one harness.
#[derive(Debug, Default, Serialize)]
pub struct HarnessCounts {
    /// Transcripts that were read to their end.
    pub files: usize,
    /// Sessions.
    pub sessions: u64,
    /// Tool calls.
    pub calls: u64,
    /// Calls that would have been asked about.
    pub asked: u64,
    /// Calls that would have been denied.
    pub denied: u64,
}

/// What one rule would have done.
#[derive(Debug, Default, Serialize)]
pub struct RuleCounts {
    /// Calls that it would have denied.
    pub denied: u64,
    /// Calls that it would have asked about.
    pub asked: u64,
    /// Reason of the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A few of these calls.
    pub examples: Vec<AuditedCall>,
}

/// One call that a rule would have objected to.
#[derive(Debug, Serialize)]
pub struct AuditedCall {
    /// Time of the call.
    pub at: Timestamp,
    /// Id of the harness.
    pub harness: String,
    /// Id of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Directory of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The verdict.
    pub verdict: Decision,
    /// The tool and what it was called with, without secrets.
    pub what: String,
}

/// How often the user would have been interrupted.
#[derive(Debug, Serialize)]
pub struct Interruptions {
    /// Questions in all.
    pub asked: u64,
    /// Sessions.
    pub sessions: usize,
    /// Sessions without a question.
    pub sessions_without: usize,
    /// Questions per session.
    pub per_session: f64,
    /// Most questions in one session.
    pub most_in_a_session: u64,
    /// Days with sessions.
    pub days: usize,
    /// Questions per day.
    pub per_day: f64,
    /// Most questions in one day.
    pub most_in_a_day: u64,
}

impl AuditFindings {
    /// Adds an event and what the rules say about it. Only events that could have been prevented count.
    pub fn add_event(&mut self, event: &Event, said: &Said) {
        let share = self.harnesses.entry(name_of(event)).or_default();
        let ms = event.ts.unix_ms();
        // A subagent that has a session of its own belongs to the one that started it.
        let own = event.agent.id.is_some() && event.agent.id == event.harness_session_id;
        let session = event.agent.parent.as_ref().filter(|_| own).or(event.harness_session_id.as_ref());
        let session = hash(&(&event.source, session));
        let asks = self.sessions.entry(session).or_insert_with(|| {
            share.sessions += 1;
            0
        });
        let day = self.days.entry(ms / DAY).or_default();
        if !matches!(event.event, EventKind::PreTool | EventKind::Prompt) {
            return;
        }
        let call = u64::from(event.event == EventKind::PreTool);
        self.calls += call;
        share.calls += call;
        self.first = Some(self.first.map_or(event.ts, |first| first.min(event.ts)));
        self.last = Some(self.last.map_or(event.ts, |last| last.max(event.ts)));
        let part = match said.decision {
            Decision::None | Decision::Allow => 0,
            Decision::Defer | Decision::Ask => 1,
            Decision::Deny => 2,
        };
        if part == 1 {
            (*asks, *day, share.asked) = (*asks + 1, *day + 1, share.asked + 1);
        }
        share.denied += u64::from(part == 2);
        if part > 0 || call > 0 {
            count(&mut self.verdicts, part);
            count(self.weeks.entry(monday(ms)).or_default(), part);
            let project = event.project.as_deref().unwrap_or("(not known)");
            let known = self.projects.contains_key(project) || self.projects.len() < NAMES;
            let project = if known { project } else { "(others)" };
            count(self.projects.entry(project.to_owned()).or_default(), part);
        }
        if part > 0 {
            self.objection(event, said);
        }
    }

    fn objection(&mut self, event: &Event, said: &Said) {
        let rule = self.rules.entry(said.rule.clone().unwrap_or_default()).or_default();
        if said.decision == Decision::Deny {
            rule.denied += 1;
        } else {
            rule.asked += 1;
        }
        if rule.reason.is_none() {
            rule.reason.clone_from(&said.reason);
        }
        // The same again teaches nothing.
        let what = strip_control_characters(&sanitize(&gist(event), LONGEST));
        if rule.examples.len() < EXAMPLES && rule.examples.iter().all(|known| known.what != what) {
            rule.examples.push(AuditedCall {
                at: event.ts,
                harness: event.source.clone(),
                session: event.harness_session_id.clone(),
                project: event.project.clone(),
                verdict: said.decision,
                what,
            });
        }
    }

    /// Adds a part of a transcript that was not understood.
    pub fn add_unread(&mut self, harness: &'static Harness, why: Unread) {
        let why = match why {
            Unread::Broken => "no JSON".to_owned(),
            Unread::TooLong => "too long".to_owned(),
            Unread::Partial => "a tool call or result of which a part is missing".to_owned(),
            Unread::Unknown(kind) if kind.is_empty() => "of no kind".to_owned(),
            Unread::Unknown(kind) => format!("of an unknown kind `{}`", strip_control_characters(&kind)),
        };
        let known = self.unread.len() < NAMES || self.unread.contains_key(&(harness.id, why.clone()));
        let why = if known { why } else { "of other unknown kinds".to_owned() };
        *self.unread.entry((harness.id, why)).or_default() += 1;
    }

    /// Adds transcripts that were not read.
    pub fn add_left_out(&mut self, harness: &'static Harness, left_out: Vec<LeftOut>) {
        self.left_out.extend(left_out.into_iter().map(|one| (harness.id, one)));
    }

    /// Adds transcripts of a harness that were read to their end.
    pub fn add_files(&mut self, harness: &'static Harness, files: usize) {
        if files > 0 {
            self.harnesses.entry(harness.id).or_default().files += files;
        }
    }

    /// Whether there were transcripts, and none of them could be read.
    pub fn is_fruitless(&self) -> bool {
        self.harnesses.is_empty() && !self.left_out.is_empty()
    }

    /// How often the user would have been interrupted.
    pub fn interruptions(&self) -> Interruptions {
        let [_, asked, _] = self.verdicts;
        let (sessions, days) = (self.sessions.len(), self.days.len());
        let sessions_without = self.sessions.values().filter(|asks| **asks == 0).count();
        Interruptions {
            asked,
            sessions,
            sessions_without,
            per_session: rate(asked, sessions),
            most_in_a_session: self.sessions.values().copied().max().unwrap_or(0),
            days,
            per_day: rate(asked, days),
            most_in_a_day: self.days.values().copied().max().unwrap_or(0),
        }
    }

    /// Rules, the busiest first.
    pub fn busiest(&self) -> Vec<(&String, &RuleCounts)> {
        let mut rules: Vec<_> = self.rules.iter().collect();
        rules.sort_by_key(|(name, rule)| (std::cmp::Reverse(rule.denied + rule.asked), *name));
        rules
    }

    /// Projects, those with the most objections first.
    pub fn troubled(&self) -> Vec<(&String, &Counts)> {
        let mut projects: Vec<_> = self.projects.iter().collect();
        projects.sort_by_key(|(name, [go, ask, deny])| (std::cmp::Reverse((ask + deny, *go)), *name));
        projects
    }

    /// The findings as JSON.
    pub fn to_json(&self, imported: Option<&ImportCounts>) -> Value {
        let sums = |[go, ask, deny]: &Counts| json!({"calls": go + ask + deny, "asked": ask, "denied": deny});
        let with = |name: &str, key: Value, counts: &Counts| {
            let mut value = sums(counts);
            if let Some(fields) = value.as_object_mut() {
                fields.insert(name.to_owned(), key);
            }
            value
        };
        let unread = |((harness, why), count): (&(&str, String), &u64)| json!({"harness": harness, "why": why, "count": count});
        let left_out = |(harness, one): &(&str, LeftOut)| json!({"harness": harness, "path": one.path.to_string_lossy(), "why": one.why});
        let [_, asked, denied] = self.verdicts;
        json!({
            "calls": self.calls,
            "asked": asked,
            "denied": denied,
            "from": self.first,
            "to": self.last,
            "interruptions": self.interruptions(),
            "harnesses": self.harnesses,
            "rules": self.rules,
            "projects": self.troubled().iter().map(|(name, counts)| with("project", json!(name), counts)).collect::<Vec<_>>(),
            "weeks": self.weeks.iter().map(|(ms, counts)| with("week", json!(day(*ms)), counts)).collect::<Vec<_>>(),
            "unread": self.unread.iter().map(unread).collect::<Vec<_>>(),
            "left_out": self.left_out.iter().map(left_out).collect::<Vec<_>>(),
            "imported": imported,
            "took_ms": self.took_ms,
        })
    }
}

/// The Monday before, at midnight in UTC. The first day of the epoch was a Thursday.
fn monday(ms: u64) -> u64 {
    let days = ms / DAY;
    days.saturating_sub((days + 3) % 7) * DAY
}

/// The day of a time, as `2026-11-15`.
pub fn day(ms: u64) -> String {
    Timestamp::from_unix_ms(ms).to_string().chars().take(10).collect()
}

fn count(counts: &mut Counts, part: usize) {
    if let Some(number) = counts.get_mut(part) {
        *number += 1;
    }
}

/// To two digits, as far as anybody reads.
fn rate(number: u64, of: usize) -> f64 {
    let of = u64::try_from(of).unwrap_or(u64::MAX).max(1);
    let hundredths = u32::try_from(number.saturating_mul(100) / of).unwrap_or(u32::MAX);
    f64::from(hundredths) / 100.0
}

fn hash(value: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The id of the event's harness, as the table has it.
fn name_of(event: &Event) -> &'static str {
    tenterhook_harness::find(&event.source).map_or("", |harness| harness.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_begin_on_monday() {
        let of = |text: &str| day(monday(text.parse::<Timestamp>().unwrap().unix_ms()));
        assert_eq!(of("2026-11-15T23:59:59Z"), "2026-11-09", "a Sunday");
        assert_eq!(of("2026-11-16T00:00:00Z"), "2026-11-16", "a Monday");
        assert_eq!(monday(0), 0, "before the first one there is none");
    }
}
