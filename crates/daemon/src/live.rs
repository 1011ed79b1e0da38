// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Live events for readers such as the dashboard.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tenterhook_api::{LiveEvent, SessionEvent};
use tokio::sync::broadcast::{self, Receiver, Sender};

use crate::api::to_json;
use tenterhook_sessions::SessionKey;

/// Events that wait for a slow reader. A reader that falls behind receives the number of missed events.
const MAX_WAITING_EVENTS: usize = 1024;

/// One thing that happened.
#[derive(Debug, Clone)]
pub(crate) struct News {
    /// Counts up from the daemon's start.
    pub(crate) number: u64,
    /// `decided`, `session`, `generation`, `verify` or `warning`; of a session what [`tenterhook_sessions`] tells.
    pub(crate) kind: &'static str,
    /// Session of the event, for readers that follow one session.
    about: Option<Arc<SessionKey>>,
    /// What happened, as JSON.
    pub(crate) data: Arc<str>,
}

impl News {
    /// Whether it happened in the session of this id, or of `<harness>:<id>`.
    pub(crate) fn is_about(&self, id: &str) -> bool {
        let Some(SessionKey { harness, id: own }) = self.about.as_deref() else { return false };
        id == own || id.strip_prefix(harness).and_then(|rest| rest.strip_prefix(':')) == Some(own)
    }
}

/// Tells everybody who watches.
pub(crate) struct Live {
    sender: Sender<News>,
    number: AtomicU64,
}

impl Default for Live {
    fn default() -> Self {
        Self { sender: Sender::new(MAX_WAITING_EVENTS), number: AtomicU64::new(0) }
    }
}

impl Live {
    /// Publishes an event. `event` is not called if there are no readers.
    pub(crate) fn publish(&self, event: impl FnOnce() -> LiveEvent) {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        if self.is_watched() {
            let event = event();
            self.send(News { number, kind: event.kind(), about: None, data: to_json(&event).into() });
        }
    }

    /// Tells what happened in a session.
    pub(crate) fn tell_about(&self, about: &Arc<SessionKey>, event: &SessionEvent) {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        if self.is_watched() {
            let (kind, about) = (event.change.kind(), Some(Arc::clone(about)));
            self.send(News { number, kind, about, data: to_json(event).into() });
        }
    }

    fn send(&self, news: News) {
        // The last reader may be gone.
        let _ = self.sender.send(news);
    }

    /// Whether anybody watches.
    pub(crate) fn is_watched(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// Watches from now on.
    pub(crate) fn watch(&self) -> Receiver<News> {
        self.sender.subscribe()
    }
}

/// What a receiver that is behind is told.
pub(crate) type Lagged = broadcast::error::RecvError;
