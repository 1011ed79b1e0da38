// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Brings observers up to date: with records from before the daemon started, and with decisions that hooks made
//! without the daemon.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tenterhook_event::EventId;
use tenterhook_guard::{Book, TakenIn};
use tenterhook_ledger::{LeafOrigin, Reader};
use tenterhook_records::recorded::RecordedDecision;

use crate::daemon::Daemon;
use tenterhook_sessions::{RebuildPool, SessionKey};

/// How long after an event a session that is kept in short is read again: the leaf has to be there.
const SOON: Duration = Duration::from_millis(50);

/// Puts sessions together from the ledger, after calls are answered already.
pub(crate) async fn remember(daemon: Arc<Daemon>) {
    match daemon.readers.with(Reader::size).await {
        Ok(until) => daemon.observers.grew(until),
        Err(error) => tracing::warn!(?error, "the size of the ledger cannot be read"),
    }
    let done = tokio::task::spawn_blocking(move || {
        let dir = daemon.home.ledger();
        let rebuilt =
            daemon.observers.sessions.rebuild(|| Reader::open(&dir), RebuildPool::alongside_calls());
        daemon.bursts.note();
        rebuilt
    });
    match done.await {
        Ok(Ok(leaves)) => tracing::debug!(leaves, "sessions are known again"),
        Ok(Err(error)) => tracing::warn!(error = error.message, "earlier sessions are not known"),
        Err(error) => tracing::warn!(%error, "earlier sessions are not known"),
    }
}

/// Rebuilds all sessions after records were removed from the ledger.
pub(crate) fn rebuild_sessions(daemon: &Arc<Daemon>) {
    daemon.observers.sessions.clear();
    tokio::spawn(remember(Arc::clone(daemon)));
}

/// Sessions that were kept in short and go on become whole again.
pub(crate) async fn warm(daemon: Arc<Daemon>) {
    loop {
        daemon.observers.cold.notified().await;
        tokio::time::sleep(SOON).await;
        for key in daemon.observers.sessions.take_stale() {
            bring_back(&daemon, key).await;
        }
    }
}

async fn bring_back(daemon: &Arc<Daemon>, key: SessionKey) {
    let sessions = Arc::clone(&daemon.observers.sessions);
    let brought = daemon.readers.with(move |reader| sessions.reload(&key, reader, |_| ())).await;
    if let Err(error) = brought {
        tracing::warn!(
            ?error,
            "a session stays short until somebody looks, because its records cannot be read"
        );
    }
}

/// Logs spool files that were refused or could not be read.
pub(crate) fn warn_of_refused(taken: TakenIn) {
    if taken.refused > 0 {
        tracing::warn!(files = taken.refused, "spool files without a valid seal were set aside");
    }
    if taken.postponed > 0 {
        tracing::warn!(files = taken.postponed, "spool files cannot be read now; they are tried again");
    }
}

/// Imports decisions that hooks made without the daemon, and reports them to observers.
pub(crate) async fn import_spooled(daemon: &Arc<Daemon>, book: &Book) {
    let before = match daemon.readers.with(Reader::size).await {
        Ok(before) => before,
        Err(error) => {
            tracing::warn!(?error, "spool not imported: the ledger cannot be read");
            return;
        }
    };
    let found = book.take_in(&daemon.ledger);
    warn_of_refused(found);
    let told = Arc::clone(daemon);
    let taken = daemon.readers.with(move |reader| {
        let (mut next, mut superseding) = (before, HashSet::new());
        loop {
            let page = reader.records_from(next, 256)?;
            let Some(last) = page.last() else { return Ok(superseding) };
            next = last.seq + 1;
            for record in &page {
                let Some(Ok(leaf)) = record.envelope() else { continue };
                match (leaf.origin, RecordedDecision::from_record(record)) {
                    (LeafOrigin::Spool, Ok(recorded)) => {
                        told.observers.report_imported(&recorded, record);
                        if let Some(id) = superseded(&recorded.leaf) {
                            told.undelivered.remove(id);
                        }
                        superseding.extend(
                            SessionKey::of(&recorded.event).filter(|_| superseded(&recorded.leaf).is_some()),
                        );
                    }
                    (LeafOrigin::Transcript, _) => told.observers.report_transcript_event(record),
                    _ => {}
                }
            }
        }
    });
    let Ok(superseding) = taken.await else {
        tracing::warn!("what was taken in is in the ledger, but sessions do not show it");
        return;
    };
    for key in superseding {
        // The session also contains the decision that was not delivered.
        bring_back(daemon, key).await;
    }
}

/// The event whose first decision, the daemon's, did not arrive.
fn superseded(leaf: &Value) -> Option<EventId> {
    leaf.get("detail")?.get("supersedes")?.as_str()?.parse().ok()
}
