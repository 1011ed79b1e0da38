// SPDX-License-Identifier: Apache-2.0 OR MIT

//! No envelope grows without end, and nothing is cut without saying so.

use serde_json::{Value, json};
use tenterhook_event::Flow;

use crate::entry::{Body, Traced};

/// An id, a name.
pub(crate) const NAME: usize = 512;
/// A path, a reason.
const TEXT: usize = 4096;
/// A nudge, a note.
const REMARK: usize = 1024;
/// The whole trace; facts; the detail of a change.
const PART: usize = 14 * 1024;
const LINKS: usize = 64;

/// Bounds every field, so that the whole stays below [`crate::record::MAX_ENVELOPE`].
pub(crate) fn body(body: &mut Body) {
    let agent = &mut body.agent;
    let names = [
        &mut body.source,
        &mut body.native_event,
        &mut body.harness_session_id,
        &mut body.tool_use_id,
        &mut body.turn_id,
        &mut body.policy_rule_id,
        &mut body.generation,
        &mut body.what,
        &mut body.who,
        &mut agent.model,
        &mut agent.user,
        &mut agent.id,
        &mut agent.kind,
        &mut agent.parent,
    ];
    names.into_iter().flatten().for_each(|name| text(name, NAME));
    if let Some(tool) = &mut body.tool {
        text(&mut tool.name, NAME);
    }
    [&mut body.cwd, &mut body.project, &mut body.reason]
        .into_iter()
        .flatten()
        .for_each(|long| text(long, TEXT));
    if let Some(nudge) = &mut body.nudge {
        text(nudge, REMARK);
    }
    if let Some(Flow::Stop { reason: Some(reason) }) = &mut body.flow {
        text(reason, REMARK);
    }
    trace(&mut body.trace);
    [&mut body.facts, &mut body.detail].into_iter().flatten().for_each(value);
    body.links.truncate(LINKS);
}

/// Cuts a text that would take more than `max` bytes in JSON, and says how much is gone.
fn text(text: &mut String, max: usize) {
    if text.len() * 6 <= max {
        return;
    }
    let mut written = 0;
    let end = text.char_indices().find(|(_, c)| {
        written += width(*c);
        written > max
    });
    if let Some((at, _)) = end {
        let gone = text.len() - at;
        text.truncate(at);
        text.push_str(&format!("[[cut:{gone} bytes]]"));
    }
}

/// Whether a text would be cut.
pub(crate) fn is_longer(text: &str, max: usize) -> bool {
    text.len() * 6 > max && text.chars().map(width).sum::<usize>() > max
}

/// Bytes of a character in JSON.
fn width(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        c if c < ' ' => 6,
        c => c.len_utf8(),
    }
}

fn trace(trace: &mut Vec<Traced>) {
    let mut written = 0;
    for traced in trace.iter_mut() {
        if let Traced::Step(step) = traced
            && let Some(note) = &mut step.note
        {
            text(note, REMARK);
        }
    }
    let fits = trace.iter().take_while(|traced| {
        written += serde_json::to_string(traced).map_or(PART, |json| json.len() + 1);
        written <= PART
    });
    let fits = fits.count();
    if let Some(cut) = trace.len().checked_sub(fits).filter(|cut| *cut > 0) {
        trace.truncate(fits);
        trace.push(Traced::Cut { cut: u64::try_from(cut).unwrap_or(u64::MAX) });
    }
}

/// Bounds a value, and takes fractions out: two programs would not write them alike.
fn value(value: &mut Value) {
    without_fractions(value);
    let length = value.to_string().len();
    if length > PART {
        *value = json!({"cut": length});
    }
}

fn without_fractions(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => *value = Value::String(number.to_string()),
        Value::Array(items) => items.iter_mut().for_each(without_fractions),
        Value::Object(fields) => fields.values_mut().for_each(without_fractions),
        _ => {}
    }
}
