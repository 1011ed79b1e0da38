// SPDX-License-Identifier: Apache-2.0 OR MIT

//! State of one server: the next turn, and the requests so far.

use std::collections::HashSet;

use serde_json::Value;

use crate::protocol::Protocol;
use crate::script::{Script, Turn};

/// Answer to requests that offer no tools. Long enough for a title, too short to be mistaken for anything else.
const ASIDE: &str = "ok";

/// Answer when the script has no turns left.
const EXHAUSTED: &str = "done";

/// Result of one tool call, as sent to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// Id of the tool call.
    pub call_id: String,
    /// Whether the agent marked it as failed.
    pub is_error: bool,
    /// Text parts, joined by newlines.
    pub text: String,
}

impl ToolResult {
    /// Whether the model reads this text in it: directly, or in a string of the JSON that it contains.
    pub fn reads(&self, text: &str) -> bool {
        let within = |json: &Value| anywhere(json, text);
        self.text.contains(text) || serde_json::from_str(&self.text).is_ok_and(|json| within(&json))
    }
}

/// Whether a string of this value contains the text.
pub fn anywhere(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(items) => items.iter().any(|item| anywhere(item, text)),
        Value::Object(fields) => fields.values().any(|field| anywhere(field, text)),
        _ => false,
    }
}

pub(crate) struct Conversation {
    turns: std::vec::IntoIter<Turn>,
    subagents: Vec<(String, std::vec::IntoIter<Turn>)>,
    asked: Vec<Asked>,
}

struct Asked {
    protocol: &'static dyn Protocol,
    body: Value,
}

impl Conversation {
    pub(crate) fn new(script: Script) -> Self {
        let subagents = script.subagents.into_iter();
        let subagents = subagents.map(|subagent| (subagent.prompt, subagent.turns.into_iter())).collect();
        Self { turns: script.turns.into_iter(), subagents, asked: Vec::new() }
    }

    /// Records the request and returns the answer.
    pub(crate) fn answer(&mut self, protocol: &'static dyn Protocol, body: Value) -> Turn {
        let turn = if protocol.offers_tools(&body) {
            let prompts = protocol.prompts(&body);
            let is_asked =
                |(prompt, _): &&mut (String, _)| prompts.iter().any(|text| text.contains(&*prompt));
            let turns = self.subagents.iter_mut().find(is_asked).map_or(&mut self.turns, |(_, turns)| turns);
            turns.next().unwrap_or_else(|| Turn::text(EXHAUSTED))
        } else {
            Turn::text(ASIDE)
        };
        self.asked.push(Asked { protocol, body });
        turn
    }

    pub(crate) fn requests(&self) -> Vec<Value> {
        self.asked.iter().map(|asked| asked.body.clone()).collect()
    }

    pub(crate) fn agent_requests(&self) -> Vec<Value> {
        let agent = self.asked.iter().filter(|asked| asked.protocol.offers_tools(&asked.body));
        agent.map(|asked| asked.body.clone()).collect()
    }

    /// Each request repeats the earlier history, so a result counts the first time it is seen.
    pub(crate) fn tool_results(&self) -> Vec<ToolResult> {
        let mut seen = HashSet::new();
        let all = self.asked.iter().flat_map(|asked| asked.protocol.tool_results(&asked.body));
        all.filter(|result| seen.insert(result.call_id.clone())).collect()
    }
}
