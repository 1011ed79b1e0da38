// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Live events and the decision rate.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tenterhook_event::{Decision, EventId, EventKind, Timestamp};

use crate::{
    ApprovalList, FileProblem, SessionSummary, ToolGist, UndeliveredCall, UnwiredHarness, VerificationStatus,
};

/// Data of one event in the live stream. The event's name determines the type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum LiveEvent {
    /// `decided`: an event was decided.
    Decided(Box<DecisionLine>),
    /// `session`: a session changed.
    Session(Box<SessionSummary>),
    /// `approvals`: the list of calls that wait for an approval changed.
    Approvals(ApprovalList),
    /// `generation`: the rules or hooks in force changed.
    Generation(GenerationChange),
    /// `verify`: a verification ended.
    Verify(VerificationStatus),
    /// `warning`: a warning for the user.
    Warning(LiveWarning),
    /// `hello`: the first event in the stream.
    Hello(LiveHello),
    /// `lagged`: the reader missed events.
    Lagged(MissedEvents),
}

impl LiveEvent {
    /// Returns the event's name in the stream.
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

/// A one-line summary of a decision.
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
    /// The harness's own name for the event.
    pub native_event: String,
    /// Id of the session.
    pub session: Option<String>,
    /// The tool call.
    pub tool: Option<ToolGist>,
    /// The harness's id for the tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Run time of the tool, in milliseconds; only in events about the result of a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_ms: Option<u64>,
    /// Whether the decision changed the arguments of the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rewritten: bool,
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
    /// What decided: a rule id or `hook:<id>`.
    pub by: Option<String>,
    /// Reason shown to the model.
    pub reason: Option<String>,
    /// Identifier of the rules and hooks in force.
    pub generation: String,
    /// Time that the decision took, in microseconds.
    pub took_us: u64,
}

/// A change of the rules and hooks in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GenerationChange {
    /// Identifier of the rules and hooks now in force.
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
    /// The harness's own name for the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Why it happened.
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

/// First event in the live stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LiveHello {
    /// Version of the daemon.
    pub version: String,
    /// Identifier of the rules and hooks in force.
    pub generation: String,
}

/// Tells a slow reader how many events it missed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissedEvents {
    /// Number of missed events.
    pub missed: u64,
}

/// Decisions in the last hour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionRate {
    /// Minutes that contain decisions, oldest first.
    pub minutes: Vec<DecisionMinute>,
}

/// Decisions in one minute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionMinute {
    /// Start of the minute.
    pub at: Timestamp,
    /// Number of decisions by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Median decision time, in microseconds.
    pub p50_us: u64,
    /// 95th percentile of the decision time, in microseconds.
    pub p95_us: u64,
    /// 99th percentile of the decision time, in microseconds.
    pub p99_us: u64,
}
