// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The wire protocols, one module each. To add a protocol, add a module and a row in [`PROTOCOLS`].

mod anthropic;
mod gemini;
mod openai_chat;
mod openai_responses;

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::conversation::ToolResult;
use crate::http::ServerResponse;
use crate::script::ModelTurn;

/// Every protocol of the server, distinguished by path.
pub(crate) const PROTOCOLS: &[&dyn Protocol] = &[
    &anthropic::Messages,
    &openai_responses::Responses,
    &openai_chat::ChatCompletions,
    &gemini::GenerateContent,
];

pub(crate) trait Protocol: Sync {
    /// Whether a POST to this path requests a turn of the model.
    fn serves(&self, path: &str) -> bool;

    /// Whether the request comes from the agent's loop. Auxiliary requests, for example for a title, offer no tools.
    fn offers_tools(&self, body: &Value) -> bool {
        body.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty())
    }

    /// Texts of the user's messages.
    fn prompts(&self, body: &Value) -> Vec<String>;

    /// Every tool result in the request, in order.
    fn tool_results(&self, body: &Value) -> Vec<ToolResult>;

    /// The turn in the protocol's format, streamed if requested.
    fn reply(&self, path: &str, body: &Value, turn: &ModelTurn) -> ServerResponse;
}

fn items(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn string(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn is(value: &Value, key: &str, expected: &str) -> bool {
    value.get(key).and_then(Value::as_str) == Some(expected)
}

/// Texts of a message's content, which is either a string or a list of parts.
fn texts(content: Option<&Value>) -> Vec<String> {
    match content {
        Some(Value::String(text)) => vec![text.clone()],
        content => items(content).filter_map(|part| Some(part.get("text")?.as_str()?.to_owned())).collect(),
    }
}

/// Maximum number of characters in one event.
const MAX_PIECE_CHARS: usize = 16;

/// Splits a text into the pieces in which it is streamed. An empty text is one empty piece.
fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<_> = text.chars().collect();
    let pieces = characters.chunks(MAX_PIECE_CHARS).map(|piece| piece.iter().collect());
    if characters.is_empty() { vec![String::new()] } else { pieces.collect() }
}

/// Creates a call id. One counter serves the whole process: a test that runs an agent against two servers must not
/// see the same id twice.
fn fresh_id(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{prefix}_{:012}", NEXT.fetch_add(1, Ordering::Relaxed))
}
