// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Harnesses and the installation of hooks in them.

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
    /// Display name of the harness.
    pub title: String,
    /// Whether the harness was found on this machine.
    pub found: bool,
    /// Path of the harness's program.
    pub program: Option<String>,
    /// Directory with the harness's settings and data.
    pub directory: Option<String>,
    /// Version of the harness's program.
    pub version: Option<String>,
    /// Versions that Tenterhook's hooks were tested with.
    pub proved_on: Vec<String>,
    /// Whether Tenterhook's hooks are in the harness's settings.
    pub wired: HarnessWiring,
    /// Scopes in which Tenterhook's hooks are installed.
    pub scopes: Vec<String>,
    /// The harness's last recorded event.
    pub last_heard: Option<LastHarnessEvent>,
    /// Notes, such as why the harness cannot be guarded.
    pub notes: Vec<String>,
    /// What hooks can do for each of the harness's events.
    #[serde(default)]
    pub coverage: Vec<EventCoverage>,
}

/// Whether Tenterhook's hooks are in a harness's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HarnessWiring {
    /// The hooks are installed.
    Yes,
    /// The hooks are not installed.
    No,
    /// The hooks were installed and later removed from the settings.
    Lost,
    /// The hooks are installed, but the harness does not use them yet.
    Unheeded,
    /// The harness does not support hooks.
    Impossible,
}

/// A harness's last recorded event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LastHarnessEvent {
    /// Number of the record.
    pub seq: u64,
    /// Time of the event.
    pub ts: String,
}

/// What hooks can do for one event of a harness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventCoverage {
    /// The harness's own name for the event.
    pub native: String,
    /// Kind of the event.
    pub event: EventKind,
    /// How Tenterhook uses the event.
    pub wired: EventWiring,
    /// Why the event is not used.
    pub why: Option<String>,
    /// Effect of a `deny` for this event.
    pub deny: DenyEffect,
    /// Effect of an `ask` for this event.
    pub ask: AskEffect,
    /// Whether the tool's input can be changed.
    pub rewrites: bool,
    /// Whether a hook can add context for the model.
    pub context: bool,
}

/// How Tenterhook uses a harness's event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EventWiring {
    /// Rules are evaluated, and their verdict is applied.
    Guard,
    /// The event is only recorded.
    Watch,
    /// The event is not used.
    Left,
}

/// Effect of a `deny`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DenyEffect {
    /// The action is prevented.
    Prevents,
    /// The action is not prevented, but the model reads the reason.
    Feedback,
    /// A `deny` has no effect.
    Impossible,
}

/// Effect of an `ask`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AskEffect {
    /// The harness asks its user.
    Prompt,
    /// The call waits for an approval.
    Wait,
    /// An `ask` has no effect.
    Never,
}

/// A planned or completed change to a harness's settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HarnessPlan {
    /// Id of the harness.
    pub harness: String,
    /// Scope of the settings: `user`, `machine` or a project.
    pub scope: String,
    /// The settings file.
    pub settings: Option<String>,
    /// All files that the plan changes.
    pub files: Vec<String>,
    /// Whether files were changed.
    pub changed: bool,
    /// The change as a diff.
    pub diff: String,
    /// Notes on the change.
    pub notes: Vec<String>,
    /// Steps that the user still has to take.
    pub pending: Vec<String>,
    /// Path of the hook program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Path of the state directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// Whether the harness uses the hooks now.
    #[serde(default)]
    pub in_force: bool,
    /// The harness's last recorded event.
    #[serde(default)]
    pub last_heard: Option<LastHarnessEvent>,
    /// Ways to run the harness without these hooks.
    #[serde(default)]
    pub bypasses: Vec<String>,
}
