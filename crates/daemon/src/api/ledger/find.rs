// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use tenterhook_event::{Call, EventId, Timestamp};
use tenterhook_home::recorded::{self, Recorded};
use tenterhook_ledger::{DiskUse, ReadFailed, Reader, Record, Stats};

use super::filter::Asked;
use crate::api::refuse;
use crate::daemon::Daemon;

pub(super) async fn query(State(daemon): State<Arc<Daemon>>, Query(asked): Query<Asked>) -> Response {
    let limit = asked.limit.unwrap_or(50).min(1000);
    let filter = match asked.filter() {
        Ok(filter) => filter,
        Err(response) => return *response,
    };
    let found = daemon.readers.with(move |reader| reader.query(&filter, limit)).await;
    answer(found, |found| {
        let leaves: Vec<_> = found.records.iter().map(recorded::json).collect();
        Json(json!({"leaves": leaves, "next": found.next})).into_response()
    })
}

pub(super) async fn one(State(daemon): State<Arc<Daemon>>, Path(said): Path<String>) -> Response {
    let sought = said.clone();
    let found = daemon.readers.with(move |reader| match place(reader, &sought)? {
        Some(seq) => reader.get(seq),
        None => Ok(None),
    });
    answer(found.await, |record| match record {
        Some(record) => Json(whole(&record)).into_response(),
        None => unknown(&said),
    })
}

/// All there is of a leaf.
fn whole(record: &Record) -> Value {
    let mut leaf = recorded::json(record);
    let payload = record.payload.as_ref();
    let raw = json!({
        "leaf": text(record.bytes.as_ref()),
        "payload": text(payload.and_then(|payload| payload.bytes.as_ref())),
        "salt": payload.and_then(|payload| payload.salt.as_deref()).map(hex),
    });
    if let Some(fields) = leaf.as_object_mut() {
        fields.insert("raw".to_owned(), raw);
        fields.insert("reply".to_owned(), reply(record).unwrap_or_default());
    }
    leaf
}

fn text(bytes: Option<&Vec<u8>>) -> Option<&str> {
    std::str::from_utf8(bytes?).ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// What the harness is told for such a decision, made anew from the record.
fn reply(record: &Record) -> Option<Value> {
    let decided = Recorded::of(record).ok()?;
    let harness = tenterhook_harness::find(&decided.event.source)?;
    let call = Call { event: decided.event, native: None };
    let reply = harness.encode(&call, &decided.outcome);
    Some(json!({"stdout": reply.stdout, "stderr": reply.stderr, "exit": reply.exit, "lost": reply.lost}))
}

pub(super) async fn proof(State(daemon): State<Arc<Daemon>>, Path(said): Path<String>) -> Response {
    let sought = said.clone();
    let found = daemon.readers.with(move |reader| {
        let Some(seq) = place(reader, &sought)? else { return Ok(None) };
        let signed = reader.checkpoint()?.map_or(0, |(size, _)| size);
        Ok((seq < reader.size()?).then_some((seq, signed)))
    });
    let (seq, signed) = match found.await {
        Ok(Some(found)) => found,
        Ok(None) => return unknown(&said),
        Err(response) => return *response,
    };
    if signed <= seq {
        // Nobody signed it yet.
        let ledger = daemon.ledger.clone();
        if let Ok(Err(error)) = tokio::task::spawn_blocking(move || ledger.checkpoint()).await {
            let message = format!("no checkpoint could be signed: {error}");
            return refuse(StatusCode::INTERNAL_SERVER_ERROR, &message, None);
        }
    }
    let found = daemon.readers.with(move |reader| reader.proof(seq));
    answer(found.await, |proof| match proof {
        Some(proof) => {
            ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], proof.to_string()).into_response()
        }
        None => unknown(&said),
    })
}

pub(super) async fn checkpoint(State(daemon): State<Arc<Daemon>>) -> Response {
    let found = daemon.readers.with(|reader| Ok((reader.checkpoint()?, reader.size()?, reader.key()?)));
    answer(found.await, |(checkpoint, leaves, key)| {
        let Some((size, note)) = checkpoint else {
            return refuse(StatusCode::NOT_FOUND, "nothing was signed yet", None);
        };
        let key = key.map(|key| key.to_string());
        Json(json!({"size": size, "note": note, "leaves": leaves, "key": key})).into_response()
    })
}

pub(super) async fn stats(State(daemon): State<Arc<Daemon>>, Query(asked): Query<Asked>) -> Response {
    let filter = match asked.filter() {
        Ok(filter) => filter,
        Err(response) => return *response,
    };
    let found = daemon.readers.with(move |reader| {
        let signed = reader.checkpoint()?.map_or(0, |(size, _)| size);
        Ok((reader.stats(&filter)?, reader.size()?, signed))
    });
    answer(found.await, |(stats, size, signed)| {
        let mut numbers = numbers(&stats);
        if let Some(numbers) = numbers.as_object_mut() {
            let (waiting, refused) = daemon.spooled();
            let on_disk = DiskUse::of(&daemon.home.ledger());
            numbers.extend([
                ("size".to_owned(), json!(size)),
                ("signed".to_owned(), json!(signed)),
                ("bytes_on_disk".to_owned(), json!(on_disk.total)),
                ("journal_bytes".to_owned(), json!(on_disk.journal)),
                ("spool".to_owned(), json!({"waiting": waiting, "refused": refused})),
            ]);
        }
        Json(numbers).into_response()
    })
}

fn numbers(stats: &Stats) -> Value {
    let when = |ms: u64| Timestamp::from_unix_ms(ms);
    let counted = |list: &[(String, u64)]| -> Map<String, Value> {
        list.iter().map(|(name, number)| (name.clone(), json!(number))).collect()
    };
    let day = |(day, verdict, count): &(u64, String, u64)| json!({"day": when(*day), "verdict": verdict, "count": count});
    json!({
        "leaves": stats.leaves,
        "sessions": stats.sessions,
        "first": stats.first_ms.map(when),
        "last": stats.last_ms.map(when),
        "kinds": counted(&stats.kinds),
        "verdicts": counted(&stats.verdicts),
        "harnesses": counted(&stats.harnesses),
        "tools": counted(&stats.tools),
        "rules": counted(&stats.rules),
        "days": stats.days.iter().map(day).collect::<Vec<_>>(),
        "payloads": stats.payloads,
        "payload_bytes": stats.payload_bytes,
        "erased": stats.erased,
        "pruned": stats.pruned,
    })
}

/// The leaf that is meant by a number or an event's id.
fn place(reader: &Reader, said: &str) -> Result<Option<u64>, ReadFailed> {
    match (said.parse(), said.parse::<EventId>()) {
        (Ok(seq), _) => Ok(Some(seq)),
        (_, Ok(id)) => reader.find(&id.to_string()),
        _ => Ok(None),
    }
}

fn unknown(said: &str) -> Response {
    let message = format!("there is no leaf `{}`", crate::sessions::clean(said, 100));
    refuse(StatusCode::NOT_FOUND, &message, Some("GET /v1/ledger lists them, by number and by event id"))
}

fn answer<T>(found: Result<T, Box<Response>>, say: impl FnOnce(T) -> Response) -> Response {
    match found {
        Ok(found) => say(found),
        Err(response) => *response,
    }
}
