// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses the daemon's answers. Every string passes through [`plain`](crate::plain).

mod call_row;
mod decision_detail;
mod decision_row;
mod explanation;
mod health;
mod pending_approval;
mod session_row;

use serde_json::Value;
use tenterhook_event::Timestamp;

pub(crate) use call_row::{CallRow, LiveCallPart};
pub(crate) use decision_detail::{DecisionDetail, TraceRow};
pub(crate) use decision_row::DecisionRow;
pub(crate) use explanation::{ExplanationDetail, RuleDraft};
pub(crate) use health::{HealthSummary, LedgerCounts};
pub(crate) use pending_approval::PendingApproval;
pub(crate) use session_row::{SessionDetail, SessionRow, TimelineRow, TodoMark};

use crate::plain;

/// Returns a field; null if it is missing.
fn field<'a>(value: &'a Value, key: &str) -> &'a Value {
    static NULL: Value = Value::Null;
    value.get(key).unwrap_or(&NULL)
}

/// Returns a string on one line; empty if it is missing.
fn text_field(value: &Value, key: &str) -> String {
    optional_text(value, key).unwrap_or_default()
}

/// Returns a string on one line, if it is present.
fn optional_text(value: &Value, key: &str) -> Option<String> {
    field(value, key).as_str().map(plain::single_line)
}

/// Returns a string with its line breaks.
fn text_lines(value: &Value, key: &str) -> Vec<String> {
    field(value, key).as_str().map(plain::text_lines).unwrap_or_default()
}

fn number_field(value: &Value, key: &str) -> u64 {
    field(value, key).as_u64().unwrap_or_default()
}

/// Returns a time in milliseconds.
fn time_ms(value: &Value, key: &str) -> u64 {
    let read = |text: &str| text.parse::<Timestamp>().ok().map(Timestamp::unix_ms);
    field(value, key).as_str().and_then(read).unwrap_or_default()
}

fn array_field<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    field(value, key).as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns counts by name, largest first.
fn sorted_counts(value: &Value) -> Vec<(String, u64)> {
    let fields = value.as_object().into_iter().flatten();
    let mut counts: Vec<_> =
        fields.map(|(name, count)| (plain::single_line(name), count.as_u64().unwrap_or_default())).collect();
    counts.sort_by(|(a, many), (b, more)| more.cmp(many).then(a.cmp(b)));
    counts
}

/// Formats JSON with indentation. JSON escapes control characters, but not characters that reorder text.
fn pretty_lines(value: &Value) -> Vec<String> {
    plain::text_lines(&serde_json::to_string_pretty(value).unwrap_or_default())
}
