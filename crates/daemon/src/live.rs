// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Publishes live events to readers such as the dashboard.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tenterhook_api::{LiveEvent, SessionEvent};
use tokio::sync::broadcast::{self, Receiver, Sender};

use crate::api::to_json;
use tenterhook_sessions::SessionKey;

/// Maximum number of events queued for a slow reader, which then receives the number of missed events.
const MAX_WAITING_EVENTS: usize = 1024;

/// One serialized live event.
#[derive(Debug, Clone)]
pub(crate) struct LiveMessage {
    /// Number of the event, counted since the daemon started.
    pub(crate) number: u64,
    /// `decided`, `session`, `generation`, `verify` or `warning`; for a session stream, the kind of change.
    pub(crate) kind: &'static str,
    /// Session of the event, for readers that follow one session.
    session: Option<Arc<SessionKey>>,
    /// Data of the event as JSON.
    pub(crate) data: Arc<str>,
}

impl LiveMessage {
    /// Whether the event belongs to the session with this id, written as `<id>` or `<harness>:<id>`.
    pub(crate) fn is_about(&self, id: &str) -> bool {
        let Some(SessionKey { harness, id: own }) = self.session.as_deref() else { return false };
        id == own || id.strip_prefix(harness).and_then(|rest| rest.strip_prefix(':')) == Some(own)
    }
}

/// Sends live events to all readers.
pub(crate) struct LiveFeed {
    sender: Sender<LiveMessage>,
    number: AtomicU64,
}

impl Default for LiveFeed {
    fn default() -> Self {
        Self { sender: Sender::new(MAX_WAITING_EVENTS), number: AtomicU64::new(0) }
    }
}

impl LiveFeed {
    /// Publishes an event. `event` is called only if there are readers.
    pub(crate) fn publish(&self, event: impl FnOnce() -> LiveEvent) {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        if self.is_watched() {
            let event = event();
            let (kind, data) = (event.kind(), to_json(&event).into());
            self.send(LiveMessage { number, kind, session: None, data });
        }
    }

    pub(crate) fn publish_session_event(&self, session: &Arc<SessionKey>, event: &SessionEvent) {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        if self.is_watched() {
            let (kind, session) = (event.change.kind(), Some(Arc::clone(session)));
            self.send(LiveMessage { number, kind, session, data: to_json(event).into() });
        }
    }

    fn send(&self, message: LiveMessage) {
        // The last reader may be gone.
        let _ = self.sender.send(message);
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// Returns a receiver of all events from now on.
    pub(crate) fn subscribe(&self) -> Receiver<LiveMessage> {
        self.sender.subscribe()
    }
}

/// Error for a receiver that missed events or whose sender is gone.
pub(crate) type ReceiveError = broadcast::error::RecvError;
