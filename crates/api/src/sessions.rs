// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sessions and their details.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tenterhook_event::{EventKind, Timestamp};

use crate::{
    ChangedFile, DenialCounts, FileChange, FileCounts, SessionUsage, TodoProgress, ToolCounts, TouchedFile,
};

/// Selects the sessions to list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionListQuery {
    /// Only sessions from this harness.
    pub harness: Option<String>,
    /// Only sessions in this state.
    pub state: Option<SessionActivity>,
    /// Only sessions in this project or working directory.
    pub project: Option<String>,
    /// Only sessions with an event since this time: `15m`, `24h`, `7d`, `2026-11-15` or a date and time.
    pub since: Option<String>,
    /// Only sessions after this one in the list: the `next` of the previous page.
    pub after: Option<String>,
    /// Maximum number of sessions; default 100, maximum 1000.
    pub limit: Option<usize>,
}

/// A page of sessions, latest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionList {
    /// The sessions on this page.
    pub sessions: Vec<SessionSummary>,
    /// Number of matching sessions on all pages.
    pub all: usize,
    /// Value of `after` that requests the next page.
    pub next: Option<String>,
}

/// A session's summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionSummary {
    /// The harness's id for the session.
    pub id: String,
    /// Id of the harness.
    pub harness: String,
    /// First line of the first prompt; null if there was no prompt or it was erased.
    pub title: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// The user whose account runs the agent.
    pub user: Option<String>,
    /// Working directory of the agent.
    pub cwd: Option<String>,
    /// Root directory of the project.
    pub project: Option<String>,
    /// Time of the first event.
    pub started: Timestamp,
    /// Time of the last event.
    pub last: Timestamp,
    /// Kind of the last event.
    pub last_event: EventKind,
    /// Number of the latest record.
    pub last_seq: u64,
    /// Time between the first and the last event, in milliseconds.
    pub duration_ms: u64,
    /// State of the session.
    pub state: SessionActivity,
    /// When the session ended.
    pub ended: Option<Timestamp>,
    /// Why the session ended, in the harness's words.
    pub end_reason: Option<String>,
    /// Number of events.
    pub events: u64,
    /// Number of events whose content is missing because it was erased or too large to be recorded.
    pub erased: u64,
    /// Number of events whose sender could not be verified as a process of this session.
    pub unverified: u64,
    /// Number of prompts.
    pub prompts: u64,
    /// The last prompt.
    pub last_prompt: Option<String>,
    /// Number of events by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Number of calls by tool.
    pub tools: BTreeMap<String, u64>,
    /// Calls of all tools by result.
    pub calls: ToolCounts,
    /// Number of denials, by what the agent did next.
    pub denied: DenialCounts,
    /// Number of files by kind of access.
    pub files: FileCounts,
    /// Progress of the to-do list.
    pub todos: TodoProgress,
    /// Number of subagents.
    pub subagents: usize,
    /// The harness's id for the current turn.
    pub turn: Option<String>,
    /// Tokens and cost.
    pub usage: SessionUsage,
}

/// State of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SessionActivity {
    /// The agent is working.
    Active,
    /// A call waits for an approval.
    Waiting,
    /// The agent finished its turn, or has sent no event for 15 minutes.
    Idle,
    /// The session ended.
    Ended,
}

/// A session with all its details.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionDetails {
    /// Summary of the session.
    #[serde(flatten)]
    pub summary: SessionSummary,
    /// The last prompts.
    pub prompt_texts: Vec<SessionPrompt>,
    /// All files that were read, written or deleted, sorted by path.
    pub touched: Vec<TouchedFile>,
    /// All changed files, in the order of their first change.
    pub changed_files: Vec<ChangedFile>,
    /// All file changes, oldest first.
    pub changes: Vec<FileChange>,
    /// The to-do list.
    pub todo_items: Vec<SessionTodo>,
    /// Number of calls by tool and result.
    pub tool_results: BTreeMap<String, ToolCounts>,
    /// Calls that were denied.
    pub denials: Vec<DeniedCall>,
    /// Calls that a user was asked about.
    pub asks: Vec<DeniedCall>,
    /// Subagents of the session.
    pub agents: Vec<SubagentSummary>,
    /// Labels that rules set; absent if no daemon is running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// Snapshots of calls that can be undone, newest first.
    #[serde(default)]
    pub snapshots: Vec<SessionSnapshot>,
}

/// What a call would have lost, saved for `tenterhook undo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionSnapshot {
    /// Id of the snapshot; `tenterhook undo ID` restores it.
    pub id: String,
    /// Time of the snapshot.
    pub taken: Timestamp,
    /// Ids of the rules that matched.
    pub reason: String,
    /// Number of files, links and directories.
    pub entries: u64,
    /// Bytes that the snapshot keeps in use.
    pub bytes: u64,
    /// Id of the call's event; null if it is unknown.
    pub event: Option<String>,
}

/// A prompt in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionPrompt {
    /// Time of the prompt.
    pub ts: Timestamp,
    /// Number of the record.
    pub seq: u64,
    /// Text of the prompt.
    pub text: Option<String>,
    /// Why the text is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone: Option<MissingContent>,
}

/// Why content is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MissingContent {
    /// The content was erased.
    Erased,
    /// The content was too large to be recorded.
    TooLarge,
}

/// An item of a to-do list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TodoItem"))]
pub struct SessionTodo {
    /// Text of the item.
    pub text: String,
    /// `pending`, `in_progress`, `completed`, `cancelled`, or the harness's own word.
    pub status: String,
    /// Text shown while the item is in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
    /// The harness's id for the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A session's to-do list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionTodos {
    /// Progress of the list.
    #[serde(flatten)]
    pub progress: TodoProgress,
    /// The items; null if they are unknown.
    pub items: Option<Vec<SessionTodo>>,
}

/// A call that was denied, or that a user was asked about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeniedCall {
    /// Number of the record.
    pub seq: u64,
    /// Time of the call.
    pub ts: Timestamp,
    /// Kind of the event.
    pub event: String,
    /// Name of the tool.
    pub tool: Option<String>,
    /// The command, path or URL, in one line.
    pub gist: Option<String>,
    /// What decided: a rule id or `hook:<id>`.
    pub rule: Option<String>,
    /// Reason shown to the model.
    pub reason: Option<String>,
    /// Suggestion shown to the model.
    pub nudge: Option<String>,
    /// What the agent did in its next call.
    pub hint: SuggestionResult,
    /// The subagent that made the call.
    pub agent: Option<String>,
    /// Why content is missing.
    pub gone: Option<MissingContent>,
}

/// What the agent did in its next call after a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SuggestionResult {
    /// The agent has made no further call yet.
    Open,
    /// The agent followed the suggestion.
    Taken,
    /// The agent did something else.
    Other,
    /// The agent repeated the call.
    Repeated,
}

/// A subagent in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubagentSummary {
    /// Id of the subagent.
    pub id: String,
    /// Type of the subagent.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The agent that started this subagent; absent if the session's main agent started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Time of the subagent's first event.
    pub started: Timestamp,
    /// When the subagent ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// Number of events.
    pub events: u64,
    /// Number of tool calls.
    pub tools: u64,
    /// Number of tool calls that failed.
    pub failed: u64,
    /// Number of tool calls that were denied.
    pub denied: u64,
    /// Number of tokens that the harness reports when the subagent ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}
