// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The trait for model protocols, which build requests and parse replies.

use serde_json::Value;

use super::http::ProviderHttpRequest;
use super::{
    ApiKey, ModelReply, ModelRequest, ModelToolCall, ModelUsage, ReplyDelta, SamplingOptions, StopReason,
};

/// Receives the pieces of a reply as they arrive.
pub(super) type DeltaSink<'a> = dyn FnMut(ReplyDelta) + Send + 'a;

/// A model protocol. It does no I/O: it builds requests and parses event data.
pub(super) trait ProviderProtocol: Send + Sync {
    /// Builds the HTTP request.
    fn request(&self, base_url: &str, key: Option<&ApiKey>, request: &ModelRequest) -> ProviderHttpRequest;

    /// Creates the parser for the reply.
    fn reader(&self, request: &ModelRequest) -> Box<dyn ReplyReader>;
}

/// Parses one reply, event by event.
pub(super) trait ReplyReader: Send {
    /// Parses the data of one event and reports new content to `deltas`.
    fn read_event(&mut self, data: &str, deltas: &mut DeltaSink<'_>) -> Result<StreamProgress, StreamError>;

    /// Returns whether the reply would be complete if the stream ended now.
    fn is_complete(&self) -> bool;

    /// Returns the reply so far.
    fn draft(&mut self) -> &mut ReplyDraft;
}

/// Whether more of the reply follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamProgress {
    /// More events follow.
    More,
    /// This was the last event.
    Over,
}

/// Why an event of the stream cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StreamError {
    /// The event could not be parsed.
    Malformed(String),
    /// The server failed; a retry may succeed.
    Failed(String),
    /// The server refused the request.
    Refused(String),
}

/// A reply in progress.
#[derive(Debug, Default)]
pub(super) struct ReplyDraft {
    pub(super) text: String,
    pub(super) calls: Vec<ModelToolCall>,
    pub(super) usage: ModelUsage,
    pub(super) stop: Option<StopReason>,
    pub(super) model: Option<String>,
}

// === impl ReplyDraft ===

impl ReplyDraft {
    /// Appends text to the reply and reports it as a delta.
    pub(super) fn push_text(&mut self, text: &str, deltas: &mut DeltaSink<'_>) {
        if !text.is_empty() {
            self.text.push_str(text);
            deltas(ReplyDelta::Text(text.to_owned()));
        }
    }

    /// Adds a complete tool call.
    pub(super) fn push_call(&mut self, call: ModelToolCall, deltas: &mut DeltaSink<'_>) {
        deltas(ReplyDelta::ToolCall(call.clone()));
        self.calls.push(call);
    }

    /// Returns whether any content has been reported.
    pub(super) fn has_content(&self) -> bool {
        !self.text.is_empty() || !self.calls.is_empty()
    }

    /// Takes the reply. If the reply has tool calls, [`StopReason::ToolUse`] replaces a missing stop reason and
    /// [`StopReason::EndTurn`].
    pub(super) fn take_reply(&mut self, requested_model: &str) -> ModelReply {
        let Self { text, calls, usage, stop, model } = std::mem::take(self);
        let stop = match stop {
            None | Some(StopReason::EndTurn) if !calls.is_empty() => StopReason::ToolUse,
            stop => stop.unwrap_or(StopReason::Other("cut".to_owned())),
        };
        let model = model.unwrap_or_else(|| requested_model.to_owned());
        ModelReply { text, tool_calls: calls, usage, stop, model }
    }
}

// === event data ===

/// Parses the data of an event. An `error` object is returned as an error.
pub(super) fn parse_event(data: &str) -> Result<Value, StreamError> {
    let value: Value = serde_json::from_str(data)
        .map_err(|error| StreamError::Malformed(format!("stream event is not valid JSON: {error}")))?;
    match value.get("error").filter(|error| !error.is_null()) {
        None => Ok(value),
        Some(error) => {
            let what =
                text_field(error, "message").or(error.as_str()).unwrap_or("no reason given").to_owned();
            let kind = text_field(error, "type").or_else(|| text_field(error, "status")).unwrap_or_default();
            let refused = kind.to_ascii_lowercase().starts_with("invalid");
            Err(if refused { StreamError::Refused(what) } else { StreamError::Failed(what) })
        }
    }
}

/// Parses the arguments of a tool call.
pub(super) fn parse_arguments(name: &str, text: &str) -> Result<Value, StreamError> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(text).map_err(|error| {
        StreamError::Malformed(format!("arguments of a `{name}` call are not valid JSON: {error}"))
    })
}

/// Adds a field to a JSON object.
pub(super) fn insert_field(body: &mut Value, key: &str, value: impl Into<Value>) {
    if let Some(fields) = body.as_object_mut() {
        fields.insert(key.to_owned(), value.into());
    }
}

/// Adds sampling options to a request body. `names` are the protocol's names for `top_p`, `top_k` and the stop
/// sequences.
pub(super) fn insert_sampling(body: &mut Value, sampling: &SamplingOptions, names: [Option<&str>; 3]) {
    let SamplingOptions { top_p, top_k, stop_sequences } = sampling;
    let stops = (!stop_sequences.is_empty()).then(|| Value::from(stop_sequences.as_slice()));
    let values = [top_p.map(Value::from), top_k.map(Value::from), stops];
    for (name, value) in names.into_iter().zip(values) {
        if let (Some(name), Some(value)) = (name, value) {
            insert_field(body, name, value);
        }
    }
}

/// Returns the string in a field.
pub(super) fn text_field<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// Returns the count in a field; 0 if the field is missing.
pub(super) fn count_field(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or_default()
}

/// Iterates over the items of an array field. There are none if the field is missing.
pub(super) fn array_items<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}
