// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Returns the ledger as tables and charts: one line per record, one row per call, and activity over time.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use tenterhook_api::{Activity, ActivityQuery, CallPage, CallQuery, LedgerLines, LedgerQuery};
use tenterhook_home::call_meta;
use tenterhook_records::{activity, ledger_line, list_calls};

use super::filter::ledger_filter;
use crate::api::error::ApiError;
use crate::api::extract::QueryParams;
use crate::daemon::Daemon;

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

pub(super) async fn calls(
    State(daemon): State<Arc<Daemon>>,
    QueryParams(query): QueryParams<CallQuery>,
) -> Result<Json<CallPage>, ApiError> {
    let (limit, before) = (query.limit.unwrap_or(100).clamp(1, 500), query.before);
    let (limit, show) = (usize::try_from(limit).unwrap_or(500), query.show.unwrap_or_default());
    let filter = ledger_filter(query.filter(), before)?;
    daemon.readers.with(move |reader| list_calls(reader, &filter, show, limit)).await.map(Json)
}

pub(super) async fn read_activity(
    State(daemon): State<Arc<Daemon>>,
    QueryParams(query): QueryParams<ActivityQuery>,
) -> Result<Json<Activity>, ApiError> {
    let buckets = query.buckets.unwrap_or(60).clamp(1, 240);
    let filter = ledger_filter(query.filter(), None)?;
    let now = call_meta::now_ms();
    daemon.readers.with(move |reader| activity(reader, &filter, now, buckets)).await.map(Json)
}
