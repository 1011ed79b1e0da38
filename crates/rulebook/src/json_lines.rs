// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads commands and events from JSON lines, and writes rulings as JSON lines.

use std::io::{BufRead, Read as _};

use serde::Serialize;
use serde_json::{Map, Value};
use tenterhook_error::Failure;
use tenterhook_event::{Decision, Event};

use crate::{Rulebook, Ruling, read_strict_json};

/// Builds the event for a command and the directory in which it would run.
pub type CommandEventFn<'a> = dyn Fn(&str, Option<&str>) -> Event + 'a;

/// A ruling as one line of JSON.
#[derive(Debug, Serialize)]
pub struct RulingLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    verdict: Decision,
    rule: Option<&'a str>,
    reason: Option<&'a str>,
}

impl<'a> RulingLine<'a> {
    /// Creates the line for a ruling. `id` is the caller's name for it.
    pub fn new(ruling: &'a Ruling, id: Option<Value>) -> Self {
        let Ruling { verdict, rule, reason, .. } = ruling;
        Self { id, verdict: *verdict, rule: rule.as_deref(), reason: reason.as_deref() }
    }
}

/// Evaluates one line of JSON: a command with its directory, or a whole event. Also returns the line's `id`.
pub fn judge_line(
    book: &Rulebook,
    line: &[u8],
    about: &CommandEventFn<'_>,
) -> Result<(Ruling, Option<Value>), Failure> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Err(Failure::user("the line is empty"));
    }
    let value =
        read_strict_json(line).map_err(|error| Failure::user(format!("the line is not JSON: {error}")))?;
    let Value::Object(fields) = value else { return Err(Failure::user("the line is not a JSON object")) };
    let id = fields.get("id").cloned();
    let event = if fields.contains_key("event") {
        serde_json::from_value::<Event>(Value::Object(fields))
            .map_err(|error| Failure::user(format!("the line is not a valid event: {error}")))?
    } else {
        event_from_command(&fields, about)?
    };
    Ok((book.strictest_ruling(&event), id))
}

fn event_from_command(fields: &Map<String, Value>, about: &CommandEventFn<'_>) -> Result<Event, Failure> {
    let text = |key: &str| match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(Failure::user(format!("`{key}` is not a text"))),
    };
    let command = text("command")?.ok_or_else(|| Failure::user("neither `command` nor `event` is given"))?;
    Ok(about(command, text("cwd")?))
}

/// Reads one line including its line break. Returns false at the end of the input. A line longer than `max_bytes` is
/// cut after `max_bytes` + 1 bytes.
pub fn read_line_bounded(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    max_bytes: usize,
) -> std::io::Result<bool> {
    line.clear();
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX) + 1;
    let read = input.by_ref().take(limit).read_until(b'\n', line)?;
    if is_too_long(line, max_bytes) {
        skip_line(input)?;
    }
    Ok(read > 0)
}

/// Whether a line was longer than `max_bytes`.
pub fn is_too_long(line: &[u8], max_bytes: usize) -> bool {
    line.len() > max_bytes && line.last() != Some(&b'\n')
}

fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let (used, done) = end.map_or((buffer.len(), buffer.is_empty()), |at| (at + 1, true));
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}
