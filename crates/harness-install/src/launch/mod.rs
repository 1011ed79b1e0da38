// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How a client is run without a user, against a model at a given address.
//!
//! The folder of each harness defines its [`ClientLaunch`] (for example `claude_code/launch.rs`): command line,
//! variables and settings. [`copy_settings`] copies the part of the user's settings that decides whether hooks run. A
//! client can then use this copy in a temporary directory. [`run_to_end`] runs the client for a limited time. `doctor
//! --prove` and the end-to-end tests use the same definitions.

mod process;
mod settings_copy;

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

pub use process::run_to_end;
pub use settings_copy::{copy_settings, hook_program_in, write_launch_settings};

use crate::{InstallError, InstallRequest};

/// Pairs of a text and its replacement, applied to copied settings.
pub type Replacements = Vec<(String, String)>;

/// How one client is run without a user.
#[derive(Debug)]
pub struct ClientLaunch {
    /// Keys of the client's settings files that decide whether hooks run. A copy of the settings contains only these
    /// keys: no credentials, models, MCP servers or helper programs of the user.
    pub hook_keys: &'static [&'static [&'static str]],
    /// Tables of the client's TOML settings files that decide whether hooks run.
    pub hook_tables: &'static [&'static [&'static str]],
    /// JSON file into which `settings` are written, relative to the directory of the user's settings.
    pub settings_file: &'static str,
    /// Settings needed for a run without a user: keys, and the value as JSON.
    pub settings: &'static [(&'static [&'static str], &'static str)],
    /// Returns replacements for texts that depend on the location of the settings or hook programs. Needed for
    /// clients that store digests of hooks.
    pub relocated: fn(&InstallRequest, &InstallRequest) -> Result<Replacements, InstallError>,
    /// A run of the client before the first session. Needed for clients that store the model's address.
    pub sign_in: Option<fn(&LaunchSite<'_>) -> ClientInvocation>,
    /// A session with one prompt, with all of the client's own permissions granted.
    pub session: fn(&LaunchSite<'_>, prompt: &str) -> ClientInvocation,
    /// Builds a call of the client's shell tool, as a model makes it.
    pub shell: fn(command: &str) -> ToolRequest,
    /// Pause between two events of the model's stream, for clients that fail when several arrive at once.
    pub event_pause_ms: Option<u64>,
}

/// Directories and model address of a run.
#[derive(Debug, Clone, Copy)]
pub struct LaunchSite<'a> {
    /// `HOME` of the client.
    pub home: &'a Path,
    /// Working directory of the client.
    pub project: &'a Path,
    /// Base URL of the model, `http://127.0.0.1:4711`.
    pub model: &'a str,
}

/// Arguments and variables of one run. Besides these variables, the environment contains only `HOME` and `PATH`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientInvocation {
    /// Arguments of the client.
    pub args: Vec<OsString>,
    /// Variables to set for the client.
    pub env: Vec<(&'static str, OsString)>,
}

/// A tool call of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRequest {
    /// Name of the tool.
    pub name: &'static str,
    /// Arguments of the tool.
    pub input: Value,
}

impl ClientLaunch {
    /// A launch for clients that need no additional settings.
    pub(crate) const fn new(
        session: fn(&LaunchSite<'_>, prompt: &str) -> ClientInvocation,
        shell: fn(command: &str) -> ToolRequest,
    ) -> Self {
        Self {
            hook_keys: &[],
            hook_tables: &[],
            settings_file: "settings.json",
            settings: &[],
            relocated: |_, _| Ok(Vec::new()),
            sign_in: None,
            session,
            shell,
            event_pause_ms: None,
        }
    }
}

impl ClientInvocation {
    pub(crate) fn new<T: Into<OsString>>(args: impl IntoIterator<Item = T>) -> Self {
        Self { args: args.into_iter().map(Into::into).collect(), env: Vec::new() }
    }

    pub(crate) fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.env.push((name, value.into()));
        self
    }
}
