// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Streams all live events.

use std::sync::Arc;

use axum::extract::State;
use axum::response::sse::Event;
use tenterhook_api::{LiveEvent, LiveHello, MissedEvents};

use super::error::ApiError;
use super::route::Route;
use super::shape::EventStream;
use super::{approvals, sse};
use crate::daemon::Daemon;
use crate::live::ReceiveError;

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

fn live_event(event: &LiveEvent) -> Event {
    sse::event(event.kind(), event)
}

async fn stream(State(daemon): State<Arc<Daemon>>) -> Result<EventStream<LiveEvent>, ApiError> {
    let (mut messages, mut waiting) =
        (daemon.observers.live.subscribe(), daemon.approvals.subscribe_changes());
    sse::stream(daemon, |daemon, sender| async move {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let generation = daemon.generations.base().generation.name().to_owned();
        let hello = LiveEvent::Hello(LiveHello { version, generation });
        if sender.send(live_event(&hello)).await.is_err() {
            return;
        }
        loop {
            let next = tokio::select! {
                next = messages.recv() => match next {
                    Ok(message) => {
                        Event::default().event(message.kind).id(message.number.to_string()).data(&*message.data)
                    }
                    Err(ReceiveError::Lagged(missed)) => live_event(&LiveEvent::Lagged(MissedEvents { missed })),
                    Err(ReceiveError::Closed) => return,
                },
                _ = waiting.changed() => live_event(&LiveEvent::Approvals(approvals::pending_list(&daemon))),
            };
            if sender.send(next).await.is_err() {
                return;
            }
        }
    })
}
