// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Live events, and the rate of decisions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tenterhook_event::{Decision, EventId, EventKind, Timestamp};

use crate::{
    ApprovalList, FileProblem, SessionSummary, ToolGist, UndeliveredCall, UnwiredHarness, VerificationStatus,
};

/// Data of one event of the live stream. The event's name determines the type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum LiveEvent {
    /// `decided`: an event was decided.
    Decided(Box<DecisionLine>),
    /// `session`: a session changed.
    Session(Box<SessionSummary>),
    /// `approvals`: the calls that wait for an approval.
    Approvals(ApprovalList),
    /// `generation`: other rules or hooks are in force.
    Generation(GenerationChange),
    /// `verify`: a verification ended.
    Verify(VerificationStatus),
    /// `warning`: a warning for the user.
    Warning(LiveWarning),
    /// `hello`: the first event of the stream.
    Hello(LiveHello),
    /// `lagged`: events were missed.
    Lagged(MissedEvents),
}

impl LiveEvent {
    /// Name of the event in the stream.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Decided(_) => "decided",
            Self::Session(_) => "session",
            Self::Approvals(_) => "approvals",
            Self::Generation(_) => "generation",
            Self::Verify(_) => "verify",
            Self::Warning(_) => "warning",
            Self::Hello(_) => "hello",
            Self::Lagged(_) => "lagged",
        }
    }
}

/// A decision in one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionLine {
    /// Number of the record.
    pub seq: u64,
    /// Id of the event.
    pub id: EventId,
    /// Time of the event.
    pub ts: Timestamp,
    /// Id of the harness.
    pub harness: String,
    /// Kind of the event.
    pub event: EventKind,
    /// The harness's own name of the event.
    pub native_event: String,
    /// Id of the session.
    pub session: Option<String>,
    /// The tool call.
    pub tool: Option<ToolGist>,
    /// Text of the prompt.
    pub prompt: Option<String>,
    /// Working directory of the agent.
    pub cwd: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// Verdict of the decision.
    pub verdict: Decision,
    /// Id of the rule that decided.
    pub rule: Option<String>,
    /// Id of the rule, or `hook:<id>`.
    pub by: Option<String>,
    /// Reason shown to the model.
    pub reason: Option<String>,
    /// Name of the rules and hooks in force.
    pub generation: String,
    /// Time that the decision took.
    pub took_us: u64,
}

/// Rules and hooks that came into force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GenerationChange {
    /// Name of the rules and hooks now in force.
    pub generation: String,
    /// Rules, hooks and settings that cannot be used.
    pub problems: Vec<FileProblem>,
    /// Files that changed and cannot be read; their previous content is in force.
    pub stale: Vec<FileProblem>,
}

/// A warning for the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LiveWarning {
    /// What happened, in one sentence.
    pub what: String,
    /// Id of the harness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// The harness's own name of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Cause of the warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The harness whose settings changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wiring: Option<UnwiredHarness>,
    /// The call whose answer did not reach the hook program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<UndeliveredCall>,
    /// Id of the hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// Files that changed and cannot be read; their previous content is in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<Vec<FileProblem>>,
}

/// First event of the live stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LiveHello {
    /// Version of the daemon.
    pub version: String,
    /// Name of the rules and hooks in force.
    pub generation: String,
}

/// Events that a slow reader missed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissedEvents {
    /// Number of missed events.
    pub missed: u64,
}

/// Decisions of the last hour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionRate {
    /// Minutes with decisions, oldest first.
    pub minutes: Vec<DecisionMinute>,
}

/// Decisions of one minute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionMinute {
    /// Start of the minute.
    pub at: Timestamp,
    /// Decisions by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Median time of a decision in microseconds.
    pub p50_us: u64,
    /// 95th percentile in microseconds.
    pub p95_us: u64,
    /// 99th percentile in microseconds.
    pub p99_us: u64,
}
