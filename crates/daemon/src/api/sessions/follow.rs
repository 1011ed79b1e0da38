// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Live streams of session events.

use std::sync::Arc;

use axum::extract::State;
use axum::response::sse::Event;
use tenterhook_api::{MissedEvents, SessionEvent, SessionStreamHello};

use crate::api::error::ApiError;
use crate::api::extract::PathParams;
use crate::api::shape::EventStream;
use crate::api::sse;
use crate::daemon::Daemon;
use crate::live::ReceiveError;

pub(super) async fn follow_all(
    State(daemon): State<Arc<Daemon>>,
) -> Result<EventStream<SessionEvent>, ApiError> {
    follow(daemon, None)
}

/// Follows one session, which may start later: only its id must be known.
pub(super) async fn follow_one(
    State(daemon): State<Arc<Daemon>>,
    PathParams(id): PathParams<String>,
) -> Result<EventStream<SessionEvent>, ApiError> {
    follow(daemon, Some(id))
}

fn follow(daemon: Arc<Daemon>, wanted: Option<String>) -> Result<EventStream<SessionEvent>, ApiError> {
    let mut messages = daemon.observers.session_feed.subscribe();
    sse::stream(daemon, |_, sender| async move {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let hello = SessionStreamHello { version, session: wanted.clone() };
        if sender.send(sse::event("hello", &hello)).await.is_err() {
            return;
        }
        loop {
            let event = match messages.recv().await {
                Ok(message) if wanted.as_deref().is_none_or(|wanted| message.is_about(wanted)) => {
                    Event::default().event(message.kind).id(message.number.to_string()).data(&*message.data)
                }
                Ok(_) => continue,
                Err(ReceiveError::Lagged(missed)) => sse::event("lagged", &MissedEvents { missed }),
                Err(ReceiveError::Closed) => return,
            };
            if sender.send(event).await.is_err() {
                return;
            }
        }
    })
}
