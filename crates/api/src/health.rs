// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The daemon's state.

use serde::{Deserialize, Serialize};
use tenterhook_event::{EventId, Timestamp};

use crate::{EnforcementMode, FileProblem, SandboxedRun};

/// The daemon's health. Callers that have no token or use another account receive only `ok` and `version`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DaemonHealth {
    /// Always true: a daemon that has failed does not answer.
    pub ok: bool,
    /// Version of the daemon.
    pub version: String,
    /// The full health report.
    #[serde(flatten)]
    pub report: Option<HealthReport>,
}

/// The daemon's full health report, for callers with access to its account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HealthReport {
    /// Process id of the daemon.
    pub pid: u32,
    /// Time since the daemon started, in milliseconds.
    pub uptime_ms: u64,
    /// TCP address that the daemon listens on.
    pub listen: Option<String>,
    /// Versions of the hook programs that called this daemon.
    pub hook_versions: Vec<HookVersionCount>,
    /// Number of hook calls answered.
    pub answered: u64,
    /// Whether rules are enforced.
    pub mode: EnforcementMode,
    /// When monitor mode ends by itself; absent without a time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode_until: Option<Timestamp>,
    /// Level of protection of the rules: `relaxed`, `standard`, `strict` or `paranoid`.
    pub level: String,
    /// Number of calls that wait for an approval.
    pub pending: usize,
    /// Identifier of the rules and hooks in force.
    pub generation: String,
    /// Rules, hooks and settings that cannot be used.
    pub problems: Vec<FileProblem>,
    /// Files that changed and cannot be read. Their previous content stays in force.
    pub stale: Vec<FileProblem>,
    /// Harnesses whose settings no longer contain Tenterhook's hooks.
    pub unwired: Vec<UnwiredHarness>,
    /// Calls since the daemon started whose answer did not reach the hook program.
    pub undelivered: UndeliveredCalls,
    /// Decisions made by hooks without the daemon.
    pub spool: SpoolCounts,
    /// Sandboxed runs that have not ended, each with the level of its sandbox.
    #[serde(default)]
    pub runs: Vec<SandboxedRun>,
    /// Harnesses that have Tenterhook's hooks in their settings or sent an event within the last ten minutes. Absent
    /// until the daemon's first check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarded: Option<Vec<String>>,
    /// Harnesses on this machine that are not guarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unguarded: Option<Vec<String>>,
}

/// Number of calls from hook programs of one version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookVersionCount {
    /// Version of the hook program.
    pub version: String,
    /// Number of calls.
    pub calls: u64,
    /// Time of the last call.
    pub last: Timestamp,
}

/// A harness whose settings no longer contain Tenterhook's hooks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnwiredHarness {
    /// Id of the harness.
    pub harness: String,
    /// Path of the settings file.
    pub settings: String,
}

/// Calls since the daemon started whose answer did not reach the hook program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndeliveredCalls {
    /// Number of calls.
    pub count: u64,
    /// Number of these calls whose tool ran anyway.
    pub ran: u64,
    /// The last five such calls, newest first.
    pub recent: Vec<UndeliveredCall>,
}

/// A call whose answer did not reach the hook program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndeliveredCall {
    /// Id of the event.
    pub id: EventId,
    /// Time of the event.
    pub ts: Timestamp,
    /// Id of the harness.
    pub harness: String,
    /// The harness's own name for the event.
    pub event: String,
    /// Name of the tool.
    pub tool: Option<String>,
    /// Id of the session.
    pub session: Option<String>,
    /// Whether the tool ran anyway.
    pub ran: bool,
}

/// Counts of decisions made by hooks without the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpoolCounts {
    /// Number of decisions that wait to be imported into the ledger.
    pub waiting: usize,
    /// Number of spool files that cannot be read.
    pub refused: usize,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stranger_learns_no_more_than_that_the_daemon_runs() {
        let health = DaemonHealth { ok: true, version: "1.0.0".to_owned(), report: None };
        let written = serde_json::to_value(&health).unwrap();
        assert_eq!(written, json!({"ok": true, "version": "1.0.0"}));
        assert_eq!(serde_json::from_value::<DaemonHealth>(written).unwrap(), health);
    }
}
