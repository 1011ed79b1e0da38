// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `Watch`: streams live events.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::Stream;
use serde_json::{Value, json};
use tenterhook_proto::v1::{WatchEvent, WatchRequest};
use tonic::Status;

use crate::daemon::Daemon;
use crate::live::{LiveMessage, ReceiveError};

pub(crate) type LiveEventStream = Pin<Box<dyn Stream<Item = Result<WatchEvent, Status>> + Send>>;

/// Maximum number of events queued for a slow reader.
const MAX_QUEUED_EVENTS: usize = 64;

pub(super) fn open(daemon: &Arc<Daemon>, wanted: WatchRequest) -> Result<LiveEventStream, Status> {
    let Ok(room) = Arc::clone(&daemon.stream_slots).try_acquire_owned() else {
        return Err(Status::resource_exhausted("too many open streams; close one"));
    };
    let mut messages = daemon.observers.live.subscribe();
    let (sender, events) = tokio::sync::mpsc::channel(MAX_QUEUED_EVENTS);
    let daemon = Arc::clone(daemon);
    tokio::spawn(async move {
        let telling = async {
            loop {
                let event = match messages.recv().await {
                    Ok(one) if is_wanted(&wanted, &one) => WatchEvent {
                        number: one.number,
                        kind: one.kind.to_owned(),
                        data: one.data.as_bytes().to_vec(),
                    },
                    Ok(_) => continue,
                    Err(ReceiveError::Lagged(missed)) => {
                        let data = json!({"missed": missed}).to_string().into_bytes();
                        WatchEvent { number: 0, kind: "lagged".to_owned(), data }
                    }
                    Err(ReceiveError::Closed) => return,
                };
                if sender.send(Ok(event)).await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = telling => {}
            () = sender.closed() => {}
            () = daemon.wait_drained() => {}
        }
        drop(room);
    });
    Ok(Box::pin(futures_util::stream::unfold(events, async |mut events| {
        let event = events.recv().await?;
        Some((event, events))
    })))
}

fn is_wanted(wanted: &WatchRequest, one: &LiveMessage) -> bool {
    let kind = wanted.kinds.is_empty() || wanted.kinds.iter().any(|kind| kind == one.kind);
    kind && (wanted.session_id.is_empty() || is_of_session(&one.data, &wanted.session_id))
}

fn is_of_session(data: &str, session: &str) -> bool {
    let data: Value = serde_json::from_str(data).unwrap_or_default();
    ["session", "id"].iter().any(|key| data.get(key).and_then(Value::as_str) == Some(session))
}
