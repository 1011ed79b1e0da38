// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reports two kinds of records to observers: records from before the daemon started, and decisions that
//! hooks made without the daemon.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tenterhook_event::EventId;
use tenterhook_guard::{LedgerHandle, SpoolImport};
use tenterhook_ledger::{LeafOrigin, Reader};
use tenterhook_records::recorded::RecordedDecision;

use crate::daemon::Daemon;
use tenterhook_sessions::{RebuildPool, SessionKey};

/// Delay after an event before a summarized session is reloaded, because the record must be written first.
const SESSION_RELOAD_DELAY: Duration = Duration::from_millis(50);

/// Loads sessions from the ledger. The daemon already answers calls in the meantime.
pub(crate) async fn load_sessions(daemon: Arc<Daemon>) {
    match daemon.readers.with(Reader::size).await {
        Ok(until) => daemon.observers.note_ledger_size(until),
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
        Ok(Ok(leaves)) => tracing::debug!(leaves, "sessions loaded"),
        Ok(Err(error)) => tracing::warn!(error = error.message, "earlier sessions could not be loaded"),
        Err(error) => tracing::warn!(%error, "earlier sessions could not be loaded"),
    }
}

/// Rebuilds all sessions after records were removed from the ledger.
pub(crate) fn rebuild_sessions(daemon: &Arc<Daemon>) {
    daemon.observers.sessions.clear();
    tokio::spawn(load_sessions(Arc::clone(daemon)));
}

/// Reloads the full details of sessions that were reduced to a summary in memory and now continue.
pub(crate) async fn reload_stale_sessions(daemon: Arc<Daemon>) {
    loop {
        daemon.observers.stale_session.notified().await;
        tokio::time::sleep(SESSION_RELOAD_DELAY).await;
        for key in daemon.observers.sessions.take_stale() {
            reload_session(&daemon, key).await;
        }
    }
}

async fn reload_session(daemon: &Arc<Daemon>, key: SessionKey) {
    let sessions = Arc::clone(&daemon.observers.sessions);
    let reloaded = daemon.readers.with(move |reader| sessions.reload(&key, reader, |_| ())).await;
    if let Err(error) = reloaded {
        tracing::warn!(
            ?error,
            "a session stays summarized until it is opened, because its records cannot be read"
        );
    }
}

/// Logs spool files that were refused or could not be read.
pub(crate) fn warn_about_spool(taken: SpoolImport) {
    if taken.refused > 0 {
        tracing::warn!(files = taken.refused, "spool files without a valid seal were set aside");
    }
    if taken.postponed > 0 {
        tracing::warn!(files = taken.postponed, "spool files cannot be read now and are tried again");
    }
}

/// Imports decisions that hooks made without the daemon, and reports them to observers.
pub(crate) async fn import_spooled(daemon: &Arc<Daemon>, book: &LedgerHandle) {
    let before = match daemon.readers.with(Reader::size).await {
        Ok(before) => before,
        Err(error) => {
            tracing::warn!(?error, "spool not imported: the ledger cannot be read");
            return;
        }
    };
    let found = book.import_spool_into(&daemon.ledger);
    warn_about_spool(found);
    let observed = Arc::clone(daemon);
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
                        observed.observers.report_imported(&recorded, record);
                        if let Some(id) = superseded_event(&recorded.leaf) {
                            observed.undelivered.remove(id);
                        }
                        superseding.extend(
                            SessionKey::of(&recorded.event)
                                .filter(|_| superseded_event(&recorded.leaf).is_some()),
                        );
                    }
                    (LeafOrigin::Transcript, _) => observed.observers.report_transcript_event(record),
                    _ => {}
                }
            }
        }
    });
    let Ok(superseding) = taken.await else {
        tracing::warn!("imported decisions are in the ledger, but sessions do not show them");
        return;
    };
    for key in superseding {
        // The reloaded session also contains the decision that was not delivered.
        reload_session(daemon, key).await;
    }
}

/// Returns the id of the event whose earlier decision this record supersedes. The daemon made the earlier
/// decision, but it did not reach the harness.
fn superseded_event(leaf: &Value) -> Option<EventId> {
    leaf.get("detail")?.get("supersedes")?.as_str()?.parse().ok()
}
