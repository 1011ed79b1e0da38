// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Messages to and from an SDK client.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tenterhook_event::{EventId, HookCall, Timestamp};
use tenterhook_harness::dialect::a3s::{self, A3sAnswer, A3sSessionContext};
use tokio::time::Instant;

use crate::{Hook, HookId};

/// One call of a hook for an event.
#[derive(Debug, Clone)]
pub struct SdkCall {
    /// Unique id of this call.
    pub call_id: u64,
    /// The hook that is called.
    pub hook: HookId,
    /// The SDK's name for the event.
    pub event_type: Arc<str>,
    /// Id of the event.
    pub event_id: EventId,
    /// Id of the event's session.
    pub session: Arc<str>,
    /// When the event happened.
    pub ts: Timestamp,
    /// The event as JSON.
    pub payload: Arc<[u8]>,
    /// When the engine stops waiting; `None` if the engine does not wait for a reply.
    pub deadline: Option<Instant>,
    /// How many times the hook has been called for this event, including this call.
    pub attempt: u32,
    /// Whether the call was sent before, or the event happened while the client was disconnected.
    pub redelivered: bool,
}

/// A message to a client.
#[derive(Debug, Clone)]
pub enum SdkMessage {
    /// A hook is called or, if the call has no deadline, an observer is notified.
    Call(SdkCall),
    /// The engine no longer waits for a reply.
    Cancelled {
        /// Id of the call.
        call_id: u64,
        /// Why the call was cancelled.
        reason: CancelReason,
    },
    /// A reply was invalid.
    Refused {
        /// Id of the call.
        call_id: u64,
        /// What is wrong with the reply.
        why: String,
    },
}

/// Why the engine no longer waits for a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelReason {
    /// The time limit was reached.
    TimedOut,
    /// The caller stopped waiting.
    CallerGone,
    /// The hook is no longer registered.
    Unregistered,
}

/// A hook's function failed in its program, or its answer could not be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HandlerError(pub String);

/// A reply from a client.
#[derive(Debug, Clone)]
pub struct SdkReply {
    /// Id of the call. `None` if the client does not know this field; the reply then belongs to the hook's only
    /// pending call.
    pub call_id: Option<u64>,
    /// The hook that replies; must be the hook that was called.
    pub hook: String,
    /// Id of the event; must be the call's event. May be empty if there is no `call_id`.
    pub event_id: String,
    /// The answer of the hook, or its error.
    pub answer: Result<A3sAnswer, HandlerError>,
}

impl SdkCall {
    pub(super) fn new(
        hook: &Hook,
        call: &HookCall,
        session: &A3sSessionContext,
        deadline: Option<Instant>,
        attempt: u32,
    ) -> Self {
        static NEXT_CALL_ID: AtomicU64 = AtomicU64::new(1);
        let event = &call.event;
        let name = a3s::shape_of_kind(event.event).map_or(event.native_event.as_str(), |shape| shape.name);
        Self {
            call_id: NEXT_CALL_ID.fetch_add(1, Ordering::Relaxed),
            hook: Arc::clone(&hook.id),
            event_type: name.into(),
            event_id: event.id,
            session: event.harness_session_id.as_deref().unwrap_or_default().into(),
            ts: event.ts,
            payload: a3s::payload(call, session).into(),
            deadline,
            attempt,
            redelivered: false,
        }
    }
}
