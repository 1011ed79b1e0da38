// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Registered hooks, their statistics and tests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenterhook_event::{Decision, Event, EventId, EventKind, Outcome, Timestamp};

use crate::FileProblem;

/// The hooks in force, in the order they run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookList {
    /// Hooks in the order they run.
    pub hooks: Vec<RegisteredHook>,
    /// Name of the rules and hooks in force.
    pub generation: String,
}

/// A hook. Headers and variables may contain secrets and are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegisteredHook {
    /// Id of the hook.
    pub id: String,
    /// Events it runs at.
    pub on: Vec<EventKind>,
    /// Condition that must hold.
    pub when: Option<String>,
    /// Hooks with a higher priority run first.
    pub priority: i32,
    /// Chain it belongs to; hooks of a chain run one after another.
    pub chain: Option<String>,
    /// How long it may run.
    pub timeout_ms: u64,
    /// What happens if it fails.
    pub fail: HookFailMode,
    /// Whether the hook only observes: calls do not wait for it.
    #[serde(rename = "async")]
    pub observes: bool,
    /// Whether it is switched on.
    pub enabled: bool,
    /// Dialect in which it is called.
    pub dialect: Option<String>,
    /// What runs when it is called.
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

/// What runs when a hook is called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum HookRunner {
    /// A function of the program that embeds the engine.
    InProcess,
    /// A function of a program that is connected over gRPC.
    Sdk {
        /// Name of the program.
        client: String,
    },
    /// A local program.
    Command {
        /// Command line for the shell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        /// Program and arguments, without a shell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exec: Option<Vec<String>>,
    },
    /// An HTTP endpoint.
    Http {
        /// Address of the endpoint.
        url: String,
    },
}

/// Result of switching a hook on or off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookSwitched {
    /// State of the hook now.
    pub hook: RegisteredHook,
    /// Whether anything changed.
    pub changed: bool,
    /// Name of the rules and hooks in force.
    pub generation: String,
}

/// Period of hook statistics.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookAnalyticsQuery {
    /// Length of the period in minutes; 60 by default, 180 at most.
    pub minutes: Option<u64>,
}

/// Statistics of every hook.
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

/// Statistics of one hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookSummary {
    /// Since the daemon started.
    pub all: HookNumbers,
    /// In the recent period.
    pub recent: HookNumbers,
    /// Time of the last call.
    pub last_call: Option<Timestamp>,
    /// The last failure.
    pub last_error: Option<HookFailure>,
    /// The recent period by minute, oldest first; minutes without calls are left out.
    pub minutes: Vec<HookMinute>,
}

/// Statistics of one hook in one minute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookMinute {
    /// Start of the minute.
    pub ts: Timestamp,
    /// Statistics of the minute.
    #[serde(flatten)]
    pub numbers: HookNumbers,
}

/// Number of calls and their results, and percentiles of the run time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookNumbers {
    /// Number of calls.
    pub calls: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Calls that took too long.
    pub timeouts: u64,
    /// Calls that the hook denied.
    pub blocks: u64,
    /// Calls that the hook changed.
    pub modifications: u64,
    /// Calls that skipped the hook.
    pub skipped: u64,
    /// Median run time in microseconds.
    pub p50_us: Option<u64>,
    /// 95th percentile in microseconds.
    pub p95_us: Option<u64>,
    /// 99th percentile in microseconds.
    pub p99_us: Option<u64>,
}

/// A failure of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookFailure {
    /// Time of the event.
    pub ts: Timestamp,
    /// Id of the event.
    pub id: EventId,
    /// What went wrong.
    pub message: String,
}

/// Event to test a hook with: exactly one of `sample` and `event`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HookTestRequest {
    /// A sample, as in a hook package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<HookSample>,
    /// A whole event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
}

/// Result of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookTestResult {
    /// Whether the hook runs at such an event.
    pub applies: bool,
    /// Why it does not.
    pub why: Option<String>,
    /// The event it was tested with.
    pub event: Event,
    /// What the hook decided.
    pub outcome: Outcome,
}

/// An event to test a hook with, and the expected result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HookSample {
    /// What it shows.
    #[serde(default)]
    pub title: String,
    /// Kind of the event.
    pub event: EventKind,
    /// The tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<SampleTool>,
    /// Further data of the event.
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
    /// Arguments that the hook is expected to make of those of the tool call.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
}

/// Tool call of a sample.
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
