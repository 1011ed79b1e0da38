// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Server-sent events: a task writes into a short queue, the connection reads from it. Whoever reads
//! slowly makes the task wait, and nobody else.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::refuse;
use crate::daemon::Daemon;

/// How much waits for a slow reader.
const QUEUE: usize = 64;
/// How often a silent stream says that it is alive.
const SIGNS: Duration = Duration::from_secs(15);

/// Opens a stream; `write` fills it until the daemon ends or nobody reads.
pub(super) fn stream<F>(daemon: Arc<Daemon>, write: impl FnOnce(Arc<Daemon>, Sender<Event>) -> F) -> Response
where
    F: Future<Output = ()> + Send + 'static,
{
    let Ok(room) = Arc::clone(&daemon.watchers).try_acquire_owned() else {
        let hint = "close one of the others";
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "too many streams are open", Some(hint));
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
    response
}

async fn next(mut events: Receiver<Event>) -> Option<(Result<Event, Infallible>, Receiver<Event>)> {
    let event = events.recv().await?;
    Some((Ok(event), events))
}
