// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The daemon's answers, in our words. The border: every text that comes through is [plain](crate::plain).

mod card;
mod decision;
mod health;
mod line;
mod session;

use serde_json::Value;
use tenterhook_event::Timestamp;

pub(crate) use card::Card;
pub(crate) use decision::{Decided, Part};
pub(crate) use health::{Health, Ledger};
pub(crate) use line::Line;
pub(crate) use session::{Detail, Mark, Session, Step};

use crate::plain;

/// A field, or nothing.
fn at<'a>(value: &'a Value, key: &str) -> &'a Value {
    static NULL: Value = Value::Null;
    value.get(key).unwrap_or(&NULL)
}

/// A text on one line; empty when it is not there.
fn text(value: &Value, key: &str) -> String {
    some(value, key).unwrap_or_default()
}

/// A text on one line, if it is there.
fn some(value: &Value, key: &str) -> Option<String> {
    at(value, key).as_str().map(plain::line)
}

/// A text with its lines.
fn lines(value: &Value, key: &str) -> Vec<String> {
    at(value, key).as_str().map(plain::lines).unwrap_or_default()
}

fn number(value: &Value, key: &str) -> u64 {
    at(value, key).as_u64().unwrap_or_default()
}

/// A moment, in milliseconds.
fn moment(value: &Value, key: &str) -> u64 {
    let read = |text: &str| text.parse::<Timestamp>().ok().map(Timestamp::unix_ms);
    at(value, key).as_str().and_then(read).unwrap_or_default()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    at(value, key).as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Names with their numbers, the largest first.
fn counts(value: &Value) -> Vec<(String, u64)> {
    let fields = value.as_object().into_iter().flatten();
    let mut counts: Vec<_> =
        fields.map(|(name, count)| (plain::line(name), count.as_u64().unwrap_or_default())).collect();
    counts.sort_by(|(a, many), (b, more)| more.cmp(many).then(a.cmp(b)));
    counts
}

/// JSON as people read it. Quoting makes most of it plain already; letters that reorder text are not.
fn pretty(value: &Value) -> Vec<String> {
    plain::lines(&serde_json::to_string_pretty(value).unwrap_or_default())
}
