// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use tenterhook_api::{
    DayCount, HarnessReply, LedgerCheckpoint, LedgerPage, LedgerQuery, LedgerRecordDetails, LedgerStats,
    LedgerStatsQuery, RawRecord, SpoolCounts,
};
use tenterhook_event::{EventId, HookCall, Timestamp};
use tenterhook_ledger::{DiskUse, ReadError, Reader, Stats, StoredRecord};
use tenterhook_records::recorded::{self, RecordedDecision};

use super::filter::ledger_filter;
use crate::api::error::{ApiError, run_blocking};
use crate::api::extract::{PathParams, QueryParams};
use crate::api::shape::{PlainTextMedia, TextResponse};
use crate::daemon::Daemon;

pub(super) async fn query(
    State(daemon): State<Arc<Daemon>>,
    QueryParams(query): QueryParams<LedgerQuery>,
) -> Result<Json<LedgerPage>, ApiError> {
    let (limit, before) = (query.limit.unwrap_or(50).min(1000), query.before);
    let filter = ledger_filter(query.filter(), before)?;
    let found = daemon.readers.with(move |reader| reader.query(&filter, limit)).await?;
    let leaves = found.records.iter().map(recorded::ledger_record).collect();
    Ok(Json(LedgerPage { leaves, next: found.next }))
}

pub(super) async fn get_record(
    State(daemon): State<Arc<Daemon>>,
    PathParams(id): PathParams<String>,
) -> Result<Json<LedgerRecordDetails>, ApiError> {
    let wanted = id.clone();
    let found = daemon.readers.with(move |reader| match find_seq(reader, &wanted)? {
        Some(seq) => reader.get(seq),
        None => Ok(None),
    });
    found.await?.map(|record| Json(record_details(&record))).ok_or_else(|| unknown_record(&id))
}

/// Returns everything that is stored about a record.
fn record_details(record: &StoredRecord) -> LedgerRecordDetails {
    let payload = record.payload.as_ref();
    LedgerRecordDetails {
        record: recorded::ledger_record(record),
        raw: RawRecord {
            leaf: payload_text(record.bytes.as_ref()),
            payload: payload_text(payload.and_then(|payload| payload.bytes.as_ref())),
            salt: payload.and_then(|payload| payload.salt.as_deref()).map(hex),
        },
        reply: native_reply(record),
    }
}

fn payload_text(bytes: Option<&Vec<u8>>) -> Option<String> {
    std::str::from_utf8(bytes?).ok().map(ToOwned::to_owned)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// Encodes, from the record, the reply that the harness received for this decision.
fn native_reply(record: &StoredRecord) -> Option<HarnessReply> {
    let decided = RecordedDecision::from_record(record).ok()?;
    let harness = tenterhook_harness::find_harness(&decided.event.source)?;
    let call = HookCall { event: decided.event, native: None };
    let reply = harness.encode(&call, &decided.outcome);
    Some(HarnessReply { stdout: reply.stdout, stderr: reply.stderr, exit: reply.exit, lost: reply.lost })
}

pub(super) async fn proof(
    State(daemon): State<Arc<Daemon>>,
    PathParams(id): PathParams<String>,
) -> Result<TextResponse<PlainTextMedia>, ApiError> {
    let wanted = id.clone();
    let found = daemon.readers.with(move |reader| {
        let Some(seq) = find_seq(reader, &wanted)? else { return Ok(None) };
        let signed = reader.checkpoint()?.map_or(0, |(size, _)| size);
        Ok((seq < reader.size()?).then_some((seq, signed)))
    });
    let (seq, signed) = found.await?.ok_or_else(|| unknown_record(&id))?;
    if signed <= seq {
        // No checkpoint covers the record yet.
        let ledger = daemon.ledger.clone();
        run_blocking(move || {
            let unsigned = |error| ApiError::internal(format!("cannot sign a checkpoint: {error}"));
            ledger.checkpoint().map_err(unsigned)
        })
        .await?;
    }
    let found = daemon.readers.with(move |reader| reader.proof(seq)).await?;
    let proof = found.ok_or_else(|| unknown_record(&id))?;
    Ok(TextResponse::new(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], proof.to_string())))
}

pub(super) async fn checkpoint(
    State(daemon): State<Arc<Daemon>>,
) -> Result<Json<LedgerCheckpoint>, ApiError> {
    let found = daemon.readers.with(|reader| Ok((reader.checkpoint()?, reader.size()?, reader.key()?)));
    let (checkpoint, leaves, key) = found.await?;
    let Some((size, note)) = checkpoint else {
        return Err(ApiError::not_found("no checkpoint yet"));
    };
    Ok(Json(LedgerCheckpoint { size, note, leaves, key: key.map(|key| key.to_string()) }))
}

pub(super) async fn stats(
    State(daemon): State<Arc<Daemon>>,
    QueryParams(query): QueryParams<LedgerStatsQuery>,
) -> Result<Json<LedgerStats>, ApiError> {
    let filter = ledger_filter(query.filter(), None)?;
    let found = daemon.readers.with(move |reader| {
        let signed = reader.checkpoint()?.map_or(0, |(size, _)| size);
        Ok((reader.stats(&filter)?, reader.size()?, signed))
    });
    let (stats, size, signed) = found.await?;
    let on_disk = DiskUse::measure(&daemon.home.ledger());
    Ok(Json(ledger_stats(&stats, size, signed, &on_disk, daemon.spool_counts())))
}

fn ledger_stats(stats: &Stats, size: u64, signed: u64, on_disk: &DiskUse, spool: SpoolCounts) -> LedgerStats {
    let when = |ms: u64| Timestamp::from_unix_ms(ms);
    let counted = |list: &[(String, u64)]| list.iter().cloned().collect();
    let day = |(day, verdict, count): &(u64, String, u64)| DayCount {
        day: when(*day),
        verdict: verdict.clone(),
        count: *count,
    };
    LedgerStats {
        leaves: stats.leaves,
        sessions: stats.sessions,
        first: stats.first_ms.map(when),
        last: stats.last_ms.map(when),
        kinds: counted(&stats.kinds),
        verdicts: counted(&stats.verdicts),
        harnesses: counted(&stats.harnesses),
        tools: counted(&stats.tools),
        rules: counted(&stats.rules),
        days: stats.days.iter().map(day).collect(),
        payloads: stats.payloads,
        payload_bytes: stats.payload_bytes,
        erased: stats.erased,
        pruned: stats.pruned,
        size,
        signed,
        bytes_on_disk: on_disk.total,
        journal_bytes: on_disk.journal,
        spool,
    }
}

/// Finds a record by its number or by the id of its event.
fn find_seq(reader: &Reader, id: &str) -> Result<Option<u64>, ReadError> {
    match (id.parse(), id.parse::<EventId>()) {
        (Ok(seq), _) => Ok(Some(seq)),
        (_, Ok(id)) => reader.find(&id.to_string()),
        _ => Ok(None),
    }
}

fn unknown_record(id: &str) -> ApiError {
    ApiError::not_found(format!("unknown record `{}`", tenterhook_records::sanitize(id, 100)))
        .hint("GET /v1/ledger lists records with their numbers and event ids")
}
