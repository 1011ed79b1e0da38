// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The state of one server: which turn comes next, and what was asked so far.

use std::collections::HashSet;

use serde_json::Value;

use crate::protocol::Protocol;
use crate::script::{Script, Turn};

/// The answer to requests that offer no tools. Long enough to be a title, too short to be taken
/// for anything else.
const ASIDE: &str = "ok";

/// The answer once the script has no turns left.
const EXHAUSTED: &str = "done";

/// What the agent told the model about one tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The id of the call this answers.
    pub call_id: String,
    /// Whether the agent marked it as a failure.
    pub is_error: bool,
    /// The text parts, joined by newlines.
    pub text: String,
}

impl ToolResult {
    /// Whether the model reads this text in it: as it stands, or in a string of the JSON that it is.
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

    /// Records the request and says what to answer.
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

    /// Each request repeats the history before it, so a result counts the first time it is seen.
    pub(crate) fn tool_results(&self) -> Vec<ToolResult> {
        let mut seen = HashSet::new();
        let all = self.asked.iter().flat_map(|asked| asked.protocol.tool_results(&asked.body));
        all.filter(|result| seen.insert(result.call_id.clone())).collect()
    }
}
