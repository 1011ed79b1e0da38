// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The timeline of a session: its records, page by page from the end.

use tenterhook_api::{Timeline, TimelineStep, ToolGist};
use tenterhook_ledger::{Filter, ReadError, Reader, StoredRecord};
use tenterhook_records::recorded::{self, JsonField as _};

use super::SessionKey;
use tenterhook_records::sanitize;

/// Maximum length of a step's text, in characters.
const MAX_STEP_CHARS: usize = 500;

/// Returns a page of steps, oldest first, and the position of the page before it.
pub fn timeline(
    reader: &Reader,
    key: &SessionKey,
    before: Option<u64>,
    limit: u64,
) -> Result<Timeline, ReadError> {
    let (session, harness) = (Some(key.id.clone()), Some(key.harness.clone()));
    let filter = Filter { session, harness, before, ..Filter::default() };
    let found = reader.query(&filter, limit)?;
    Ok(Timeline { steps: found.records.iter().rev().map(timeline_step).collect(), next: found.next })
}

/// Converts a record to a step. The ledger has already removed secrets.
fn timeline_step(record: &StoredRecord) -> TimelineStep {
    let (fields, payload) = (recorded::envelope(record), recorded::payload(record));
    let detail = payload.field("detail");
    let said = ["prompt", "response", "message", "error", "cause"];
    let said =
        said.iter().find_map(|key| detail.field(key).as_str()).map(|text| sanitize(text, MAX_STEP_CHARS));
    let erased = recorded::is_erased(record);
    let gone = erased || (payload.is_null() && !fields.field("payload").is_null());
    let tool = recorded::tool(&fields, &payload).map(|tool| {
        let gist = if gone { String::new() } else { sanitize(&tool.gist(), MAX_STEP_CHARS) };
        ToolGist { name: tool.name, class: tool.class, gist: Some(gist) }
    });
    TimelineStep {
        seq: record.seq,
        id: fields.text("id"),
        ts: fields.text("ts").and_then(|ts| ts.parse().ok()),
        event: fields.text("event"),
        native_event: fields.text("native_event"),
        tool,
        tool_use_id: fields.text("tool_use_id"),
        turn: fields.text("turn_id"),
        session_check: serde_json::from_value(fields.field("session_check").clone()).ok(),
        agent: serde_json::from_value(fields.field("agent").clone()).ok(),
        said,
        verdict: fields.text("verdict"),
        rule: fields.text("policy_rule_id"),
        by: recorded::decided_by(&fields),
        reason: fields.text("reason"),
        nudge: fields.text("nudge"),
        took_us: fields.field("took_us").as_u64(),
        ran_ms: detail.field("duration_ms").as_u64(),
        pruned: record.bytes.is_none(),
        erased,
        undelivered: record.undelivered,
    }
}
