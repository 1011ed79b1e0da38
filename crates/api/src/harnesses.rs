// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Harnesses, and installing hooks in them.

use serde::{Deserialize, Serialize};
use tenterhook_event::EventKind;

/// All known harnesses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HarnessList {
    /// Harnesses with their state.
    pub harnesses: Vec<HarnessState>,
}

/// State of a harness on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HarnessState {
    /// Id of the harness.
    pub harness: String,
    /// Name of the harness.
    pub title: String,
    /// Whether it was found.
    pub found: bool,
    /// Path of its program.
    pub program: Option<String>,
    /// Directory of its settings and data.
    pub directory: Option<String>,
    /// Version of the program.
    pub version: Option<String>,
    /// Versions that our hooks were tested with.
    pub proved_on: Vec<String>,
    /// Whether our hooks are in its settings.
    pub wired: HarnessWiring,
    /// Scopes that our hooks are installed in.
    pub scopes: Vec<String>,
    /// Its last event on record.
    pub last_heard: Option<LastHarnessEvent>,
    /// Notes, such as why it cannot be guarded.
    pub notes: Vec<String>,
    /// What hooks can do at each of its events.
    #[serde(default)]
    pub coverage: Vec<EventCoverage>,
}

/// Whether our hooks are in the settings of a harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HarnessWiring {
    /// Our hooks are installed.
    Yes,
    /// Our hooks are not installed.
    No,
    /// Our hooks were installed and later removed from the settings.
    Lost,
    /// Our hooks are installed, but the harness does not use them yet.
    Unheeded,
    /// The harness has no hooks.
    Impossible,
}

/// Last event of a harness on record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LastHarnessEvent {
    /// Number of the record.
    pub seq: u64,
    /// Time of the event.
    pub ts: String,
}

/// What hooks can do at one event of a harness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventCoverage {
    /// The harness's own name of the event.
    pub native: String,
    /// Kind of the event.
    pub event: EventKind,
    /// How the event is used.
    pub wired: EventWiring,
    /// Why it is not used.
    pub why: Option<String>,
    /// Effect of a denial.
    pub deny: DenyEffect,
    /// Effect of an ask.
    pub ask: AskEffect,
    /// Whether the tool's input can be changed.
    pub rewrites: bool,
    /// Whether context can be given to the model.
    pub context: bool,
}

/// How an event of a harness is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EventWiring {
    /// Rules are evaluated and decide.
    Guard,
    /// It is recorded.
    Watch,
    /// It is not used.
    Left,
}

/// Effect of a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DenyEffect {
    /// The action does not happen.
    Prevents,
    /// The model reads the reason.
    Feedback,
    /// A denial has no effect.
    Impossible,
}

/// Effect of an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AskEffect {
    /// The harness asks its user.
    Prompt,
    /// The call waits for an approval.
    Wait,
    /// An ask has no effect.
    Never,
}

/// Change of a harness's settings: planned, or done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HarnessPlan {
    /// Id of the harness.
    pub harness: String,
    /// Scope of the settings: `user`, `machine` or a project.
    pub scope: String,
    /// The settings file.
    pub settings: Option<String>,
    /// All files that change.
    pub files: Vec<String>,
    /// Whether files were changed.
    pub changed: bool,
    /// The change as a diff.
    pub diff: String,
    /// Notes on the change.
    pub notes: Vec<String>,
    /// Steps that remain for the user.
    pub pending: Vec<String>,
    /// The hook program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The state directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// Whether the harness uses the hooks now.
    #[serde(default)]
    pub in_force: bool,
    /// Its last event on record.
    #[serde(default)]
    pub last_heard: Option<LastHarnessEvent>,
    /// Ways to run the harness without these hooks.
    #[serde(default)]
    pub bypasses: Vec<String>,
}
