// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the model will say, in the order it will say it.

use serde::Deserialize;
use serde_json::Value;

/// The turns of the main agent, and of its subagents. Requests that offer no tools (titles, summaries,
/// prompt hooks) do not consume one.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub(crate) turns: Vec<Turn>,
    #[serde(default)]
    pub(crate) subagents: Vec<Subagent>,
}

/// The turns of one subagent, which is known by what it was asked: it may run beside the main agent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Subagent {
    /// What its prompt contains, and nobody else's.
    pub(crate) prompt: String,
    pub(crate) turns: Vec<Turn>,
}

/// One answer of the model: text, tool calls, or both.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    pub(crate) text: Option<String>,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) usage: Usage,
    pub(crate) fault: Option<Fault>,
}

/// How many tokens the turn is said to have cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    /// Read afresh.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Put into a cache; only some protocols tell.
    pub cache_write: u64,
}

/// What goes wrong with a turn on its way. The turn is used up all the same: who asks again gets the next.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Fault {
    /// The connection ends after so many events of the stream.
    Cut {
        /// How many events come before.
        after: usize,
    },
    /// The stream ends in good order, but after so many events.
    Short {
        /// How many events come before.
        after: usize,
    },
    /// Nothing comes for a while after so many events, the first of them being the head.
    Stall {
        /// How many events come before.
        after: usize,
        /// How long nothing comes.
        ms: u64,
    },
    /// Something that cannot be read comes after so many events; the rest follows.
    Malformed {
        /// How many events come before.
        after: usize,
    },
    /// An error instead of an answer.
    Status {
        /// The HTTP status.
        status: u16,
        /// When to ask again, in seconds.
        #[serde(default)]
        retry_after: Option<u64>,
        /// What it says.
        #[serde(default)]
        message: Option<String>,
    },
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 1, output: 1, cache_read: 0, cache_write: 0 }
    }
}

/// One call of a tool that the agent offered.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The tool's name, as the agent spells it.
    pub name: String,
    /// What it is grouped under, in the protocols that group tools.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Its arguments; a text for a tool whose arguments are free text, in the protocols that have such tools.
    pub input: Value,
}

impl Script {
    /// An empty script: the model says "done" at once.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a turn at the end.
    #[must_use]
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// Adds the turns of a subagent whose prompt contains `prompt`.
    #[must_use]
    pub fn subagent(mut self, prompt: impl Into<String>, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.subagents.push(Subagent { prompt: prompt.into(), turns: turns.into_iter().collect() });
        self
    }
}

impl Turn {
    /// A turn that only says something. It ends the agent's run.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// A turn that calls one tool.
    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        Self::default().and_tool(name, input)
    }

    /// Adds a tool call to this turn; several in one turn may run at the same time.
    #[must_use]
    pub fn and_tool(mut self, name: impl Into<String>, input: Value) -> Self {
        self.tool_calls.push(ToolCall { name: name.into(), namespace: None, input });
        self
    }

    /// Says what the turn has cost.
    #[must_use]
    pub fn costing(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Lets it go wrong on its way.
    #[must_use]
    pub fn failing(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// An error instead of an answer.
    pub fn status(status: u16) -> Self {
        Self::default().failing(Fault::Status { status, retry_after: None, message: None })
    }
}

impl From<ToolCall> for Turn {
    fn from(call: ToolCall) -> Self {
        Self { tool_calls: vec![call], ..Self::default() }
    }
}

impl ToolCall {
    /// A call of a tool that stands alone.
    pub fn new(name: impl Into<String>, input: Value) -> Self {
        Self { name: name.into(), namespace: None, input }
    }

    /// The same, of a tool in a group.
    #[must_use]
    pub fn under(mut self, namespace: impl Into<String>) -> Self {
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
        let built = Script::new()
            .turn(Turn::text("look").and_tool("Bash", json!({"command": "ls"})))
            .turn(Turn::text("bye"));
        assert_eq!(serde_json::from_value::<Script>(file).unwrap(), built);
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        let file = json!({"turns": [{"txt": "look"}]});
        assert!(serde_json::from_value::<Script>(file).is_err());
    }
}
