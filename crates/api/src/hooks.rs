// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Registered hooks, their statistics and tests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenterhook_event::{Decision, Event, EventId, EventKind, Outcome, Timestamp};

use crate::FileProblem;

/// The hooks in force, in execution order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookList {
    /// Hooks in execution order.
    pub hooks: Vec<RegisteredHook>,
    /// Identifier of the rules and hooks in force.
    pub generation: String,
}

/// A registered hook. Headers and environment variables are left out because they may contain secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegisteredHook {
    /// Id of the hook.
    pub id: String,
    /// Events for which the hook runs.
    pub on: Vec<EventKind>,
    /// Condition that must be true for the hook to run.
    pub when: Option<String>,
    /// Position in the order of hooks; lower numbers run first.
    pub priority: i32,
    /// Chain that the hook belongs to. Hooks in a chain run one after another.
    pub chain: Option<String>,
    /// Maximum run time, in milliseconds.
    pub timeout_ms: u64,
    /// What happens if the hook fails.
    pub fail: HookFailMode,
    /// Whether the hook only observes. Calls do not wait for such a hook.
    #[serde(rename = "async")]
    pub observes: bool,
    /// Whether the hook is enabled.
    pub enabled: bool,
    /// Format of the hook's input and output.
    pub dialect: Option<String>,
    /// What is executed when the hook is called.
    pub runs: HookRunner,
    /// Why the hook cannot run, such as a script that does not exist.
    pub problem: Option<FileProblem>,
}

/// What happens if a hook fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HookFailMode {
    /// The failure is ignored and the call continues.
    Open,
    /// The call is denied.
    Closed,
}

/// What is executed when a hook is called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum HookRunner {
    /// A function in the program that embeds the engine.
    InProcess,
    /// A function in a program that is connected over gRPC.
    Sdk {
        /// Name of the program.
        client: String,
    },
    /// A local program.
    Command {
        /// Command line that a shell runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        /// Program and arguments, run without a shell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exec: Option<Vec<String>>,
    },
    /// An HTTP endpoint.
    Http {
        /// URL of the endpoint.
        url: String,
    },
}

/// Result of enabling or disabling a hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookSwitched {
    /// The hook's state after the request.
    pub hook: RegisteredHook,
    /// Whether the request changed the state.
    pub changed: bool,
    /// Identifier of the rules and hooks in force.
    pub generation: String,
}

/// Period that hook statistics cover.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookAnalyticsQuery {
    /// Length of the period in minutes; default 60, maximum 180.
    pub minutes: Option<u64>,
}

/// Statistics for every hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookAnalytics {
    /// Statistics by hook id.
    pub hooks: BTreeMap<String, HookSummary>,
    /// Length of the recent period in minutes.
    pub minutes: u64,
    /// Time of the response.
    pub now: Timestamp,
}

/// Statistics for one hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookSummary {
    /// Statistics since the daemon started.
    pub all: HookNumbers,
    /// Statistics for the recent period.
    pub recent: HookNumbers,
    /// Time of the last call.
    pub last_call: Option<Timestamp>,
    /// The last failure.
    pub last_error: Option<HookFailure>,
    /// Statistics by minute for the recent period, oldest first; minutes without calls are left out.
    pub minutes: Vec<HookMinute>,
}

/// Statistics for one hook in one minute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookMinute {
    /// Start of the minute.
    pub ts: Timestamp,
    /// Statistics for this minute.
    #[serde(flatten)]
    pub numbers: HookNumbers,
}

/// Call counts by result, and run time percentiles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookNumbers {
    /// Number of calls.
    pub calls: u64,
    /// Number of calls that failed.
    pub failures: u64,
    /// Number of calls that timed out.
    pub timeouts: u64,
    /// Number of calls that the hook denied.
    pub blocks: u64,
    /// Number of calls that the hook changed.
    pub modifications: u64,
    /// Number of calls for which the hook was skipped.
    pub skipped: u64,
    /// Median run time, in microseconds.
    pub p50_us: Option<u64>,
    /// 95th percentile of the run time, in microseconds.
    pub p95_us: Option<u64>,
    /// 99th percentile of the run time, in microseconds.
    pub p99_us: Option<u64>,
}

/// One failure of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookFailure {
    /// Time of the event.
    pub ts: Timestamp,
    /// Id of the event.
    pub id: EventId,
    /// Text of the error.
    pub message: String,
}

/// Event to test a hook with: exactly one of `sample` and `event`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HookTestRequest {
    /// A sample event, in the format used in hook packages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<HookSample>,
    /// A complete event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
}

/// Result of testing a hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookTestResult {
    /// Whether the hook runs for this event.
    pub applies: bool,
    /// Why the hook does not run for this event.
    pub why: Option<String>,
    /// The event that the hook was tested with.
    pub event: Event,
    /// The outcome that the hook produced.
    pub outcome: Outcome,
}

/// An event to test a hook with, and the expected result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HookSample {
    /// What the sample demonstrates.
    #[serde(default)]
    pub title: String,
    /// Kind of the event.
    pub event: EventKind,
    /// The tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<SampleTool>,
    /// Further data about the event.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
    /// Working directory of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The expected decision.
    #[serde(default)]
    pub expect: Decision,
    /// Expected tool arguments after the hook has changed them.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
}

/// A sample's tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SampleTool {
    /// Name of the tool.
    pub name: String,
    /// Arguments of the tool.
    #[serde(default)]
    pub args: Value,
}
