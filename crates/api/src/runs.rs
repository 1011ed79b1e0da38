// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sandboxed runs of agents.

use serde::{Deserialize, Serialize};
use tenterhook_event::{EventId, SandboxLevel, Timestamp};

/// Name of the tool call that stands for an access to a file that the sandbox of a run refused. The arguments are `path`,
/// `operation` and, if a rule protects the path, `rule` and `suggestion`.
pub const SANDBOX_REFUSAL: &str = "SandboxRefusal";

/// A run that its supervisor registers. All processes of the run count as a guarded agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunRegistration {
    /// Id of the run, chosen by the supervisor. Registering it again changes nothing.
    pub id: EventId,
    /// Process id of the run's first process, as the daemon sees it. It must descend from the caller.
    pub init_pid: i32,
    /// How the run is confined.
    pub level: SandboxLevel,
    /// Id of the harness, if the run is a known agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// The program of the run, for users.
    pub command: String,
    /// Working directory of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Root of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// A sandboxed run that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SandboxedRun {
    /// Id of the run.
    pub id: EventId,
    /// How the run is confined.
    pub level: SandboxLevel,
    /// When the run was registered.
    pub since: Timestamp,
    /// Process id of the run's first process.
    pub init_pid: i32,
    /// Process id of the supervisor.
    pub supervisor_pid: i32,
    /// Id of the harness, if the run is a known agent.
    pub harness: Option<String>,
    /// The program of the run.
    pub command: String,
    /// Id of the newest session whose hooks were called from inside the run.
    pub session: Option<String>,
}

/// List of the sandboxed runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SandboxedRunList {
    /// The runs, oldest first.
    pub runs: Vec<SandboxedRun>,
}
