// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Server-sent events: a task writes into a short queue, and the connection reads from it. A slow reader makes only its
//! own task wait.

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

/// How much waits for a slow reader.
const QUEUE: usize = 64;
/// How often a silent stream says that it is alive.
const SIGNS: Duration = Duration::from_secs(15);

/// Opens a stream; `write` fills it until the daemon shuts down or the reader is gone.
pub(super) fn stream<T, F>(
    daemon: Arc<Daemon>,
    write: impl FnOnce(Arc<Daemon>, Sender<Event>) -> F,
) -> Result<EventStream<T>, ApiError>
where
    F: Future<Output = ()> + Send + 'static,
{
    let Ok(room) = Arc::clone(&daemon.watchers).try_acquire_owned() else {
        return Err(ApiError::busy("too many streams are open").hint("close one of the others"));
    };
    let (sender, events) = channel(QUEUE);
    let (writing, closed) = (write(Arc::clone(&daemon), sender.clone()), sender);
    tokio::spawn(async move {
        tokio::select! {
            () = writing => {}
            () = closed.closed() => {}
            () = daemon.drained() => {}
        }
        drop(room);
    });
    let events = futures_util::stream::unfold(events, next);
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(SIGNS)).into_response();
    let headers = response.headers_mut();
    headers.insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    Ok(EventStream::new(response))
}

/// One event with data of a type.
pub(super) fn event(kind: &str, data: &impl Serialize) -> Event {
    Event::default().event(kind).data(to_json(data))
}

/// JSON text of plain data, which cannot fail to be written: it has no maps with other keys than strings.
pub(crate) fn to_json(data: &impl Serialize) -> String {
    serde_json::to_string(data).unwrap_or_default()
}

async fn next(mut events: Receiver<Event>) -> Option<(Result<Event, Infallible>, Receiver<Event>)> {
    let event = events.recv().await?;
    Some((Ok(event), events))
}
