// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses the settings files of a harness into hooks.
//!
//! An invalid entry is refused with its position and a hint. The other entries are still used.

mod entry;
mod gate;
mod groups;
mod lint;
mod nearest;
mod registered;
mod tree;

use std::collections::BTreeMap;

use serde_json::Value;
use tenterhook_document::{Node, Problem, Spot};
use tenterhook_event::EventKind;

use crate::switches::{HookKind, Profile, SettingsShape};

/// Origin of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SettingsSource {
    /// Registered by a running program, not by a file.
    Runtime,
    /// The project's file.
    Project,
    /// The user's own file in the project, which is not shared.
    Local,
    /// A file named on the command line.
    Flag,
    /// The user's file.
    User,
    /// The file of the machine or organisation.
    System,
    /// The machine's defaults.
    Defaults,
    /// An extension or plugin.
    Extensions,
}

/// One settings file.
#[derive(Debug, Clone, Copy)]
pub struct SettingsLayer<'a> {
    /// Origin of the file.
    pub source: SettingsSource,
    /// Path of the file, for messages.
    pub name: &'a str,
    /// Content: JSON, comments allowed.
    pub text: &'a str,
}

/// The merged settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProfileSettings {
    /// Whether hooks run at all.
    pub enabled: bool,
    /// Reason why hooks do not run.
    pub why_disabled: Option<String>,
    /// Whether the user is notified when hooks run.
    pub notifications: bool,
    /// Hooks, in the order of the merged configuration.
    pub entries: Vec<ConfiguredHook>,
    /// Refused entries, and probable mistakes.
    pub problems: Vec<SettingsProblem>,
    /// Limits that hooks must respect.
    pub limits: ProfileLimits,
}

/// One configured hook.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfiguredHook {
    /// The harness's name of the event.
    pub event: String,
    /// Index of the hook's matcher group in the merged list of the event.
    pub group: usize,
    /// The group's matcher, as written.
    pub matcher: Option<Value>,
    /// Whether the hook's group runs sequentially.
    pub sequential: bool,
    /// Origin of the hook.
    pub source: SettingsSource,
    /// File that contains the hook.
    pub file: String,
    /// Name of the hook, if it has one.
    pub name: Option<String>,
    /// Kind of the hook.
    pub kind: HookKind,
    /// Command line. If there are `args`, only the program.
    pub command: Option<String>,
    /// Arguments of the command. If present, the command is run without a shell.
    pub args: Option<Vec<String>>,
    /// Shell that runs the command.
    pub shell: Option<String>,
    /// URL of an `http` hook.
    pub url: Option<String>,
    /// Headers of an `http` hook.
    pub headers: BTreeMap<String, String>,
    /// Environment variables that the headers may use.
    pub allowed_env: Vec<String>,
    /// Prompt of a `prompt` or `agent` hook.
    pub prompt: Option<String>,
    /// Model of a `prompt` or `agent` hook.
    pub model: Option<String>,
    /// Server of an `mcp_tool` hook.
    pub server: Option<String>,
    /// Tool of an `mcp_tool` hook.
    pub tool: Option<String>,
    /// Arguments of that tool.
    pub input: Option<Value>,
    /// Timeout as written, in the profile's unit.
    pub timeout: Option<f64>,
    /// Environment variables of the hook.
    pub env: BTreeMap<String, String>,
    /// Permission rule (`if`) that limits the calls for which the hook runs.
    pub condition_if: Option<String>,
    /// Whether a failure of the hook counts as an objection.
    pub fail_closed: bool,
    /// Whether the hook runs in the background.
    pub is_async: bool,
    /// Priority of the hook. Hooks with lower numbers run earlier.
    pub priority: i32,
    /// Whether the hook is enabled.
    pub enabled: bool,
    /// Position of the hook in its file.
    pub place: Spot,
}

/// Limits that hooks must respect.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProfileLimits {
    /// Maximum number of hooks for one event.
    pub per_event: Option<usize>,
    /// Maximum number of hooks in total.
    pub total: Option<usize>,
    /// Default timeout of a hook, in the profile's unit.
    pub default_timeout: Option<f64>,
    /// Level of detail of the log about hooks.
    pub audit_level: Option<String>,
}

/// A problem in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsProblem {
    /// Severity of the problem.
    pub level: ProblemLevel,
    /// Description of the problem.
    pub problem: Problem,
}

/// Severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemLevel {
    /// The entry works, but probably not as intended.
    Warning,
    /// The entry was refused.
    Error,
}

/// Parses settings files. Their order matters only among files of the same origin. A blank file has no settings.
pub fn read_settings(profile: &Profile, layers: &[SettingsLayer<'_>]) -> ProfileSettings {
    let mut settings =
        ProfileSettings { enabled: profile.gate.default, notifications: true, ..ProfileSettings::default() };
    let place = |source| profile.layers.iter().position(|one| *one == source).unwrap_or(usize::MAX);
    let mut ordered: Vec<SettingsLayer<'_>> = layers.to_vec();
    ordered.sort_by_key(|layer| place(layer.source));
    let mut trees: Vec<(SettingsLayer<'_>, Node)> = Vec::new();
    for layer in ordered {
        match tree::parse(layer.text) {
            Ok(None) => {}
            Ok(Some(tree)) => trees.push((layer, tree)),
            Err((spot, message)) => {
                let hint = "nothing in this file counts until it is valid JSON; only comments are allowed beyond that";
                settings.refuse(Problem::new(layer.name, spot, message).hint(hint));
            }
        }
    }
    match profile.shape {
        SettingsShape::Groups => groups::read(profile, &trees, &mut settings),
        SettingsShape::Registered => registered::read(profile, &trees, &mut settings),
    }
    settings
}

// === impl ProfileSettings ===

impl ProfileSettings {
    fn refuse(&mut self, problem: Problem) {
        self.problems.push(SettingsProblem { level: ProblemLevel::Error, problem });
    }

    fn warn(&mut self, problem: Problem) {
        self.problems.push(SettingsProblem { level: ProblemLevel::Warning, problem });
    }
}

// === impl ConfiguredHook ===

impl ConfiguredHook {
    /// Label by which a hook is enabled and disabled. It is the hook's name. A hook without a name is labelled by its
    /// command, URL, tool or prompt.
    pub fn label(&self) -> &str {
        let known = [&self.name, &self.command, &self.url, &self.tool, &self.prompt]
            .into_iter()
            .flatten()
            .find(|text| !text.is_empty());
        let unknown = if self.kind == HookKind::Command { "unknown-command" } else { "unknown-hook" };
        known.map_or(unknown, String::as_str)
    }

    /// Whether the hook's event is about one tool call.
    pub(crate) fn concerns_tool(&self, profile: &Profile) -> bool {
        let kind = profile.event(&self.event).map(|row| row.kind);
        matches!(
            kind,
            Some(
                EventKind::PreTool
                    | EventKind::PostTool
                    | EventKind::ToolError
                    | EventKind::PermissionRequest
                    | EventKind::PermissionDenied
            )
        )
    }
}

// === impl SettingsSource ===

impl SettingsSource {
    /// Rank by which LLxprt Code and Gemini CLI order hooks, lower first.
    pub fn rank(self) -> i32 {
        match self {
            Self::Runtime => 0,
            Self::Project | Self::Local | Self::Flag => 1,
            Self::User => 2,
            Self::System | Self::Defaults => 3,
            Self::Extensions => 4,
        }
    }
}

#[cfg(test)]
mod tests;
