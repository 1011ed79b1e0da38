// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Starts `tenterhook-fleet` with the arguments of `tenterhook fleet`.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use tenterhook_command::context::Context;
use tenterhook_command::error::CommandError;
use tenterhook_fleet_state::{FLEET_PROGRAM, find_on_path};

const EXAMPLES: &str = "\
The commands are in the program `tenterhook-fleet`, which is searched beside this program and then on PATH, but never \
in the current project. `tenterhook fleet --help` lists them.

Examples:
  tenterhook fleet join https://fleet.example:8470 TOKEN
  tenterhook fleet status
  tenterhook fleet serve";

/// Commands whose state directory is the machine's.
const MACHINE_COMMANDS: [&str; 3] = ["join", "leave", "status"];

/// Join a fleet, show its state, or run its server
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, disable_help_flag = true)]
pub struct Args {
    /// Command of the fleet with its options
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Replaces this process by `tenterhook-fleet`.
pub fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let own = std::env::current_exe().ok();
    let path = context.env.all.iter().find(|(name, _)| *name == "PATH").map(|(_, path)| OsStr::new(path));
    let cwd = std::env::current_dir().ok();
    let Some(program) = find_on_path(own.as_deref(), path, cwd.as_deref()) else {
        return Err(CommandError::not_found(format!("`{FLEET_PROGRAM}` is not installed")).hint(format!(
            "install the package `{FLEET_PROGRAM}`; it belongs beside this program or on PATH"
        )));
    };
    let mut command = Command::new(&program);
    let mut words = args.words.iter();
    if let Some(verb) = words.next() {
        command.arg(verb);
        if MACHINE_COMMANDS.iter().any(|name| verb == name) {
            match &context.explicit_home {
                Some(home) => {
                    command.arg("--home").arg(home);
                }
                None if context.unchecked_home().is_some_and(tenterhook_home::Home::is_machine_wide) => {
                    command.arg("--system");
                }
                None => {}
            }
        }
    } else {
        command.arg("--help");
    }
    if context.terminal.json {
        command.arg("--json");
    }
    let error = command.args(words).exec();
    Err(CommandError::internal(format!("`{}` cannot be started: {error}", program.display())))
}
