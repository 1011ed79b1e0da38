// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What each protocol says for itself: how it asks, and how it reads an answer.

use serde_json::Value;

use super::http::Post;
use super::{Delta, Key, ModelReply, ModelRequest, Sampling, StopReason, ToolCall, Usage};

/// Where pieces of an answer go as they arrive.
pub(super) type Deltas<'a> = dyn FnMut(Delta) + Send + 'a;

/// One protocol. It knows no network: requests go out as values, events come in as texts.
pub(super) trait Wire: Send + Sync {
    /// The request in its own words.
    fn request(&self, base_url: &str, key: Option<&Key>, request: &ModelRequest) -> Post;

    /// Reads the answer to such a request.
    fn reader(&self, request: &ModelRequest) -> Box<dyn Reader>;
}

/// Reads one answer, event by event.
pub(super) trait Reader: Send {
    /// Takes in the data of one event, and tells what is new.
    fn take(&mut self, data: &str, deltas: &mut Deltas<'_>) -> Result<Progress, Trouble>;

    /// Whether the answer is whole, should nothing more come.
    fn is_whole(&self) -> bool;

    /// What came so far.
    fn draft(&mut self) -> &mut Draft;
}

/// Whether more is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// It is.
    More,
    /// That was the last event.
    Over,
}

/// An event that is no part of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It cannot be read.
    Malformed(String),
    /// The server is in trouble; it might answer later.
    Failed(String),
    /// The server will not answer this.
    Refused(String),
}

/// What came of an answer so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) text: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) usage: Usage,
    pub(super) stop: Option<StopReason>,
    pub(super) model: Option<String>,
}

// === impl Draft ===

impl Draft {
    /// More words.
    pub(super) fn say(&mut self, text: &str, deltas: &mut Deltas<'_>) {
        if !text.is_empty() {
            self.text.push_str(text);
            deltas(Delta::Text(text.to_owned()));
        }
    }

    /// A whole tool call.
    pub(super) fn call(&mut self, call: ToolCall, deltas: &mut Deltas<'_>) {
        deltas(Delta::ToolCall(call.clone()));
        self.calls.push(call);
    }

    /// Whether anything of it was told already.
    pub(super) fn is_told(&self) -> bool {
        !self.text.is_empty() || !self.calls.is_empty()
    }

    /// The reply, from what came. A call is why it ended, whatever a server calls that.
    pub(super) fn reply(&mut self, asked: &str) -> ModelReply {
        let Self { text, calls, usage, stop, model } = std::mem::take(self);
        let stop = match stop {
            None | Some(StopReason::EndTurn) if !calls.is_empty() => StopReason::ToolUse,
            stop => stop.unwrap_or(StopReason::Other("cut".to_owned())),
        };
        let model = model.unwrap_or_else(|| asked.to_owned());
        ModelReply { text, tool_calls: calls, usage, stop, model }
    }
}

// === events as values ===

/// The data of an event as JSON. An error that stands in its place is told as one.
pub(super) fn json(data: &str) -> Result<Value, Trouble> {
    let value: Value = serde_json::from_str(data)
        .map_err(|error| Trouble::Malformed(format!("an event of the stream is not JSON: {error}")))?;
    match value.get("error").filter(|error| !error.is_null()) {
        None => Ok(value),
        Some(error) => {
            let what = text(error, "message").or(error.as_str()).unwrap_or("no reason given").to_owned();
            let kind = text(error, "type").or_else(|| text(error, "status")).unwrap_or_default();
            let refused = kind.to_ascii_lowercase().starts_with("invalid");
            Err(if refused { Trouble::Refused(what) } else { Trouble::Failed(what) })
        }
    }
}

/// The arguments of a call, which came as text.
pub(super) fn arguments(name: &str, text: &str) -> Result<Value, Trouble> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(text).map_err(|error| {
        Trouble::Malformed(format!("the arguments of a call of `{name}` are not JSON: {error}"))
    })
}

/// Adds a field to a body.
pub(super) fn put(body: &mut Value, key: &str, value: impl Into<Value>) {
    if let Some(fields) = body.as_object_mut() {
        fields.insert(key.to_owned(), value.into());
    }
}

/// Adds the settings of the generation, under the protocol's names for `top_p`, `top_k` and the stop sequences.
pub(super) fn put_sampling(body: &mut Value, sampling: &Sampling, names: [Option<&str>; 3]) {
    let Sampling { top_p, top_k, stop_sequences } = sampling;
    let stops = (!stop_sequences.is_empty()).then(|| Value::from(stop_sequences.as_slice()));
    let values = [top_p.map(Value::from), top_k.map(Value::from), stops];
    for (name, value) in names.into_iter().zip(values) {
        if let (Some(name), Some(value)) = (name, value) {
            put(body, name, value);
        }
    }
}

/// A text field.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// A count, zero where there is none.
pub(super) fn count(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or_default()
}

/// The items of a list, none where there is no list.
pub(super) fn items<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}
