// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What happens right now, for whoever watches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use tokio::sync::broadcast::{self, Receiver, Sender};

/// How much whoever watches may be behind; beyond that they are told how much they missed.
const KEPT: usize = 1024;

/// One thing that happened.
#[derive(Debug, Clone)]
pub(crate) struct News {
    /// Counts up from the daemon's start.
    pub(crate) number: u64,
    /// `decided`, `session`, `generation`, `verify` or `warning`.
    pub(crate) kind: &'static str,
    /// What happened, as JSON.
    pub(crate) data: Arc<str>,
}

/// Tells everybody who watches.
pub(crate) struct Live {
    sender: Sender<News>,
    number: AtomicU64,
}

impl Default for Live {
    fn default() -> Self {
        Self { sender: Sender::new(KEPT), number: AtomicU64::new(0) }
    }
}

impl Live {
    /// Tells it; `data` is not even made when nobody watches.
    pub(crate) fn tell(&self, kind: &'static str, data: impl FnOnce() -> Value) {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        if self.sender.receiver_count() > 0 {
            // Whoever watched may have gone by now.
            let _ = self.sender.send(News { number, kind, data: data().to_string().into() });
        }
    }

    /// Watches from now on.
    pub(crate) fn watch(&self) -> Receiver<News> {
        self.sender.subscribe()
    }
}

/// What a receiver that is behind is told.
pub(crate) type Lagged = broadcast::error::RecvError;
