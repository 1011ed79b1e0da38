// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What happens in sessions, as it happens.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use axum::response::sse::Event;
use serde_json::json;

use crate::api::sse;
use crate::daemon::Daemon;
use crate::live::Lagged;

pub(super) async fn all(State(daemon): State<Arc<Daemon>>) -> Response {
    follow(daemon, None)
}

/// A session that has not begun may be followed: its id is all that has to be known.
pub(super) async fn one(State(daemon): State<Arc<Daemon>>, Path(id): Path<String>) -> Response {
    follow(daemon, Some(id))
}

fn follow(daemon: Arc<Daemon>, wanted: Option<String>) -> Response {
    let mut news = daemon.observers.followed.watch();
    sse::stream(daemon, |_, sender| async move {
        let hello = json!({"version": env!("CARGO_PKG_VERSION"), "session": wanted});
        if sender.send(Event::default().event("hello").data(hello.to_string())).await.is_err() {
            return;
        }
        loop {
            let event = match news.recv().await {
                Ok(news) if wanted.as_deref().is_none_or(|wanted| news.is_about(wanted)) => {
                    Event::default().event(news.kind).id(news.number.to_string()).data(&*news.data)
                }
                Ok(_) => continue,
                Err(Lagged::Lagged(missed)) => {
                    Event::default().event("lagged").data(json!({"missed": missed}).to_string())
                }
                Err(Lagged::Closed) => return,
            };
            if sender.send(event).await.is_err() {
                return;
            }
        }
    })
}
