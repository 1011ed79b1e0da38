// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One thing that happened or is about to, in our own shape.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{EventId, EventKind, Timestamp, ToolCall, TranscriptUsage};

/// The version of the normal form written by this crate.
pub const FORMAT_VERSION: u32 = 1;

/// The normal form: one event, whatever the harness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    /// Version of this form.
    pub v: u32,
    /// Unique id, minted at the door.
    pub id: EventId,
    /// When the event reached us.
    pub ts: Timestamp,
    /// The harness it came from: `claude-code`, `codex`, …
    pub source: String,
    /// What kind of event it is.
    pub event: EventKind,
    /// The harness's own name for it.
    pub native_event: String,
    /// The harness's id of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness_session_id: Option<String>,
    /// What the daemon found when it compared the session with the calling process; absent: the session is the
    /// caller's own, or nothing was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_check: Option<SessionCheck>,
    /// When it happened by the sender's clock, where the sender says so. `ts` is never the sender's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_ts: Option<Timestamp>,
    /// The harness's id of the turn or prompt the event belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The harness's id of the tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Where the agent works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Root of the project the agent works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The tool call the event is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolCall>,
    /// Who acts.
    #[serde(default, skip_serializing_if = "Agent::is_empty")]
    pub agent: Agent,
    /// What else the event carries, by meaning.
    #[serde(default, skip_serializing_if = "Detail::is_empty")]
    pub detail: Detail,
}

/// Whose session an event names, as far as the daemon can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SessionCheck {
    /// The session belongs to another process, or the calling process is not known.
    Unverified,
    /// The process that used the session before has ended, and the caller goes on with it.
    Resumed,
}

/// Who acts: the model, the person it acts for, and the subagent if there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Agent {
    /// The model, as the harness names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The person whose account runs the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The subagent's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The subagent's type.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The id of the agent that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// What an event carries beside its tool call. A field is there when the kind has a use for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detail {
    /// prompt, stop: what the person asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// stop, subagent-stop: what the agent said last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// session-start, session-end, compaction, permission-denied: what brought it about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// notification: the text; compaction: the instructions or the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// tool-error: what went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// stop, subagent-stop: the agent is already going on because of a hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_hook_active: Option<bool>,
    /// post-tool: what the tool returned, as the harness shapes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_output: Option<Value>,
    /// pre-model, post-model, tool-selection: the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_request: Option<Value>,
    /// post-model: the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_response: Option<Value>,
    /// The harness has a tool that types into running processes and fires no hook.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unhooked_stdin: bool,
    /// post-tool, tool-error: how long the tool ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Tokens and cost of the session so far, from the client's transcript; absent if nothing changed.
    #[serde(default, skip_serializing_if = "TranscriptUsage::is_unrecorded")]
    pub usage: Option<TranscriptUsage>,
}

/// The payload as the harness sent it, kept beside the event, untouched.
#[derive(Debug, Clone, PartialEq)]
pub struct Native {
    /// The exact bytes.
    pub bytes: Vec<u8>,
    /// The same, read.
    pub fields: Map<String, Value>,
}

/// One call at the door: the event, and the native payload it was decoded from.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The normal form.
    pub event: Event,
    /// What it was decoded from; absent when the caller spoke our words already.
    pub native: Option<Native>,
}

// === impl Event ===

impl Event {
    /// An event with nothing in it yet but what every event has.
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
            agent: Agent::default(),
            detail: Detail::default(),
        }
    }
}

// === impl SessionCheck ===

impl SessionCheck {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unverified => "unverified",
            Self::Resumed => "resumed",
        }
    }
}

// === impl Agent ===

impl Agent {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

// === impl Detail ===

impl Detail {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
