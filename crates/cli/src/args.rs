// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What can be typed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ColorChoice, Parser};

use crate::commands::{self, Command};

const EXIT_CODES: &str = "\
Exit codes:
  0  done; for `hook` and `fire`: the reply is on standard output, if there is one
  1  the command could not do its work; for `check`: problems were found
  2  wrong usage or unreadable input; for `hook` and `fire`: blocked, the reason is on standard error

Examples:
  tenterhook demo                                   watch an agent at work, guarded
  tenterhook install claude-code                    guard Claude Code
  tenterhook explain --command 'rm -rf ~/work'      what would happen, and why";

/// One hook system for every AI agent: it looks, records, changes or stops.
#[derive(Debug, Parser)]
#[command(name = "tenterhook", version, after_help = EXIT_CODES, propagate_version = true)]
pub(crate) struct Cli {
    /// Where Tenterhook keeps its state and settings [default: as the platform has it]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Use the home of the machine, for all of its accounts
    #[arg(long, global = true, conflicts_with = "home")]
    pub(crate) system: bool,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours; `NO_COLOR` is respected
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads the command line. Called as `tenterhook-hook`, the verb `hook` is understood.
    pub(crate) fn from_command_line() -> Self {
        let mut words: Vec<OsString> = std::env::args_os().collect();
        let called = words.first().map(Path::new).and_then(Path::file_name);
        if called.is_some_and(|name| name == "tenterhook-hook") {
            words.insert(1, "hook".into());
        }
        if let Some(args) = commands::HookArgs::handed_over(&words) {
            let command = Command::Hook(args);
            return Self { home: None, system: false, json: false, color: ColorChoice::Auto, command };
        }
        Self::parse_from(words)
    }
}
