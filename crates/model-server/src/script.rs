// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The model's answers, in order.

use serde::Deserialize;
use serde_json::Value;

/// Turns of the main agent and of its subagents. Requests without tools (titles, summaries, prompt hooks) do not
/// consume a turn.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConversationScript {
    pub(crate) turns: Vec<ModelTurn>,
    #[serde(default)]
    pub(crate) subagents: Vec<Subagent>,
}

/// Turns of one subagent. The subagent may run in parallel with the main agent, so it is recognised by its prompt.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Subagent {
    /// Text that only the prompt of this subagent contains.
    pub(crate) prompt: String,
    pub(crate) turns: Vec<ModelTurn>,
}

/// One answer of the model: text, tool calls, or both.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelTurn {
    pub(crate) text: Option<String>,
    pub(crate) tool_calls: Vec<ScriptedCall>,
    pub(crate) usage: TurnUsage,
    pub(crate) fault: Option<Fault>,
}

/// Number of tokens that the turn reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TurnUsage {
    /// Input tokens without the cached ones.
    pub input: u64,
    /// Output tokens of the turn.
    pub output: u64,
    /// Input tokens read from a cache.
    pub cache_read: u64,
    /// Input tokens written to a cache; only some protocols report them.
    pub cache_write: u64,
}

/// A fault of a turn. The turn is consumed in any case: a retry gets the next turn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Fault {
    /// The connection ends after this many events of the stream.
    Cut {
        /// Number of events before the fault.
        after: usize,
    },
    /// The stream is ended properly, but too early: after this many events.
    Short {
        /// Number of events before the end.
        after: usize,
    },
    /// A pause after this many events, including the header.
    Stall {
        /// Number of events before the pause.
        after: usize,
        /// Length of the pause.
        ms: u64,
    },
    /// Invalid data after this many events; the rest follows.
    Malformed {
        /// Number of events before the fault.
        after: usize,
    },
    /// An error instead of an answer.
    Status {
        /// HTTP status of the response.
        status: u16,
        /// Seconds until a retry.
        #[serde(default)]
        retry_after: Option<u64>,
        /// Message of the error.
        #[serde(default)]
        message: Option<String>,
    },
}

impl Default for TurnUsage {
    fn default() -> Self {
        Self { input: 1, output: 1, cache_read: 0, cache_write: 0 }
    }
}

/// One call of a tool that the agent offered.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// Name of the tool, as the agent spells it.
    pub name: String,
    /// Group of the tool, in protocols with tool groups.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Arguments; a string for tools with free-text arguments, in protocols that have them.
    pub input: Value,
}

impl ConversationScript {
    /// An empty script: the model answers "done" at once.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a turn at the end.
    #[must_use]
    pub fn turn(mut self, turn: ModelTurn) -> Self {
        self.turns.push(turn);
        self
    }

    /// Adds the turns of a subagent whose prompt contains `prompt`.
    #[must_use]
    pub fn subagent(mut self, prompt: impl Into<String>, turns: impl IntoIterator<Item = ModelTurn>) -> Self {
        self.subagents.push(Subagent { prompt: prompt.into(), turns: turns.into_iter().collect() });
        self
    }
}

impl ModelTurn {
    /// A turn with only text, which ends the agent's run.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// A turn that calls one tool.
    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        Self::default().and_tool(name, input)
    }

    /// Adds a tool call to this turn. The agent may run several calls of one turn in parallel.
    #[must_use]
    pub fn and_tool(mut self, name: impl Into<String>, input: Value) -> Self {
        self.tool_calls.push(ScriptedCall { name: name.into(), namespace: None, input });
        self
    }

    /// Sets the number of tokens that the turn reports.
    #[must_use]
    pub fn with_usage(mut self, usage: TurnUsage) -> Self {
        self.usage = usage;
        self
    }

    /// Adds a fault.
    #[must_use]
    pub fn with_fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// An error instead of an answer.
    pub fn status(status: u16) -> Self {
        Self::default().with_fault(Fault::Status { status, retry_after: None, message: None })
    }
}

impl From<ScriptedCall> for ModelTurn {
    fn from(call: ScriptedCall) -> Self {
        Self { tool_calls: vec![call], ..Self::default() }
    }
}

impl ScriptedCall {
    /// A call of a tool without a group.
    pub fn new(name: impl Into<String>, input: Value) -> Self {
        Self { name: name.into(), namespace: None, input }
    }

    /// A call of a tool in a group.
    #[must_use]
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_script_file_reads_as_the_builder_writes() {
        let file = json!({"turns": [
            {"text": "look", "tool_calls": [{"name": "Bash", "input": {"command": "ls"}}]},
            {"text": "bye"},
        ]});
        let built = ConversationScript::new()
            .turn(ModelTurn::text("look").and_tool("Bash", json!({"command": "ls"})))
            .turn(ModelTurn::text("bye"));
        assert_eq!(serde_json::from_value::<ConversationScript>(file).unwrap(), built);
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        let file = json!({"turns": [{"txt": "look"}]});
        assert!(serde_json::from_value::<ConversationScript>(file).is_err());
    }
}
