// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A session's timeline: its leaves, a page at a time from the end.

use serde_json::{Value, json};
use tenterhook_home::recorded::{self, Field as _};
use tenterhook_ledger::{Filter, ReadFailed, Reader, Record};

use super::{Key, clean};

/// The longest text of a step.
const GIST: usize = 500;

/// A page of a session's steps, oldest first, and where the page before it begins.
pub(crate) fn timeline(
    reader: &Reader,
    key: &Key,
    before: Option<u64>,
    limit: u64,
) -> Result<(Vec<Value>, Option<u64>), ReadFailed> {
    let (session, harness) = (Some(key.id.clone()), Some(key.harness.clone()));
    let filter = Filter { session, harness, before, ..Filter::default() };
    let found = reader.query(&filter, limit)?;
    Ok((found.records.iter().rev().map(step).collect(), found.next))
}

/// One leaf as one line of a timeline. The ledger took the secrets out already.
fn step(record: &Record) -> Value {
    let (leaf, payload) = (recorded::leaf(record), recorded::payload(record));
    let detail = payload.field("detail");
    let said = ["prompt", "response", "message", "error", "cause"];
    let said = said.iter().find_map(|key| detail.field(key).as_str()).map(|text| clean(text, GIST));
    let erased = record.payload.as_ref().is_some_and(|payload| payload.salt.is_none());
    let gone = erased || (payload.is_null() && !leaf.field("payload").is_null());
    let tool = recorded::tool(&leaf, &payload).map(|tool| {
        let gist = if gone { String::new() } else { clean(&tool.gist(), GIST) };
        json!({"name": tool.name, "class": tool.class, "gist": gist})
    });
    json!({
        "seq": record.seq,
        "id": leaf.field("id"),
        "ts": leaf.field("ts"),
        "event": leaf.field("event"),
        "native_event": leaf.field("native_event"),
        "tool": tool,
        "tool_use_id": leaf.field("tool_use_id"),
        "turn": leaf.field("turn_id"),
        "session_check": leaf.field("session_check"),
        "agent": leaf.field("agent"),
        "said": said,
        "verdict": leaf.field("verdict"),
        "rule": leaf.field("policy_rule_id"),
        "by": recorded::decided_by(&leaf),
        "reason": leaf.field("reason"),
        "nudge": leaf.field("nudge"),
        "took_us": leaf.field("took_us"),
        "ran_ms": detail.field("duration_ms"),
        "pruned": record.bytes.is_none(),
        "erased": erased,
        "undelivered": record.undelivered,
    })
}
