// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What happens in sessions, as it happens.

use std::sync::Arc;

use axum::extract::State;
use axum::response::sse::Event;
use tenterhook_api::{MissedEvents, SessionEvent, SessionStreamHello};

use crate::api::error::ApiError;
use crate::api::extract::PathParams;
use crate::api::shape::EventStream;
use crate::api::sse;
use crate::daemon::Daemon;
use crate::live::Lagged;

pub(super) async fn all(State(daemon): State<Arc<Daemon>>) -> Result<EventStream<SessionEvent>, ApiError> {
    follow(daemon, None)
}

/// A session that has not begun may be followed: its id is all that has to be known.
pub(super) async fn one(
    State(daemon): State<Arc<Daemon>>,
    PathParams(id): PathParams<String>,
) -> Result<EventStream<SessionEvent>, ApiError> {
    follow(daemon, Some(id))
}

fn follow(daemon: Arc<Daemon>, wanted: Option<String>) -> Result<EventStream<SessionEvent>, ApiError> {
    let mut news = daemon.observers.followed.watch();
    sse::stream(daemon, |_, sender| async move {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let hello = SessionStreamHello { version, session: wanted.clone() };
        if sender.send(sse::event("hello", &hello)).await.is_err() {
            return;
        }
        loop {
            let event = match news.recv().await {
                Ok(news) if wanted.as_deref().is_none_or(|wanted| news.is_about(wanted)) => {
                    Event::default().event(news.kind).id(news.number.to_string()).data(&*news.data)
                }
                Ok(_) => continue,
                Err(Lagged::Lagged(missed)) => sse::event("lagged", &MissedEvents { missed }),
                Err(Lagged::Closed) => return,
            };
            if sender.send(event).await.is_err() {
                return;
            }
        }
    })
}
