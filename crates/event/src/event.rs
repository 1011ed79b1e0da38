// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The event: one point in an agent's run, in a form common to all harnesses.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{EventId, EventKind, SandboxLevel, Timestamp, ToolCall, TranscriptUsage};

/// Version of the event format that this crate writes.
pub const FORMAT_VERSION: u32 = 1;

/// One point in an agent's run, in a form common to all harnesses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    /// Version of the event format.
    pub v: u32,
    /// Unique id, generated when the call is received.
    pub id: EventId,
    /// When the event was received.
    pub ts: Timestamp,
    /// The harness that sent the event: `claude-code`, `codex`, …
    pub source: String,
    /// Kind of the event.
    pub event: EventKind,
    /// The harness's own name for the event.
    pub native_event: String,
    /// Session id assigned by the harness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness_session_id: Option<String>,
    /// Result of comparing the session with the calling process. Absent if the session belongs to the caller or was
    /// not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_check: Option<SessionCheck>,
    /// When the event happened according to the sender's clock, if the sender reports it. `ts`, in contrast, is
    /// always set by Tenterhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_ts: Option<Timestamp>,
    /// Id, assigned by the harness, of the turn or prompt to which the event belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// Tool call id assigned by the harness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Working directory of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Root directory of the agent's project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The tool call the event is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolCall>,
    /// The agent: its model, its user account, and the subagent if there is one.
    #[serde(default, skip_serializing_if = "AgentIdentity::is_empty")]
    pub agent: AgentIdentity,
    /// Further content, depending on the kind of event.
    #[serde(default, skip_serializing_if = "EventDetail::is_empty")]
    pub detail: EventDetail,
}

/// Result of comparing the session of an event with the process that sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SessionCheck {
    /// The session belongs to another process, or the calling process is unknown.
    Unverified,
    /// The process that used the session before has ended, and the caller resumes the session.
    Resumed,
}

/// The agent that caused an event: its model, its user account, and the subagent if there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Agent"))]
pub struct AgentIdentity {
    /// Name of the model, as reported by the harness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// User account that runs the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Id of the subagent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Type of the subagent.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Id of the agent that started the subagent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// How the agent's run is confined, if it is a sandboxed run that the daemon knows. Senders cannot set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxLevel>,
}

/// Content of an event besides its tool call. The kind of event determines which fields are present. Each description
/// starts with the kinds that have the field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Detail"))]
pub struct EventDetail {
    /// prompt, stop: the user's prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// stop, subagent-stop: the agent's last message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// session-start, session-end, compaction, permission-denied: what caused the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// notification: the text of the notification; compaction: the instructions or the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// tool-error: the error message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// stop, subagent-stop: whether a hook has already made the agent continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_hook_active: Option<bool>,
    /// post-tool: output of the tool, in the harness's own format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_output: Option<Value>,
    /// pre-model, post-model, tool-selection: the request to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_request: Option<Value>,
    /// post-model: the model's response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_response: Option<Value>,
    /// Whether the harness has a tool that writes to running processes without firing a hook.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unhooked_stdin: bool,
    /// post-tool, tool-error: run time of the tool in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Token counts and cost of the session so far, from the harness's transcript; absent if unchanged.
    #[serde(default, skip_serializing_if = "TranscriptUsage::is_unrecorded")]
    pub usage: Option<TranscriptUsage>,
}

/// The payload exactly as the harness sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct NativePayload {
    /// The raw bytes.
    pub bytes: Vec<u8>,
    /// The parsed JSON object.
    pub fields: Map<String, Value>,
}

/// One hook call: the event, and the native payload it was decoded from.
#[derive(Debug, Clone, PartialEq)]
pub struct HookCall {
    /// The decoded event.
    pub event: Event,
    /// The original payload; `None` if the caller sent an [`Event`] directly.
    pub native: Option<NativePayload>,
}

// === impl Event ===

impl Event {
    /// Creates an event with the fields that every event has. All other fields are empty.
    pub fn new(id: EventId, ts: Timestamp, source: &str, event: EventKind, native_event: &str) -> Self {
        Self {
            v: FORMAT_VERSION,
            id,
            ts,
            source: source.to_owned(),
            event,
            native_event: native_event.to_owned(),
            harness_session_id: None,
            session_check: None,
            sender_ts: None,
            turn_id: None,
            tool_use_id: None,
            cwd: None,
            project: None,
            tool: None,
            agent: AgentIdentity::default(),
            detail: EventDetail::default(),
        }
    }
}

// === impl SessionCheck ===

impl SessionCheck {
    /// Returns the name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unverified => "unverified",
            Self::Resumed => "resumed",
        }
    }
}

// === impl AgentIdentity ===

impl AgentIdentity {
    /// Returns whether all fields are empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

// === impl EventDetail ===

impl EventDetail {
    /// Returns whether all fields are empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
