// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Limits on envelope fields. Everything that is truncated is marked with `cut`.

use serde_json::{Value, json};
use tenterhook_event::Flow;

use crate::entry::{EntryBody, RecordedStep};

/// Maximum length of an id or name, as JSON.
pub(crate) const MAX_NAME_BYTES: usize = 512;
/// Maximum length of a path or reason, as JSON.
const MAX_TEXT_BYTES: usize = 4096;
/// Maximum length of a suggestion or note, as JSON.
const MAX_REMARK_BYTES: usize = 1024;
/// Maximum length, as JSON, of each of these: the complete trace, the facts, and the details of a change.
const MAX_PART_BYTES: usize = 14 * 1024;
const MAX_LINKS: usize = 64;

/// Limits every field, so that the envelope does not exceed [`crate::envelope::MAX_ENVELOPE_BYTES`].
pub(crate) fn limit_body(body: &mut EntryBody) {
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
    names.into_iter().flatten().for_each(|name| truncate_text(name, MAX_NAME_BYTES));
    if let Some(tool) = &mut body.tool {
        truncate_text(&mut tool.name, MAX_NAME_BYTES);
    }
    [&mut body.cwd, &mut body.project, &mut body.reason]
        .into_iter()
        .flatten()
        .for_each(|text| truncate_text(text, MAX_TEXT_BYTES));
    if let Some(nudge) = &mut body.nudge {
        truncate_text(nudge, MAX_REMARK_BYTES);
    }
    if let Some(Flow::Stop { reason: Some(reason) }) = &mut body.flow {
        truncate_text(reason, MAX_REMARK_BYTES);
    }
    limit_trace(&mut body.trace);
    [&mut body.facts, &mut body.detail].into_iter().flatten().for_each(limit_value);
    body.links.truncate(MAX_LINKS);
}

/// Truncates a string that takes more than `max` bytes in JSON, and appends the number of bytes cut.
fn truncate_text(text: &mut String, max: usize) {
    if text.len() * 6 <= max {
        return;
    }
    let mut written = 0;
    let end = text.char_indices().find(|(_, c)| {
        written += json_width(*c);
        written > max
    });
    if let Some((at, _)) = end {
        let cut = text.len() - at;
        text.truncate(at);
        text.push_str(&format!("[[cut:{cut} bytes]]"));
    }
}

/// Whether a string takes more than `max` bytes in JSON.
pub(crate) fn exceeds_limit(text: &str, max: usize) -> bool {
    text.len() * 6 > max && text.chars().map(json_width).sum::<usize>() > max
}

fn json_width(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        c if c < ' ' => 6,
        c => c.len_utf8(),
    }
}

fn limit_trace(trace: &mut Vec<RecordedStep>) {
    let mut written = 0;
    for traced in trace.iter_mut() {
        if let RecordedStep::Step(step) = traced
            && let Some(note) = &mut step.note
        {
            truncate_text(note, MAX_REMARK_BYTES);
        }
    }
    let fits = trace.iter().take_while(|traced| {
        written += serde_json::to_string(traced).map_or(MAX_PART_BYTES, |json| json.len() + 1);
        written <= MAX_PART_BYTES
    });
    let fits = fits.count();
    if let Some(cut) = trace.len().checked_sub(fits).filter(|cut| *cut > 0) {
        trace.truncate(fits);
        trace.push(RecordedStep::Cut { cut: u64::try_from(cut).unwrap_or(u64::MAX) });
    }
}

/// Limits a value. Fractional numbers become strings, because two programs may format them differently.
fn limit_value(value: &mut Value) {
    fractions_to_text(value);
    let length = value.to_string().len();
    if length > MAX_PART_BYTES {
        *value = json!({"cut": length});
    }
}

fn fractions_to_text(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => *value = Value::String(number.to_string()),
        Value::Array(items) => items.iter_mut().for_each(fractions_to_text),
        Value::Object(fields) => fields.values_mut().for_each(fractions_to_text),
        _ => {}
    }
}
