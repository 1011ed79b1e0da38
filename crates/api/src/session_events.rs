// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Events in the session streams.

use serde::{Deserialize, Serialize};
use tenterhook_event::{Decision, Timestamp};

use crate::{
    DeniedCall, FileChange, MissingContent, SessionTodos, SessionUsage, SubagentSummary, SuggestionResult,
    ToolGist,
};

/// Data of one event in a session stream. The event's name determines the type of the change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionEvent {
    /// The harness's id for the session.
    pub session: String,
    /// Id of the harness.
    pub harness: String,
    /// The record that the event comes from.
    pub at: RecordPosition,
    /// Kind and content of the change.
    #[serde(flatten)]
    pub change: SessionChange,
}

/// Number and time of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordPosition {
    /// Number of the record.
    pub seq: u64,
    /// Time of the event.
    pub ts: Timestamp,
}

/// What changed in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum SessionChange {
    /// `file-changed`: a file was changed.
    FileChanged(FileChange),
    /// `tool`: a tool call was decided or ended.
    Tool(ToolProgress),
    /// `denied`: a call was denied.
    Denied(DeniedCall),
    /// `hint`: the agent's next call after a denial.
    Hint(SuggestionProgress),
    /// `todo-update`: the to-do list changed.
    Todos(SessionTodos),
    /// `subagent`: a subagent started or ended.
    Subagent(SubagentSummary),
    /// `prompt`: a prompt was sent.
    Prompt(PromptText),
    /// `ended`: the session ended.
    Ended(SessionEnd),
    /// `usage`: tokens and cost changed.
    Usage(SessionUsage),
}

impl SessionChange {
    /// Returns the event's name in the stream.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::FileChanged(_) => "file-changed",
            Self::Tool(_) => "tool",
            Self::Denied(_) => "denied",
            Self::Hint(_) => "hint",
            Self::Todos(_) => "todo-update",
            Self::Subagent(_) => "subagent",
            Self::Prompt(_) => "prompt",
            Self::Ended(_) => "ended",
            Self::Usage(_) => "usage",
        }
    }
}

/// State of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolProgress {
    /// The tool call, in one line.
    pub tool: ToolGist,
    /// State of the call.
    pub state: ToolCallState,
    /// The harness's id for the call.
    pub tool_use_id: Option<String>,
    /// The subagent that made the call.
    pub agent: Option<String>,
    /// The verdict on the call.
    pub verdict: Decision,
    /// Run time of the tool, in milliseconds.
    pub ran_ms: Option<u64>,
    /// Why content is missing.
    pub gone: Option<MissingContent>,
}

/// State of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ToolCallState {
    /// The call was permitted; its result is not known yet.
    Asked,
    /// The call ran.
    Done,
    /// The call failed.
    Failed,
    /// The call was denied.
    Denied,
}

/// What the agent did in its next call after a denial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuggestionProgress {
    /// Number of the denial's record.
    pub denied: u64,
    /// What the agent did in its next call.
    pub hint: SuggestionResult,
}

/// Text of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptText {
    /// Text of the prompt.
    pub text: Option<String>,
    /// Why the text is missing.
    pub gone: Option<MissingContent>,
}

/// End of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionEnd {
    /// Why the session ended, in the harness's words.
    pub reason: Option<String>,
}

/// First event in a session stream (`hello`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionStreamHello {
    /// Version of the daemon.
    pub version: String,
    /// Id of the session, if the stream follows a single session.
    pub session: Option<String>,
}
