// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Everything that happens right now, as one stream.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use axum::response::sse::Event;
use axum::routing::on;
use serde_json::json;

use super::route::{Gives, Route};
use super::sse;
use crate::daemon::Daemon;
use crate::live::Lagged;

pub(super) const ROUTES: &[Route] = &[Route::get("/v1/stream", "stream", |method| on(method, stream))
    .about(
        "Everything live: `decided`, `session`, `approvals`, `generation`, `verify` and `warning` events; \
         `lagged` says how many were missed. What must not be missed is at /v1/ledger/tail.",
    )
    .gives(Gives::Stream("News"))
    .refuses(&[503])];

async fn stream(State(daemon): State<Arc<Daemon>>) -> Response {
    let (mut news, mut waiting) = (daemon.observers.live.watch(), daemon.approvals.changes());
    sse::stream(daemon, |daemon, sender| async move {
        let hello = json!({"version": env!("CARGO_PKG_VERSION"), "generation": daemon.generations.base().generation.name()});
        if sender.send(Event::default().event("hello").data(hello.to_string())).await.is_err() {
            return;
        }
        loop {
            let told = tokio::select! {
                told = news.recv() => told,
                _ = waiting.changed() => {
                    let pending = json!({"pending": daemon.approvals.cards()});
                    let event = Event::default().event("approvals").data(pending.to_string());
                    if sender.send(event).await.is_err() {
                        return;
                    }
                    continue;
                }
            };
            let event = match told {
                Ok(news) => Event::default().event(news.kind).id(news.number.to_string()).data(&*news.data),
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
