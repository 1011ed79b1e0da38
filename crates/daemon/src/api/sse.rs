// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sends server-sent events. A task writes into a short queue, so a slow reader blocks only the task that serves it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::IntoResponse as _;
use axum::response::sse::{Event, KeepAlive, Sse};
use serde::Serialize;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::error::ApiError;
use super::shape::EventStream;
use crate::daemon::Daemon;

/// Maximum number of events queued for a slow reader.
const SSE_QUEUE_EVENTS: usize = 64;
/// Interval between keep-alive comments on a silent stream.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Opens a stream. `write` fills it until the daemon shuts down or the reader disconnects.
pub(super) fn stream<T, F>(
    daemon: Arc<Daemon>,
    write: impl FnOnce(Arc<Daemon>, Sender<Event>) -> F,
) -> Result<EventStream<T>, ApiError>
where
    F: Future<Output = ()> + Send + 'static,
{
    let Ok(room) = Arc::clone(&daemon.stream_slots).try_acquire_owned() else {
        return Err(ApiError::busy("too many open streams").hint("close another stream"));
    };
    let (sender, events) = channel(SSE_QUEUE_EVENTS);
    let (writing, closed) = (write(Arc::clone(&daemon), sender.clone()), sender);
    tokio::spawn(async move {
        tokio::select! {
            () = writing => {}
            () = closed.closed() => {}
            () = daemon.wait_drained() => {}
        }
        drop(room);
    });
    let events = futures_util::stream::unfold(events, next);
    let mut response =
        Sse::new(events).keep_alive(KeepAlive::new().interval(KEEPALIVE_INTERVAL)).into_response();
    let headers = response.headers_mut();
    headers.insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    Ok(EventStream::new(response))
}

/// Builds one event with its data as JSON.
pub(super) fn event(kind: &str, data: &impl Serialize) -> Event {
    Event::default().event(kind).data(to_json(data))
}

/// Serializes plain data. This cannot fail, because all map keys are strings.
pub(crate) fn to_json(data: &impl Serialize) -> String {
    serde_json::to_string(data).unwrap_or_default()
}

async fn next(mut events: Receiver<Event>) -> Option<(Result<Event, Infallible>, Receiver<Event>)> {
    let event = events.recv().await?;
    Some((Ok(event), events))
}
