// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Records the actions of programs' hooks, in addition to the record of each decision. Such a record is called a note.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tenterhook_engine::BoxFuture;
use tenterhook_engine::load::HookAuditLevel;
use tenterhook_engine::sdk::{HookAuditKind, HookAuditNote, HookContext};
use tenterhook_event::Event;
use tenterhook_harness::dialect::a3s::A3sSessionContext;
use tokio::sync::{mpsc, watch};

use crate::daemon::Daemon;
use tenterhook_records::sanitize;

/// Maximum number of notes that wait for the disk; beyond that, calls wait too.
const MAX_WAITING_NOTES: usize = 1024;
/// Maximum number of notes written together.
const MAX_NOTES_PER_BATCH: usize = 256;
/// Maximum length of a string in a note; longer ones are cut.
const MAX_NOTE_CHARS: usize = 500;
/// Maximum time for the last notes to be written when the daemon shuts down.
const LAST_NOTES_TIMEOUT: Duration = Duration::from_secs(3);

/// Writes notes about hooks, and looks up their sessions.
pub(crate) struct HookNotes {
    daemon: OnceLock<Weak<Daemon>>,
    sender: mpsc::Sender<QueuedNote>,
    /// Number of notes that are not written yet.
    open: watch::Sender<usize>,
    /// Receives notes until the writing task takes the receiver.
    waiting: Mutex<Option<mpsc::Receiver<QueuedNote>>>,
}

type QueuedNote = (&'static str, Value);

impl HookNotes {
    pub(super) fn new() -> Arc<Self> {
        let (sender, notes) = mpsc::channel(MAX_WAITING_NOTES);
        let (open, waiting) = (watch::Sender::new(0), Mutex::new(Some(notes)));
        Arc::new(Self { daemon: OnceLock::new(), sender, open, waiting })
    }

    /// Starts the task that writes notes.
    pub(crate) fn start(&self, daemon: &Arc<Daemon>) {
        let _ = self.daemon.set(Arc::downgrade(daemon));
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut notes) = waiting else { return };
        let daemon = Arc::downgrade(daemon);
        tokio::spawn(async move {
            let mut batch: Vec<QueuedNote> = Vec::new();
            while notes.recv_many(&mut batch, MAX_NOTES_PER_BATCH).await > 0 {
                let Some(daemon) = daemon.upgrade() else { return };
                let written = batch.drain(..).map(|(what, detail)| {
                    let daemon = &daemon;
                    async move { daemon.record_change(what, daemon.uid, detail, Vec::new()).await }
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

    /// Waits until all notes are written, for a limited time.
    pub(crate) async fn wait_until_written(&self) {
        let mut open = self.open.subscribe();
        let _ = tokio::time::timeout(LAST_NOTES_TIMEOUT, open.wait_for(|open| *open == 0)).await;
    }
}

impl HookContext for HookNotes {
    fn session(&self, event: &Event) -> A3sSessionContext {
        self.daemon().map(|daemon| daemon.observers.sessions.sdk_session(event)).unwrap_or_default()
    }

    fn records(&self, kind: HookAuditKind) -> bool {
        let Some(daemon) = self.daemon() else { return false };
        let level = daemon.generations.base().defaults.audit;
        match kind {
            HookAuditKind::Started | HookAuditKind::Completed => level >= HookAuditLevel::Verbose,
            HookAuditKind::Blocked | HookAuditKind::Modified | HookAuditKind::Failed => {
                level >= HookAuditLevel::Info
            }
        }
    }

    fn record_note<'a>(&'a self, note: HookAuditNote<'a>) -> BoxFuture<'a, ()> {
        let word = match note.kind {
            HookAuditKind::Started => "hook started",
            HookAuditKind::Completed => "hook completed",
            HookAuditKind::Blocked => "hook blocked",
            HookAuditKind::Modified => "hook modified",
            HookAuditKind::Failed => "hook failed",
        };
        let detail = json!({
            "hook": &*note.hook.id,
            "client": note.client,
            "event": note.event.event,
            "event_id": note.event.id,
            "call": note.call_id,
            "took_us": u64::try_from(note.took.as_micros()).unwrap_or(u64::MAX),
            "why": note.reason.map(|why| sanitize(why, MAX_NOTE_CHARS)),
        });
        Box::pin(async move {
            self.open.send_modify(|open| *open += 1);
            if self.sender.send((word, detail)).await.is_err() {
                self.open.send_modify(|open| *open = open.saturating_sub(1));
            }
        })
    }
}
