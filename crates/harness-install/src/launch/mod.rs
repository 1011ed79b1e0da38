// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How a client is run without a user, against a model at an address of the caller's choice.
//!
//! A harness's own folder (`claude_code/launch.rs`) has the [`Launch`]: command line, variables and settings.
//! [`copy_settings`] copies the part of the user's settings that decides whether hooks run, so that a client can be run
//! with them in a temporary directory; [`run_to_end`] runs it for a bounded time. `doctor --prove` and the end-to-end
//! tests use the same descriptions.

mod process;
mod settings_copy;

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

pub use process::run_to_end;
pub use settings_copy::{copy_settings, hook_program_in, write_launch_settings};

use crate::{InstallError, Order};

/// Texts, and what takes their place in a copy.
pub type Replacements = Vec<(String, String)>;

/// How one client is run without a user.
#[derive(Debug)]
pub struct Launch {
    /// Keys of its settings files that decide whether hooks run. A copy of the settings holds nothing else: not the
    /// user's credentials, models, MCP servers or helper programs.
    pub hook_keys: &'static [&'static [&'static str]],
    /// The same for its settings files in TOML: tables.
    pub hook_tables: &'static [&'static [&'static str]],
    /// The JSON file with the settings below, relative to the directory with the user's settings.
    pub settings_file: &'static str,
    /// Settings that it needs to be run this way: keys, and the value as JSON.
    pub settings: &'static [(&'static [&'static str], &'static str)],
    /// Texts in the settings that depend on where the settings or the hook programs are, and their counterparts in the
    /// copy; for clients that store digests of hooks.
    pub relocated: fn(&Order, &Order) -> Result<Replacements, InstallError>,
    /// A run of the client before the first session, for clients that store the model's address.
    pub sign_in: Option<fn(&LaunchSite<'_>) -> Invocation>,
    /// A session with one prompt, with every permission of the client's own granted.
    pub session: fn(&LaunchSite<'_>, prompt: &str) -> Invocation,
    /// A call of its shell tool, as its model makes it.
    pub shell: fn(command: &str) -> ToolRequest,
    /// Pause between two events of the model's stream, for clients that fail when several arrive at once.
    pub event_pause_ms: Option<u64>,
}

/// Where a client runs.
#[derive(Debug, Clone, Copy)]
pub struct LaunchSite<'a> {
    /// `HOME` of the client.
    pub home: &'a Path,
    /// Its working directory.
    pub project: &'a Path,
    /// Base URL of the model, `http://127.0.0.1:4711`.
    pub model: &'a str,
}

/// Arguments and variables of one run. Nothing else belongs in the environment but `HOME` and `PATH`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// The arguments.
    pub args: Vec<OsString>,
    /// The variables.
    pub env: Vec<(&'static str, OsString)>,
}

/// A tool call of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRequest {
    /// The tool.
    pub name: &'static str,
    /// Its arguments.
    pub input: Value,
}

impl Launch {
    /// A row for clients that need no settings to be run this way.
    pub(crate) const fn new(
        session: fn(&LaunchSite<'_>, prompt: &str) -> Invocation,
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

impl Invocation {
    pub(crate) fn new<T: Into<OsString>>(args: impl IntoIterator<Item = T>) -> Self {
        Self { args: args.into_iter().map(Into::into).collect(), env: Vec::new() }
    }

    pub(crate) fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.env.push((name, value.into()));
        self
    }
}
