// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Everything that happens right now, as one stream.

use std::sync::Arc;

use axum::extract::State;
use axum::response::sse::Event;
use tenterhook_api::{LiveEvent, LiveHello, MissedEvents};

use super::error::ApiError;
use super::route::Route;
use super::shape::EventStream;
use super::{approvals, sse};
use crate::daemon::Daemon;
use crate::live::Lagged;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/stream", "stream", stream)
            .about(
                "Live events: `decided`, `session`, `approvals`, `generation`, `verify` and `warning`; `lagged` has the \
                 number of missed events. /v1/ledger/tail misses none.",
            )
            .errors(&[503]),
    ]
}

fn event(news: &LiveEvent) -> Event {
    sse::event(news.kind(), news)
}

async fn stream(State(daemon): State<Arc<Daemon>>) -> Result<EventStream<LiveEvent>, ApiError> {
    let (mut news, mut waiting) = (daemon.observers.live.watch(), daemon.approvals.changes());
    sse::stream(daemon, |daemon, sender| async move {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let generation = daemon.generations.base().generation.name().to_owned();
        let hello = LiveEvent::Hello(LiveHello { version, generation });
        if sender.send(event(&hello)).await.is_err() {
            return;
        }
        loop {
            let next = tokio::select! {
                next = news.recv() => match next {
                    Ok(news) => {
                        Event::default().event(news.kind).id(news.number.to_string()).data(&*news.data)
                    }
                    Err(Lagged::Lagged(missed)) => event(&LiveEvent::Lagged(MissedEvents { missed })),
                    Err(Lagged::Closed) => return,
                },
                _ = waiting.changed() => event(&LiveEvent::Approvals(approvals::pending(&daemon))),
            };
            if sender.send(next).await.is_err() {
                return;
            }
        }
    })
}
