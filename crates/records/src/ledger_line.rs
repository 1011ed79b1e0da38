// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A record in one line.

use tenterhook_api::{LedgerLine, ToolGist};
use tenterhook_ledger::StoredRecord;

use crate::recorded::{self, JsonField as _};
use crate::sanitize;

/// Maximum length of the summary in a line; longer ones are cut.
const MAX_GIST_CHARS: usize = 300;
/// Fields of the payload that contain what was said, in order of preference.
const SAID_FIELDS: [&str; 5] = ["prompt", "response", "message", "error", "cause"];

/// Summarizes a record. Secrets were already redacted when the record was written.
pub fn ledger_line(record: &StoredRecord) -> LedgerLine {
    let (leaf, payload) = (recorded::envelope(record), recorded::payload(record));
    let detail = payload.field("detail");
    let said = SAID_FIELDS.iter().find_map(|key| detail.field(key).as_str());
    let tool = recorded::tool(&leaf, &payload).map(|tool| {
        // A call without arguments has nothing to show.
        let gist = if tool.args.is_null() { String::new() } else { sanitize(&tool.gist(), MAX_GIST_CHARS) };
        ToolGist { name: tool.name, class: tool.class, gist: Some(gist) }
    });
    LedgerLine {
        seq: record.seq,
        kind: leaf.text("kind"),
        ts: leaf.text("ts").and_then(|ts| ts.parse().ok()),
        harness: leaf.text("source"),
        event: leaf.text("event"),
        session: leaf.text("harness_session_id"),
        tool,
        said: said.map(|text| sanitize(text, MAX_GIST_CHARS)),
        verdict: leaf.text("verdict"),
        rule: leaf.text("policy_rule_id"),
        by: recorded::decided_by(&leaf),
        reason: leaf.text("reason"),
        what: leaf.text("what"),
        who: leaf.text("who"),
        took_us: leaf.field("took_us").as_u64(),
        pruned: record.bytes.is_none(),
    }
}
