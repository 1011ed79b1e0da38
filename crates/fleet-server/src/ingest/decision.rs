// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the records that become rows, and counts the others by the hour.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use tenterhook_event::Timestamp;
use tenterhook_fleet_protocol::BatchRecord;

/// Maximum length of a text column; the envelope has the whole text.
const MAX_TEXT_CHARS: usize = 400;

/// A record that becomes a row: asked, denied, rewritten, failed, or a change of protection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DecisionRecord {
    pub(crate) record: u64,
    pub(crate) at: SystemTime,
    pub(crate) kind: String,
    pub(crate) verdict: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) harness: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) rule: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) actor: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) rewritten: bool,
    pub(crate) envelope: String,
}

/// Number of calls by hour, harness and verdict.
pub(crate) type HourlyCounts = BTreeMap<(SystemTime, String, String), i64>;

/// The fields of an envelope that are searched for.
#[derive(Deserialize)]
struct SearchedFields {
    kind: String,
    ts: Timestamp,
    source: Option<String>,
    event: Option<String>,
    harness_session_id: Option<String>,
    tool: Option<SearchedTool>,
    #[serde(default)]
    agent: SearchedAgent,
    cwd: Option<String>,
    verdict: Option<String>,
    reason: Option<String>,
    policy_rule_id: Option<String>,
    #[serde(default)]
    trace: Vec<SearchedStep>,
    #[serde(default)]
    rewritten: bool,
    what: Option<String>,
    who: Option<String>,
}

#[derive(Deserialize)]
struct SearchedTool {
    name: String,
}

#[derive(Deserialize, Default)]
struct SearchedAgent {
    user: Option<String>,
}

#[derive(Deserialize)]
struct SearchedStep {
    #[serde(default)]
    status: String,
}

impl SearchedFields {
    fn is_row(&self) -> bool {
        let failed = || self.trace.iter().any(|step| matches!(step.status.as_str(), "failed" | "timed-out"));
        match self.kind.as_str() {
            "change" | "erase" | "prune" | "rotate" => true,
            "decision" => {
                matches!(self.verdict.as_deref(), Some("ask" | "deny"))
                    || self.rewritten
                    || self.event.as_deref() == Some("tool-error")
                    || failed()
            }
            _ => false,
        }
    }
}

/// Reads new records: returns the rows, and adds the calls to the counts.
pub(crate) fn read_records(
    from: u64,
    records: &[BatchRecord],
    counts: &mut HourlyCounts,
) -> Vec<DecisionRecord> {
    let mut rows = Vec::new();
    for (record, number) in records.iter().zip(from..) {
        let BatchRecord::Envelope(bytes) = record else { continue };
        // The bytes were signed by the machine. What cannot be read stays in its batch.
        let Ok(fields) = serde_json::from_slice::<SearchedFields>(bytes) else { continue };
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(fields.ts.unix_ms());
        if fields.kind == "decision" {
            let name = |text: &Option<String>| -> String {
                short(text.clone().unwrap_or_default()).chars().take(MAX_COUNTED_NAME_CHARS).collect()
            };
            let (harness, verdict) = (name(&fields.source), name(&fields.verdict));
            let count = counts.entry((hour_of(fields.ts), harness, verdict)).or_default();
            *count = count.saturating_add(1);
        }
        if fields.is_row() {
            rows.push(decision_record(number, at, fields, bytes));
        }
    }
    rows
}

fn decision_record(record: u64, at: SystemTime, fields: SearchedFields, bytes: &[u8]) -> DecisionRecord {
    let optional = |text: Option<String>| text.map(short);
    DecisionRecord {
        record,
        at,
        kind: short(fields.kind),
        verdict: optional(fields.verdict),
        event: optional(fields.event),
        harness: optional(fields.source),
        tool: optional(fields.tool.map(|tool| tool.name)),
        rule: optional(fields.policy_rule_id),
        session: optional(fields.harness_session_id),
        actor: optional(fields.agent.user.or(fields.who)),
        cwd: optional(fields.cwd),
        reason: optional(fields.reason.or(fields.what)),
        rewritten: fields.rewritten,
        envelope: String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}"),
    }
}

/// Maximum length of a harness or a verdict that is counted: both are part of an index.
const MAX_COUNTED_NAME_CHARS: usize = 64;

fn hour_of(at: Timestamp) -> SystemTime {
    let seconds = at.unix_ms() / 1000;
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds - seconds % 3600)
}

/// Limits a text, and replaces the one character that PostgreSQL does not store.
fn short(text: String) -> String {
    if text.len() <= MAX_TEXT_CHARS && !text.contains('\0') {
        return text;
    }
    text.replace('\0', "\u{fffd}").chars().take(MAX_TEXT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> (Vec<DecisionRecord>, HourlyCounts) {
        let records: Vec<_> =
            lines.iter().map(|line| BatchRecord::Envelope(line.as_bytes().to_vec())).collect();
        let mut counts = HourlyCounts::new();
        (read_records(7, &records, &mut counts), counts)
    }

    #[test]
    fn only_asked_denied_rewritten_and_failed_calls_and_changes_become_rows() {
        let line = |rest: &str| format!(r#"{{"v":1,"seq":1,"ts":"2026-11-15T07:59:59.991Z",{rest}}}"#);
        let lines = [
            line(r#""kind":"decision","verdict":"allow","source":"codex""#),
            line(r#""kind":"decision","verdict":"deny","source":"codex","policy_rule_id":"r""#),
            line(r#""kind":"decision","verdict":"none","event":"tool-error""#),
            line(r#""kind":"decision","verdict":"none","trace":[{"by":"x","status":"timed-out"}]"#),
            line(r#""kind":"change","what":"mode","who":"dev""#),
            line(r#""kind":"seen""#),
            line(r#""kind":"decision","verdict":"allow","rewritten":true"#),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let (rows, counts) = read(&lines);
        let numbers: Vec<u64> = rows.iter().map(|row| row.record).collect();
        assert_eq!(numbers, [8, 9, 10, 11, 13]);
        assert!(rows[4].rewritten && !rows[0].rewritten);
        assert_eq!(rows[0].rule.as_deref(), Some("r"));
        assert_eq!((rows[3].reason.as_deref(), rows[3].actor.as_deref()), (Some("mode"), Some("dev")));
        assert_eq!(counts.values().sum::<i64>(), 5);
        assert_eq!(counts.len(), 4, "{counts:?}");
    }

    #[test]
    fn text_that_the_database_cannot_store_is_replaced() {
        let line =
            r#"{"ts":"2026-11-15T07:59:59.991Z","kind":"decision","verdict":"deny","reason":"a\u0000b"}"#;
        let (rows, _) = read(&[line, "not json", "{}"]);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].reason.as_deref(), Some("a\u{fffd}b"));
    }
}
