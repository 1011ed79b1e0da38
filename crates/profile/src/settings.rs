// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The settings files of a harness, as hooks.
//!
//! One entry that cannot be used is refused alone, with its place and what to do; the rest stands.

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

use crate::switches::{Kind, Profile, Shape};

/// Where settings come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// A program, while it runs; no file.
    Runtime,
    /// The project's file.
    Project,
    /// The project's file that is not shared.
    Local,
    /// A file named on the command line.
    Flag,
    /// The person's file.
    User,
    /// The machine's file, or the organisation's.
    System,
    /// The machine's defaults.
    Defaults,
    /// An extension or plugin.
    Extensions,
}

/// One settings file.
#[derive(Debug, Clone, Copy)]
pub struct Layer<'a> {
    /// Where it comes from.
    pub source: Source,
    /// The file, for messages.
    pub name: &'a str,
    /// What it says: JSON, comments allowed.
    pub text: &'a str,
}

/// All that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Whether hooks run at all.
    pub enabled: bool,
    /// If not, why.
    pub why_disabled: Option<String>,
    /// Whether the person is told when hooks run.
    pub notifications: bool,
    /// The hooks, in the order of the merged configuration.
    pub entries: Vec<Entry>,
    /// What was refused, and what looks like a mistake.
    pub problems: Vec<Finding>,
    /// The bounds hooks have to keep.
    pub limits: Limits,
}

/// One hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The event, as the harness calls it.
    pub event: String,
    /// The matcher group it stands in, counted over the event's merged list.
    pub group: usize,
    /// The group's matcher, as written.
    pub matcher: Option<Value>,
    /// Whether its group runs one after the other.
    pub sequential: bool,
    /// Where it comes from.
    pub source: Source,
    /// The file it stands in.
    pub file: String,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What kind of hook it is.
    pub kind: Kind,
    /// The command line, or the program if there are `args`.
    pub command: Option<String>,
    /// Arguments: the command is then run without a shell.
    pub args: Option<Vec<String>>,
    /// The shell to run it in.
    pub shell: Option<String>,
    /// Where an `http` hook is sent.
    pub url: Option<String>,
    /// What an `http` hook is sent with.
    pub headers: BTreeMap<String, String>,
    /// The variables those headers may name.
    pub allowed_env: Vec<String>,
    /// What a `prompt` or `agent` hook is asked.
    pub prompt: Option<String>,
    /// The model it is asked of.
    pub model: Option<String>,
    /// The server of an `mcp_tool` hook.
    pub server: Option<String>,
    /// The tool of an `mcp_tool` hook.
    pub tool: Option<String>,
    /// What that tool is called with.
    pub input: Option<Value>,
    /// How long it may take, as written, in the profile's unit.
    pub timeout: Option<f64>,
    /// Variables it is given.
    pub env: BTreeMap<String, String>,
    /// The permission rule it is limited to.
    pub condition_if: Option<String>,
    /// Whether it objects when it fails.
    pub fail_closed: bool,
    /// Whether nobody waits for it.
    pub is_async: bool,
    /// Lower runs earlier.
    pub priority: i32,
    /// Whether it is turned on.
    pub enabled: bool,
    /// Where it stands in its file.
    pub place: Spot,
}

/// The bounds hooks have to keep.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// Hooks of one event.
    pub per_event: Option<usize>,
    /// Hooks in all.
    pub total: Option<usize>,
    /// How long a hook may take that does not say, in the profile's unit.
    pub default_timeout: Option<f64>,
    /// How much is written down about hooks.
    pub audit_level: Option<String>,
}

/// Something about a settings file a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// What it is.
    pub problem: Problem,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It works, but probably not as meant.
    Warning,
    /// It was refused.
    Error,
}

/// Reads settings files. Their order matters only among files of one source; a text that is blank says
/// nothing.
pub fn read(profile: &Profile, layers: &[Layer<'_>]) -> Settings {
    let mut settings = Settings { enabled: profile.gate.default, notifications: true, ..Settings::default() };
    let place = |source| profile.layers.iter().position(|one| *one == source).unwrap_or(usize::MAX);
    let mut ordered: Vec<Layer<'_>> = layers.to_vec();
    ordered.sort_by_key(|layer| place(layer.source));
    let mut trees: Vec<(Layer<'_>, Node)> = Vec::new();
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
        Shape::Groups => groups::read(profile, &trees, &mut settings),
        Shape::Registered => registered::read(profile, &trees, &mut settings),
    }
    settings
}

// === impl Settings ===

impl Settings {
    fn refuse(&mut self, problem: Problem) {
        self.problems.push(Finding { level: Level::Error, problem });
    }

    fn warn(&mut self, problem: Problem) {
        self.problems.push(Finding { level: Level::Warning, problem });
    }
}

// === impl Entry ===

impl Entry {
    /// What it is known by when hooks are turned on and off: its name, else what it runs. A hook with a
    /// name is not known by its command.
    pub fn label(&self) -> &str {
        let known = [&self.name, &self.command, &self.url, &self.tool, &self.prompt]
            .into_iter()
            .flatten()
            .find(|text| !text.is_empty());
        let unknown = if self.kind == Kind::Command { "unknown-command" } else { "unknown-hook" };
        known.map_or(unknown, String::as_str)
    }

    /// Whether its event is about one tool call.
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

// === impl Source ===

impl Source {
    /// The order LLxprt Code and Gemini CLI take hooks in, lower first.
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
