// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Counts over the calls of past sessions, with a few examples per rule.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hasher as _;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Value, json};
use tenterhook_event::plain_text::strip_control_characters;
use tenterhook_event::{Decision, Event, EventKind, Timestamp};
use tenterhook_guard::backtest::summarize_event;
use tenterhook_guard::replay::ReplayedVerdict;
use tenterhook_harness::Harness;
use tenterhook_records::sanitize;
use tenterhook_transcript::{SkippedFile, UnreadPart};

use crate::import::ImportCounts;
use tenterhook_report::html::chart::VerdictCounts;

/// Maximum number of examples per rule.
const MAX_EXAMPLES: usize = 3;
/// Maximum length of an example, in characters.
const MAX_EXAMPLE_CHARS: usize = 160;
/// Maximum number of distinct projects, and of distinct reasons for unread parts. Further ones are counted
/// together.
const MAX_NAMES: usize = 5_000;
const DAY_MS: u64 = 86_400_000;
/// Period of a bar of the chart, in milliseconds.
pub(crate) const WEEK_MS: u64 = 7 * DAY_MS;

/// Results of an audit.
#[derive(Debug, Default)]
pub struct AuditFindings {
    /// Harnesses whose transcripts were read, by id.
    pub harnesses: BTreeMap<&'static str, HarnessCounts>,
    /// Number of tool calls.
    pub calls: u64,
    /// Calls by verdict.
    pub verdicts: VerdictCounts,
    /// Time of the first call.
    pub first: Option<Timestamp>,
    /// Time of the last call.
    pub last: Option<Timestamp>,
    /// Rules that matched, by id.
    pub rules: BTreeMap<String, RuleCounts>,
    /// Calls by project and verdict.
    pub projects: BTreeMap<String, VerdictCounts>,
    /// Calls by week and verdict; the key is the Monday in milliseconds.
    pub weeks: BTreeMap<u64, VerdictCounts>,
    /// Number of calls that would have been asked about, by hash of the session.
    sessions: HashMap<u64, u64>,
    /// Number of calls that would have been asked about, by day.
    days: BTreeMap<u64, u64>,
    /// Parts of transcripts that could not be parsed, by harness and reason.
    pub unread: BTreeMap<(&'static str, String), u64>,
    /// Transcripts that were not read, with their harness.
    pub left_out: Vec<(&'static str, SkippedFile)>,
    /// Duration of the audit, in milliseconds.
    pub took_ms: u64,
    /// Searched directories, each with the harness's title.
    pub searched: Vec<(&'static str, PathBuf)>,
}

/// Counts of one harness.
#[derive(Debug, Default, Serialize)]
pub struct HarnessCounts {
    /// Transcripts that were read completely.
    pub files: usize,
    /// Number of sessions.
    pub sessions: u64,
    /// Number of tool calls.
    pub calls: u64,
    /// Calls that would have been asked about.
    pub asked: u64,
    /// Calls that would have been denied.
    pub denied: u64,
}

/// Counts of one rule.
#[derive(Debug, Default, Serialize)]
pub struct RuleCounts {
    /// Calls that it would have denied.
    pub denied: u64,
    /// Calls that it would have asked about.
    pub asked: u64,
    /// Reason that the rule gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Examples of these calls.
    pub examples: Vec<AuditedCall>,
}

/// A call that a rule would have denied or asked about.
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
    /// Verdict of the rules.
    pub verdict: Decision,
    /// The tool call, without secrets.
    pub what: String,
}

/// How often the user would have been interrupted.
#[derive(Debug, Serialize)]
pub struct Interruptions {
    /// Total number of calls that would have been asked about.
    pub asked: u64,
    /// Number of sessions.
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
    /// Adds an event and its verdict. Only events that can be prevented are counted.
    pub fn add_event(&mut self, event: &Event, verdict: &ReplayedVerdict) {
        let harness = self.harnesses.entry(harness_id(event)).or_default();
        let ms = event.ts.unix_ms();
        // A subagent with its own session belongs to the session that started it.
        let own = event.agent.id.is_some() && event.agent.id == event.harness_session_id;
        let session = event.agent.parent.as_ref().filter(|_| own).or(event.harness_session_id.as_ref());
        let session = hash(&(&event.source, session));
        let asks = self.sessions.entry(session).or_insert_with(|| {
            harness.sessions += 1;
            0
        });
        let day = self.days.entry(ms / DAY_MS).or_default();
        if !matches!(event.event, EventKind::PreTool | EventKind::Prompt) {
            return;
        }
        let call = u64::from(event.event == EventKind::PreTool);
        self.calls += call;
        harness.calls += call;
        self.first = Some(self.first.map_or(event.ts, |first| first.min(event.ts)));
        self.last = Some(self.last.map_or(event.ts, |last| last.max(event.ts)));
        let part = match verdict.decision {
            Decision::None | Decision::Allow => 0,
            Decision::Defer | Decision::Ask => 1,
            Decision::Deny => 2,
        };
        if part == 1 {
            (*asks, *day, harness.asked) = (*asks + 1, *day + 1, harness.asked + 1);
        }
        harness.denied += u64::from(part == 2);
        if part > 0 || call > 0 {
            count_verdict(&mut self.verdicts, part);
            count_verdict(self.weeks.entry(week_start(ms)).or_default(), part);
            let project = event.project.as_deref().unwrap_or("(unknown)");
            let known = self.projects.contains_key(project) || self.projects.len() < MAX_NAMES;
            let project = if known { project } else { "(others)" };
            count_verdict(self.projects.entry(project.to_owned()).or_default(), part);
        }
        if part > 0 {
            self.add_match(event, verdict);
        }
    }

    fn add_match(&mut self, event: &Event, verdict: &ReplayedVerdict) {
        let rule = self.rules.entry(verdict.rule.clone().unwrap_or_default()).or_default();
        if verdict.decision == Decision::Deny {
            rule.denied += 1;
        } else {
            rule.asked += 1;
        }
        if rule.reason.is_none() {
            rule.reason.clone_from(&verdict.reason);
        }
        // Skip duplicate examples.
        let what = strip_control_characters(&sanitize(&summarize_event(event), MAX_EXAMPLE_CHARS));
        if rule.examples.len() < MAX_EXAMPLES && rule.examples.iter().all(|known| known.what != what) {
            rule.examples.push(AuditedCall {
                at: event.ts,
                harness: event.source.clone(),
                session: event.harness_session_id.clone(),
                project: event.project.clone(),
                verdict: verdict.decision,
                what,
            });
        }
    }

    /// Adds a part of a transcript that could not be parsed.
    pub fn add_unread(&mut self, harness: &'static Harness, why: UnreadPart) {
        let why = match why {
            UnreadPart::Broken => "invalid JSON".to_owned(),
            UnreadPart::TooLong => "too long".to_owned(),
            UnreadPart::Partial => "incomplete tool call or result".to_owned(),
            UnreadPart::Unknown(kind) if kind.is_empty() => "without a type".to_owned(),
            UnreadPart::Unknown(kind) => format!("of unknown type `{}`", strip_control_characters(&kind)),
        };
        let known = self.unread.len() < MAX_NAMES || self.unread.contains_key(&(harness.id, why.clone()));
        let why = if known { why } else { "of other unknown types".to_owned() };
        *self.unread.entry((harness.id, why)).or_default() += 1;
    }

    /// Adds transcripts that were not read.
    pub fn add_left_out(&mut self, harness: &'static Harness, left_out: Vec<SkippedFile>) {
        self.left_out.extend(left_out.into_iter().map(|one| (harness.id, one)));
    }

    /// Adds transcripts of a harness that were read completely.
    pub fn add_files(&mut self, harness: &'static Harness, files: usize) {
        if files > 0 {
            self.harnesses.entry(harness.id).or_default().files += files;
        }
    }

    /// Whether transcripts were found, but none could be read.
    pub fn has_only_failures(&self) -> bool {
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

    /// Rules, sorted by the number of calls that they would have denied or asked about, largest first.
    pub fn rules_by_matches(&self) -> Vec<(&String, &RuleCounts)> {
        let mut rules: Vec<_> = self.rules.iter().collect();
        rules.sort_by_key(|(name, rule)| (std::cmp::Reverse(rule.denied + rule.asked), *name));
        rules
    }

    /// Projects, sorted by the number of calls that would have been denied or asked about, largest first.
    pub fn projects_by_matches(&self) -> Vec<(&String, &VerdictCounts)> {
        let mut projects: Vec<_> = self.projects.iter().collect();
        projects.sort_by_key(|(name, [go, ask, deny])| (std::cmp::Reverse((ask + deny, *go)), *name));
        projects
    }

    /// Examples of calls that would have been stopped, with their rules: one for each rule, denied calls first, then
    /// the newest.
    pub fn highlights(&self, limit: usize) -> Vec<(&str, &AuditedCall)> {
        let examples = self.rules.iter().filter_map(|(name, rule)| {
            Some((name.as_str(), rule.examples.iter().max_by_key(|call| call.at)?))
        });
        let mut examples: Vec<_> = examples.collect();
        examples
            .sort_by_key(|(name, call)| (call.verdict != Decision::Deny, std::cmp::Reverse(call.at), *name));
        examples.truncate(limit);
        examples
    }

    /// Number of sessions.
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// The findings as JSON.
    pub fn to_json(&self, imported: Option<&ImportCounts>) -> Value {
        let sums =
            |[go, ask, deny]: &VerdictCounts| json!({"calls": go + ask + deny, "asked": ask, "denied": deny});
        let with = |name: &str, key: Value, counts: &VerdictCounts| {
            let mut value = sums(counts);
            if let Some(fields) = value.as_object_mut() {
                fields.insert(name.to_owned(), key);
            }
            value
        };
        let unread = |((harness, why), count): (&(&str, String), &u64)| json!({"harness": harness, "why": why, "count": count});
        let left_out = |(harness, one): &(&str, SkippedFile)| json!({"harness": harness, "path": one.path.to_string_lossy(), "why": one.why});
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
            "projects": self.projects_by_matches().iter().map(|(name, counts)| with("project", json!(name), counts)).collect::<Vec<_>>(),
            "weeks": self.weeks.iter().map(|(ms, counts)| with("week", json!(format_day(*ms)), counts)).collect::<Vec<_>>(),
            "unread": self.unread.iter().map(unread).collect::<Vec<_>>(),
            "left_out": self.left_out.iter().map(left_out).collect::<Vec<_>>(),
            "imported": imported,
            "took_ms": self.took_ms,
        })
    }
}

/// Start of the week: Monday, midnight UTC. The first day of the epoch was a Thursday.
fn week_start(ms: u64) -> u64 {
    let days = ms / DAY_MS;
    days.saturating_sub((days + 3) % 7) * DAY_MS
}

/// Formats the day of a time: `2026-11-15`.
pub fn format_day(ms: u64) -> String {
    Timestamp::from_unix_ms(ms).to_string().chars().take(10).collect()
}

fn count_verdict(counts: &mut VerdictCounts, part: usize) {
    if let Some(number) = counts.get_mut(part) {
        *number += 1;
    }
}

/// A rate with two decimal digits.
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

/// Id of the event's harness in the harness table.
fn harness_id(event: &Event) -> &'static str {
    tenterhook_harness::find_harness(&event.source).map_or("", |harness| harness.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_begin_on_monday() {
        let of = |text: &str| format_day(week_start(text.parse::<Timestamp>().unwrap().unix_ms()));
        assert_eq!(of("2026-11-15T23:59:59Z"), "2026-11-09", "a Sunday");
        assert_eq!(of("2026-11-16T00:00:00Z"), "2026-11-16", "a Monday");
        assert_eq!(week_start(0), 0, "the first week starts at the epoch");
    }
}
