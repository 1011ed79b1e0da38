// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The ledger as a table: a leaf is one short line.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tenterhook_home::recorded::{self, Field};
use tenterhook_ledger::Record;

use super::filter::Asked;
use crate::daemon::Daemon;
use crate::sessions::clean;

/// The longest text of a call that is shown in a line.
const GIST: usize = 300;

pub(super) async fn lines(State(daemon): State<Arc<Daemon>>, Query(asked): Query<Asked>) -> Response {
    let limit = asked.limit.unwrap_or(100).min(1000);
    let filter = match asked.filter() {
        Ok(filter) => filter,
        Err(response) => return *response,
    };
    let found = daemon.readers.with(move |reader| {
        let found = reader.query(&filter, limit)?;
        let lines: Vec<_> = found.records.iter().map(line).collect();
        Ok(json!({"lines": lines, "next": found.next, "size": reader.size()?}))
    });
    match found.await {
        Ok(page) => Json(page).into_response(),
        Err(response) => *response,
    }
}

/// One leaf in short. The ledger took the secrets out already.
fn line(record: &Record) -> Value {
    let (leaf, payload) = (recorded::leaf(record), recorded::payload(record));
    let detail = payload.field("detail");
    let said = ["prompt", "response", "message", "error", "cause"];
    let said = said.iter().find_map(|key| detail.field(key).as_str()).map(|text| clean(text, GIST));
    let tool = recorded::tool(&leaf, &payload).map(|tool| {
        // Without its arguments a call is about nothing that could be shown.
        let gist = if tool.args.is_null() { String::new() } else { clean(&tool.gist(), GIST) };
        json!({"name": tool.name, "class": tool.class, "gist": gist})
    });
    json!({
        "seq": record.seq,
        "kind": leaf.field("kind"),
        "ts": leaf.field("ts"),
        "harness": leaf.field("source"),
        "event": leaf.field("event"),
        "session": leaf.field("harness_session_id"),
        "tool": tool,
        "said": said,
        "verdict": leaf.field("verdict"),
        "rule": leaf.field("policy_rule_id"),
        "by": recorded::decided_by(&leaf),
        "reason": leaf.field("reason"),
        "what": leaf.field("what"),
        "who": leaf.field("who"),
        "took_us": leaf.field("took_us"),
        "pruned": record.bytes.is_none(),
    })
}
