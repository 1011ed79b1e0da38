// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Events in the normal form.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tenterhook_event::{AgentIdentity, EventDetail, EventId, EventKind, McpToolId, Timestamp, ToolClass};

/// How long to wait.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgeEventQuery {
    /// How long an `ask` may wait for a user, who makes it an `allow` or a `deny`; by default it does not wait.
    pub wait_ms: Option<u64>,
}

/// An event in the normal form. The daemon fills in missing fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventRequest {
    /// Version of the normal form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v: Option<u32>,
    /// Unique id; made by the daemon if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<EventId>,
    /// Time by the sender's clock; kept as `sender_ts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ts: Option<Timestamp>,
    /// The program that sends it.
    pub source: String,
    /// Kind of the event.
    pub event: EventKind,
    /// The sender's own name of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_event: Option<String>,
    /// The sender's id of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness_session_id: Option<String>,
    /// The sender's id of the turn or prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The sender's id of the tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Working directory of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Root of the project that the agent works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<EventToolRequest>,
    /// Agent that acts.
    #[serde(default)]
    pub agent: AgentIdentity,
    /// Further data of the event, by meaning.
    #[serde(default)]
    pub detail: EventDetail,
    /// The sender's own payload. Not for harnesses, which send theirs to `/v1/hooks/<harness>/<event>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Map<String, Value>>,
}

/// Tool call of an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventToolRequest {
    /// Name of the tool.
    pub name: String,
    /// Class of the tool; derived from the name of common tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ToolClass>,
    /// Arguments of the tool.
    #[serde(default)]
    pub args: Value,
    /// Server and tool, for a tool of an MCP server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpToolId>,
}
