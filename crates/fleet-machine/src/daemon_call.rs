// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Requests to the daemon of this machine.

use std::sync::Arc;

use serde_json::Value;

/// A request to the daemon's API.
#[derive(Debug, Clone, PartialEq)]
pub struct DaemonRequest {
    /// Path of the resource.
    pub path: String,
    /// Body of a `POST` request; `None` for `GET`.
    pub body: Option<Value>,
}

/// Sends a request to the daemon and returns status and body; `None` if no daemon answers. It may block.
pub type DaemonCall = Arc<dyn Fn(DaemonRequest) -> Option<(u16, Value)> + Send + Sync>;

/// Sends a request on another thread.
pub(crate) async fn ask(daemon: &DaemonCall, path: &str, body: Option<Value>) -> Option<(u16, Value)> {
    let (daemon, request) = (Arc::clone(daemon), DaemonRequest { path: path.to_owned(), body });
    tokio::task::spawn_blocking(move || daemon(request)).await.ok().flatten()
}

/// Returns the message of an error response.
pub(crate) fn error_message((status, body): &(u16, Value)) -> String {
    let message = body.get("error").and_then(|error| error.get("message")?.as_str());
    let message =
        message.map_or_else(|| format!("the daemon answered with status {status}"), ToOwned::to_owned);
    message.chars().take(500).collect()
}
