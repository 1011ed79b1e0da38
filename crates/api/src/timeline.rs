// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Timeline of a session.

use serde::{Deserialize, Serialize};
use tenterhook_event::{AgentIdentity, SessionCheck, Timestamp, ToolClass};

/// Which steps to show.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelineQuery {
    /// Number of steps; 100 by default, 1000 at most.
    pub limit: Option<u64>,
    /// Only steps before this record: the `next` of the previous page.
    pub before: Option<u64>,
}

/// A page of a session's steps, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timeline {
    /// Steps of this page.
    pub steps: Vec<TimelineStep>,
    /// Value of `before` for the next page.
    pub next: Option<u64>,
}

/// One record of a session.
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
    /// The harness's own name of the event.
    pub native_event: Option<String>,
    /// The tool call.
    pub tool: Option<ToolGist>,
    /// The harness's id of the tool call.
    pub tool_use_id: Option<String>,
    /// The harness's id of the turn.
    pub turn: Option<String>,
    /// Result of comparing the session with the calling process.
    pub session_check: Option<SessionCheck>,
    /// Agent that acted.
    pub agent: Option<AgentIdentity>,
    /// The prompt, response, message or error.
    pub said: Option<String>,
    /// Verdict of the decision.
    pub verdict: Option<String>,
    /// Id of the rule that decided.
    pub rule: Option<String>,
    /// Id of the rule, or `hook:<id>`.
    pub by: Option<String>,
    /// Reason shown to the model.
    pub reason: Option<String>,
    /// Suggestion shown to the model.
    pub nudge: Option<String>,
    /// Time that the decision took.
    pub took_us: Option<u64>,
    /// Time that the tool ran.
    pub ran_ms: Option<u64>,
    /// Whether the record was pruned.
    pub pruned: bool,
    /// Whether the content was erased.
    pub erased: bool,
    /// Whether the hook decided without the daemon; another step of the event counts.
    pub undelivered: bool,
}

/// A tool call in one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolGist {
    /// Name of the tool.
    pub name: String,
    /// What the tool does.
    pub class: ToolClass,
    /// The command, path or URL; null if it is not known.
    pub gist: Option<String>,
}
