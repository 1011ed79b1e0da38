// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What others recorded, for whoever looks on: leaves from before the daemon began, and decisions that
//! hooks made by themselves.

use std::sync::Arc;

use tenterhook_home::recorded::Recorded;
use tenterhook_home::{Book, door};
use tenterhook_ledger::{Origin, Reader};

use crate::daemon::Daemon;

/// Puts the sessions of the last day together, after calls are answered already.
pub(crate) async fn remember(daemon: Arc<Daemon>) {
    let until = daemon.readers.with(Reader::size).await.unwrap_or_default();
    daemon.observers.grew(until);
    let done = tokio::task::spawn_blocking(move || {
        let sessions = &daemon.observers.sessions;
        daemon.readers.read(|reader| sessions.rebuild(reader, until, door::now()))
    });
    match done.await {
        Ok(Ok(events)) => tracing::debug!(events, "sessions are known again"),
        Ok(Err(error)) => tracing::warn!(%error, "earlier sessions are not known"),
        Err(error) => tracing::warn!(%error, "earlier sessions are not known"),
    }
}

/// Takes in what hooks decided by themselves, and tells whoever looks on.
pub(crate) async fn take_in(daemon: &Arc<Daemon>, book: &Book) {
    let Ok(before) = daemon.readers.with(Reader::size).await else { return };
    book.take_in(&daemon.ledger);
    let told = Arc::clone(daemon);
    let taken = daemon.readers.with(move |reader| {
        let mut next = before;
        loop {
            let page = reader.from(next, 256)?;
            let Some(last) = page.last() else { return Ok(()) };
            next = last.seq + 1;
            for record in &page {
                let Some(Ok(leaf)) = record.envelope() else { continue };
                match (leaf.origin, Recorded::happened(record)) {
                    (Origin::Spool, Ok(recorded)) => told.observers.taken_in(&recorded, record.seq),
                    (Origin::Transcript, Ok(recorded)) => told.observers.told_of(&recorded, record.seq),
                    _ => {}
                }
            }
        }
    });
    if taken.await.is_err() {
        tracing::warn!("what was taken in is in the ledger, but sessions do not show it");
    }
}
