// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Returns the ledger as a table with one short line per record.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use tenterhook_api::{LedgerLine, LedgerLines, LedgerQuery, ToolGist};
use tenterhook_ledger::StoredRecord;
use tenterhook_records::recorded::{self, JsonField};

use super::filter::ledger_filter;
use crate::api::error::ApiError;
use crate::api::extract::QueryParams;
use crate::daemon::Daemon;
use tenterhook_records::sanitize;

/// Maximum length of the summary in a line; longer ones are cut.
const MAX_GIST_CHARS: usize = 300;

pub(super) async fn lines(
    State(daemon): State<Arc<Daemon>>,
    QueryParams(query): QueryParams<LedgerQuery>,
) -> Result<Json<LedgerLines>, ApiError> {
    let (limit, before) = (query.limit.unwrap_or(100).min(1000), query.before);
    let filter = ledger_filter(query.filter(), before)?;
    let found = daemon.readers.with(move |reader| {
        let found = reader.query(&filter, limit)?;
        let lines = found.records.iter().map(ledger_line).collect();
        Ok(LedgerLines { lines, next: found.next, size: reader.size()? })
    });
    found.await.map(Json)
}

/// Summarizes a record. Secrets were already redacted when the record was written.
fn ledger_line(record: &StoredRecord) -> LedgerLine {
    let (leaf, payload) = (recorded::envelope(record), recorded::payload(record));
    let detail = payload.field("detail");
    let said = ["prompt", "response", "message", "error", "cause"];
    let said =
        said.iter().find_map(|key| detail.field(key).as_str()).map(|text| sanitize(text, MAX_GIST_CHARS));
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
        said,
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
