// SPDX-License-Identifier: Apache-2.0 OR MIT

//! State of one server: the next turn of the script, and all requests so far.

use std::collections::HashSet;

use serde_json::Value;

use crate::protocol::Protocol;
use crate::script::{ConversationScript, ModelTurn};

/// Answer to requests that offer no tools. It is long enough for a title, and too short to be mistaken for anything
/// else.
const AUXILIARY_ANSWER: &str = "ok";

/// Answer when the script has no turns left.
const END_OF_SCRIPT_ANSWER: &str = "done";

/// Result of one tool call, as sent to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// Id of the tool call.
    pub call_id: String,
    /// Whether the agent marked the call as failed.
    pub is_error: bool,
    /// Text parts, joined by newlines.
    pub text: String,
}

impl ToolResult {
    /// Whether the model would read `text` in the result: directly, or in a string of JSON that the result contains.
    pub fn contains(&self, text: &str) -> bool {
        let within = |json: &Value| contains_text(json, text);
        self.text.contains(text) || serde_json::from_str(&self.text).is_ok_and(|json| within(&json))
    }
}

/// Whether a string of this value contains the text.
pub fn contains_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(items) => items.iter().any(|item| contains_text(item, text)),
        Value::Object(fields) => fields.values().any(|field| contains_text(field, text)),
        _ => false,
    }
}

pub(crate) struct Conversation {
    turns: std::vec::IntoIter<ModelTurn>,
    subagents: Vec<(String, std::vec::IntoIter<ModelTurn>)>,
    recorded: Vec<RecordedRequest>,
}

struct RecordedRequest {
    protocol: &'static dyn Protocol,
    body: Value,
}

impl Conversation {
    pub(crate) fn new(script: ConversationScript) -> Self {
        let subagents = script.subagents.into_iter();
        let subagents = subagents.map(|subagent| (subagent.prompt, subagent.turns.into_iter())).collect();
        Self { turns: script.turns.into_iter(), subagents, recorded: Vec::new() }
    }

    /// Records the request and returns the answer.
    pub(crate) fn answer(&mut self, protocol: &'static dyn Protocol, body: Value) -> ModelTurn {
        let turn = if protocol.offers_tools(&body) {
            let prompts = protocol.prompts(&body);
            let is_asked =
                |(prompt, _): &&mut (String, _)| prompts.iter().any(|text| text.contains(&*prompt));
            let turns = self.subagents.iter_mut().find(is_asked).map_or(&mut self.turns, |(_, turns)| turns);
            turns.next().unwrap_or_else(|| ModelTurn::text(END_OF_SCRIPT_ANSWER))
        } else {
            ModelTurn::text(AUXILIARY_ANSWER)
        };
        self.recorded.push(RecordedRequest { protocol, body });
        turn
    }

    pub(crate) fn requests(&self) -> Vec<Value> {
        self.recorded.iter().map(|recorded| recorded.body.clone()).collect()
    }

    pub(crate) fn agent_requests(&self) -> Vec<Value> {
        let agent = self.recorded.iter().filter(|recorded| recorded.protocol.offers_tools(&recorded.body));
        agent.map(|recorded| recorded.body.clone()).collect()
    }

    /// Every request repeats the history, so each result is included only the first time it appears.
    pub(crate) fn tool_results(&self) -> Vec<ToolResult> {
        let mut seen = HashSet::new();
        let all = self.recorded.iter().flat_map(|recorded| recorded.protocol.tool_results(&recorded.body));
        all.filter(|result| seen.insert(result.call_id.clone())).collect()
    }
}
