// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A session's timeline.

use serde::{Deserialize, Serialize};
use tenterhook_event::{AgentIdentity, SessionCheck, Timestamp, ToolClass};

/// Selects the steps to show.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelineQuery {
    /// Maximum number of steps; default 100, maximum 1000.
    pub limit: Option<u64>,
    /// Only steps before this record number: the `next` of the previous page.
    pub before: Option<u64>,
}

/// A page of a session's steps, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timeline {
    /// The steps on this page.
    pub steps: Vec<TimelineStep>,
    /// Value of `before` that requests the next page.
    pub next: Option<u64>,
}

/// One record in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelineStep {
    /// Number of the record.
    pub seq: u64,
    /// Id of the event.
    pub id: Option<String>,
    /// Time of the event.
    pub ts: Option<Timestamp>,
    /// Kind of the event.
    pub event: Option<String>,
    /// The harness's own name for the event.
    pub native_event: Option<String>,
    /// The tool call.
    pub tool: Option<ToolGist>,
    /// The harness's id for the tool call.
    pub tool_use_id: Option<String>,
    /// The harness's id for the turn.
    pub turn: Option<String>,
    /// Result of checking whether the calling process belongs to the session.
    pub session_check: Option<SessionCheck>,
    /// The agent that acted.
    pub agent: Option<AgentIdentity>,
    /// Text of the prompt, response, message or error.
    pub said: Option<String>,
    /// Verdict of the decision.
    pub verdict: Option<String>,
    /// Id of the rule that decided.
    pub rule: Option<String>,
    /// What decided: a rule id or `hook:<id>`.
    pub by: Option<String>,
    /// Reason shown to the model.
    pub reason: Option<String>,
    /// Suggestion shown to the model.
    pub nudge: Option<String>,
    /// Time that the decision took, in microseconds.
    pub took_us: Option<u64>,
    /// Run time of the tool, in milliseconds.
    pub ran_ms: Option<u64>,
    /// Whether the record was pruned.
    pub pruned: bool,
    /// Whether the content was erased.
    pub erased: bool,
    /// Whether this decision did not reach the harness, because the hook had timed out and decided without the daemon.
    /// A later step of the same event contains the decision that the harness received.
    pub undelivered: bool,
}

/// A one-line summary of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolGist {
    /// Name of the tool.
    pub name: String,
    /// What the tool does.
    pub class: ToolClass,
    /// The command, path or URL; null if it is unknown.
    pub gist: Option<String>,
}
