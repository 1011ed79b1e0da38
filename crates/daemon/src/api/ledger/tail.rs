// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::Event;
use tenterhook_api::{LedgerRecord, LedgerTailQuery};
use tenterhook_ledger::Filter;
use tenterhook_records::recorded;
use tokio::sync::mpsc::Sender;

use super::filter::{ledger_filter, matches_filter};
use crate::api::error::ApiError;
use crate::api::extract::QueryParams;
use crate::api::shape::EventStream;
use crate::api::sse;
use crate::daemon::Daemon;

/// Maximum number of records read at once.
const TAIL_PAGE_RECORDS: u64 = 256;
/// Interval between reads if no notification arrives, because other processes write to the ledger too.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Streams new records. They are read from the ledger, not from memory, so none is lost.
pub(super) async fn tail(
    State(daemon): State<Arc<Daemon>>,
    QueryParams(query): QueryParams<LedgerTailQuery>,
    headers: HeaderMap,
) -> Result<EventStream<LedgerRecord>, ApiError> {
    let seen = headers.get("last-event-id").map(|value| value.to_str().unwrap_or_default().parse::<u64>());
    let seen = seen.transpose();
    let seen = seen.map_err(|_| ApiError::bad_request("`Last-Event-ID` is not a record number"))?;
    let from = seen.map(|seen| seen.saturating_add(1)).or(query.from);
    let filter = ledger_filter(query.filter(), None)?;
    let from = match from {
        Some(from) => from,
        None => daemon.readers.with(tenterhook_ledger::Reader::size).await?,
    };
    sse::stream(daemon, move |daemon, sender| follow(daemon, sender, filter, from))
}

async fn follow(daemon: Arc<Daemon>, sender: Sender<Event>, filter: Filter, mut next: u64) {
    let mut ledger_size = daemon.observers.subscribe_ledger_size();
    // Tells the client at once that the stream is open.
    if sender.send(Event::default().comment("following")).await.is_err() {
        return;
    }
    loop {
        // The size is marked as seen before the ledger is read, so that records written in the meantime are noticed.
        ledger_size.mark_unchanged();
        let Ok(page) = daemon.readers.with(move |reader| reader.records_from(next, TAIL_PAGE_RECORDS)).await
        else {
            // The error is in the log. The client reconnects and continues where it stopped.
            return;
        };
        let full = page.len() as u64 == TAIL_PAGE_RECORDS;
        for record in page {
            next = record.seq + 1;
            if matches_filter(&filter, &record) {
                let event = sse::event("leaf", &recorded::ledger_record(&record)).id(record.seq.to_string());
                if sender.send(event).await.is_err() {
                    return;
                }
            }
        }
        if !full {
            // After a notification, a timeout or an error, the ledger is read again.
            let _ = tokio::time::timeout(POLL_INTERVAL, ledger_size.changed()).await;
        }
    }
}
