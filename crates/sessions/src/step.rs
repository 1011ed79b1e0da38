// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A session's timeline: its leaves, a page at a time from the end.

use tenterhook_api::{Timeline, TimelineStep, ToolGist};
use tenterhook_ledger::{Filter, ReadFailed, Reader, Record};
use tenterhook_records::recorded::{self, Field as _};

use super::SessionKey;
use tenterhook_records::sanitize;

/// The longest text of a step.
const GIST: usize = 500;

/// A page of a session's steps, oldest first, and where the page before it begins.
pub fn timeline(
    reader: &Reader,
    key: &SessionKey,
    before: Option<u64>,
    limit: u64,
) -> Result<Timeline, ReadFailed> {
    let (session, harness) = (Some(key.id.clone()), Some(key.harness.clone()));
    let filter = Filter { session, harness, before, ..Filter::default() };
    let found = reader.query(&filter, limit)?;
    Ok(Timeline { steps: found.records.iter().rev().map(step).collect(), next: found.next })
}

/// One leaf as one line of a timeline. The ledger took the secrets out already.
fn step(record: &Record) -> TimelineStep {
    let (leaf, payload) = (recorded::leaf(record), recorded::payload(record));
    let detail = payload.field("detail");
    let said = ["prompt", "response", "message", "error", "cause"];
    let said = said.iter().find_map(|key| detail.field(key).as_str()).map(|text| sanitize(text, GIST));
    let erased = recorded::is_erased(record);
    let gone = erased || (payload.is_null() && !leaf.field("payload").is_null());
    let tool = recorded::tool(&leaf, &payload).map(|tool| {
        let gist = if gone { String::new() } else { sanitize(&tool.gist(), GIST) };
        ToolGist { name: tool.name, class: tool.class, gist: Some(gist) }
    });
    TimelineStep {
        seq: record.seq,
        id: leaf.text("id"),
        ts: leaf.text("ts").and_then(|ts| ts.parse().ok()),
        event: leaf.text("event"),
        native_event: leaf.text("native_event"),
        tool,
        tool_use_id: leaf.text("tool_use_id"),
        turn: leaf.text("turn_id"),
        session_check: serde_json::from_value(leaf.field("session_check").clone()).ok(),
        agent: serde_json::from_value(leaf.field("agent").clone()).ok(),
        said,
        verdict: leaf.text("verdict"),
        rule: leaf.text("policy_rule_id"),
        by: recorded::decided_by(&leaf),
        reason: leaf.text("reason"),
        nudge: leaf.text("nudge"),
        took_us: leaf.field("took_us").as_u64(),
        ran_ms: detail.field("duration_ms").as_u64(),
        pruned: record.bytes.is_none(),
        erased,
        undelivered: record.undelivered,
    }
}
