// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What is written down about hooks of programs, beside the leaf of each decision.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tenterhook_engine::BoxFuture;
use tenterhook_engine::load::AuditLevel;
use tenterhook_engine::sdk::{Beside, Note, What};
use tenterhook_event::Event;
use tenterhook_harness::dialect::a3s::Session;
use tokio::sync::{mpsc, watch};

use crate::daemon::Daemon;
use tenterhook_records::sanitize;

/// How many notes may wait for the disk; beyond that calls wait too.
const WAITING: usize = 1024;
/// How many are written together.
const TOGETHER: usize = 256;
/// The longest text in a note.
const TEXT: usize = 500;
/// How long the last notes may take when the daemon ends.
const LAST: Duration = Duration::from_secs(3);

/// Writes notes, and knows sessions.
pub(crate) struct Notes {
    daemon: OnceLock<Weak<Daemon>>,
    sender: mpsc::Sender<Written>,
    /// How many are not written yet.
    open: watch::Sender<usize>,
    /// Until somebody writes them.
    waiting: Mutex<Option<mpsc::Receiver<Written>>>,
}

type Written = (&'static str, Value);

impl Notes {
    pub(super) fn new() -> Arc<Self> {
        let (sender, notes) = mpsc::channel(WAITING);
        let (open, waiting) = (watch::Sender::new(0), Mutex::new(Some(notes)));
        Arc::new(Self { daemon: OnceLock::new(), sender, open, waiting })
    }

    /// Writes from now on.
    pub(crate) fn start(&self, daemon: &Arc<Daemon>) {
        let _ = self.daemon.set(Arc::downgrade(daemon));
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut notes) = waiting else { return };
        let daemon = Arc::downgrade(daemon);
        tokio::spawn(async move {
            let mut batch: Vec<Written> = Vec::new();
            while notes.recv_many(&mut batch, TOGETHER).await > 0 {
                let Some(daemon) = daemon.upgrade() else { return };
                let written = batch.drain(..).map(|(what, detail)| {
                    let daemon = &daemon;
                    async move { daemon.change(what, daemon.uid, detail, Vec::new()).await }
                });
                let written = join_all(written).await;
                for why in written.iter().filter_map(|result| result.as_ref().err()) {
                    tracing::warn!(%why, "a note about a hook could not be recorded");
                }
                let open = &daemon.programs.notes.open;
                open.send_modify(|open| *open = open.saturating_sub(written.len()));
            }
        });
    }

    fn daemon(&self) -> Option<Arc<Daemon>> {
        self.daemon.get()?.upgrade()
    }

    /// Returns when everything is written, or that takes too long.
    pub(crate) async fn settled(&self) {
        let mut open = self.open.subscribe();
        let _ = tokio::time::timeout(LAST, open.wait_for(|open| *open == 0)).await;
    }
}

impl Beside for Notes {
    fn session(&self, event: &Event) -> Session {
        self.daemon().map(|daemon| daemon.observers.sessions.around(event)).unwrap_or_default()
    }

    fn wants(&self, what: What) -> bool {
        let Some(daemon) = self.daemon() else { return false };
        let level = daemon.generations.base().defaults.audit;
        match what {
            What::Started | What::Completed => level >= AuditLevel::Verbose,
            What::Blocked | What::Modified | What::Failed => level >= AuditLevel::Info,
        }
    }

    fn note<'a>(&'a self, note: Note<'a>) -> BoxFuture<'a, ()> {
        let word = match note.what {
            What::Started => "hook started",
            What::Completed => "hook completed",
            What::Blocked => "hook blocked",
            What::Modified => "hook modified",
            What::Failed => "hook failed",
        };
        let detail = json!({
            "hook": &*note.hook.id,
            "client": note.client,
            "event": note.event.event,
            "event_id": note.event.id,
            "call": note.call_id,
            "took_us": u64::try_from(note.took.as_micros()).unwrap_or(u64::MAX),
            "why": note.why.map(|why| sanitize(why, TEXT)),
        });
        Box::pin(async move {
            self.open.send_modify(|open| *open += 1);
            if self.sender.send((word, detail)).await.is_err() {
                self.open.send_modify(|open| *open = open.saturating_sub(1));
            }
        })
    }
}
