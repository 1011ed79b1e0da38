// SPDX-License-Identifier: Apache-2.0 OR MIT

//! State of the daemon.

use serde::{Deserialize, Serialize};
use tenterhook_event::{EventId, Timestamp};

use crate::{EnforcementMode, FileProblem};

/// Whether the daemon runs. Callers without a token, or of another account, receive `ok` and `version` only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DaemonHealth {
    /// Always true: a daemon that fails does not answer.
    pub ok: bool,
    /// Version of the daemon.
    pub version: String,
    /// Full report on the daemon.
    #[serde(flatten)]
    pub report: Option<HealthReport>,
}

/// State of the daemon, for its own account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HealthReport {
    /// Id of the process.
    pub pid: u32,
    /// Time since the daemon started.
    pub uptime_ms: u64,
    /// TCP address that the daemon listens on.
    pub listen: Option<String>,
    /// Versions of the hook programs that called this daemon.
    pub hook_versions: Vec<HookVersionCount>,
    /// Number of hook calls answered.
    pub answered: u64,
    /// Whether rules are enforced.
    pub mode: EnforcementMode,
    /// Number of calls that wait for an approval.
    pub pending: usize,
    /// Name of the rules and hooks in force.
    pub generation: String,
    /// Rules, hooks and settings that cannot be used.
    pub problems: Vec<FileProblem>,
    /// Files that changed and cannot be read; their previous content is in force.
    pub stale: Vec<FileProblem>,
    /// Harnesses whose settings no longer contain our hooks.
    pub unwired: Vec<UnwiredHarness>,
    /// Calls whose answer did not reach the hook program, since the daemon started.
    pub undelivered: UndeliveredCalls,
    /// Decisions that hooks made without the daemon.
    pub spool: SpoolCounts,
    /// Harnesses with our hooks in their settings, and those that sent an event within ten minutes; absent until the
    /// daemon's first check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarded: Option<Vec<String>>,
    /// Harnesses on this machine that are not guarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unguarded: Option<Vec<String>>,
}

/// Calls of hook programs of one version.
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

/// A harness whose settings no longer contain our hooks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnwiredHarness {
    /// Id of the harness.
    pub harness: String,
    /// Its settings file.
    pub settings: String,
}

/// Calls whose answer did not reach the hook program, since the daemon started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndeliveredCalls {
    /// Number of calls.
    pub count: u64,
    /// Number of them whose tool ran nevertheless.
    pub ran: u64,
    /// The last five, newest first.
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
    /// The harness's own name of the event.
    pub event: String,
    /// Name of the tool.
    pub tool: Option<String>,
    /// Id of the session.
    pub session: Option<String>,
    /// Whether the tool ran nevertheless.
    pub ran: bool,
}

/// Decisions that hooks made without the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpoolCounts {
    /// Decisions that wait to be imported into the ledger.
    pub waiting: usize,
    /// Files that cannot be read.
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
