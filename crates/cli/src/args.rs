// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The command line arguments of `tenterhook`.

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
  tenterhook demo                                   watch a guarded agent at work
  tenterhook install claude-code                    guard Claude Code
  tenterhook explain --command 'rm -rf ~/work'      what would happen, and why";

/// One hook system for every AI agent: checks, records, rewrites or stops its actions
#[derive(Debug, Parser)]
#[command(name = "tenterhook", version, after_help = EXIT_CODES, propagate_version = true)]
pub(crate) struct Cli {
    /// Directory for state and settings [default: the platform's directories]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Use the machine-wide state directory, for all accounts
    #[arg(long, global = true, conflicts_with = "home")]
    pub(crate) system: bool,
    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colors; `NO_COLOR` is respected
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Parses the command line. If the program is called `tenterhook-hook`, the verb `hook` is implied.
    pub(crate) fn from_command_line() -> Self {
        let mut words: Vec<OsString> = std::env::args_os().collect();
        let program_name = words.first().map(Path::new).and_then(Path::file_name);
        if program_name.is_some_and(|name| name == "tenterhook-hook") {
            words.insert(1, "hook".into());
        }
        if let Some(args) = commands::HookArgs::parse_fallback_call(&words) {
            let command = Command::Hook(args);
            return Self { home: None, system: false, json: false, color: ColorChoice::Auto, command };
        }
        Self::parse_from(words)
    }
}
