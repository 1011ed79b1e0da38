// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What goes to a client, and what comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tenterhook_event::{Call, EventId, Timestamp};
use tenterhook_harness::dialect::a3s::{self, Answer, Session};
use tokio::time::Instant;

use crate::{Hook, HookId};

/// One hook is asked about one event.
#[derive(Debug, Clone)]
pub struct Question {
    /// This very question: no other has this number.
    pub call_id: u64,
    /// Who is asked.
    pub hook: HookId,
    /// The event, by the name that hooks of programs know it by.
    pub event_type: Arc<str>,
    /// The event's id.
    pub event_id: EventId,
    /// The session it belongs to.
    pub session: Arc<str>,
    /// When it happened.
    pub ts: Timestamp,
    /// All of it, as JSON.
    pub payload: Arc<[u8]>,
    /// Until when somebody waits; `None`: nobody does.
    pub until: Option<Instant>,
    /// How often the hook has been asked about this event, with this time.
    pub attempt: u32,
    /// Whether it was sent before, or happened while the client was away.
    pub redelivered: bool,
}

/// What goes to a client.
#[derive(Debug, Clone)]
pub enum Sent {
    /// A question, or, if nobody waits, news.
    Asked(Question),
    /// Nobody waits for this answer any more.
    Cancelled {
        /// The question.
        call_id: u64,
        /// Why.
        why: Why,
    },
    /// An answer could not be used.
    Refused {
        /// The question it was for.
        call_id: u64,
        /// What was wrong with it.
        why: String,
    },
}

/// Why nobody waits any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The time is over.
    TimedOut,
    /// Whoever asked has gone.
    Gone,
    /// The hook is no longer registered.
    Unregistered,
}

/// A function in another program gave no answer: how it failed there, or why its answer cannot be read here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FunctionError(pub String);

/// What comes from a client.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The question it is for. `None`: the client does not know this field, and the only open question of the hook
    /// is meant.
    pub call_id: Option<u64>,
    /// The hook it is from; if it is not the one that was asked, the answer is none.
    pub hook: String,
    /// The event it is about; the same. Without `call_id` it may be empty.
    pub event_id: String,
    /// What the hook says, or how it failed.
    pub said: Result<Answer, FunctionError>,
}

impl Question {
    pub(super) fn new(
        hook: &Hook,
        call: &Call,
        session: &Session,
        until: Option<Instant>,
        attempt: u32,
    ) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let event = &call.event;
        let name = a3s::of(event.event).map_or(event.native_event.as_str(), |shape| shape.name);
        Self {
            call_id: NUMBER.fetch_add(1, Ordering::Relaxed),
            hook: Arc::clone(&hook.id),
            event_type: name.into(),
            event_id: event.id,
            session: event.harness_session_id.as_deref().unwrap_or_default().into(),
            ts: event.ts,
            payload: a3s::payload(call, session).into(),
            until,
            attempt,
            redelivered: false,
        }
    }
}
