// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `tenterhook`: one hook system for every AI agent.

mod allocator;
mod args;
mod commands;
mod completion;
mod sandbox_launchers;
mod setup;
mod shell_profile;

use std::process::ExitCode;

use tenterhook_command::{
    confirm, context, error, profile_settings, read_input, rule_args, run_until_signal, terminal,
};
use tenterhook_daemon_control::ask;

use crate::args::Cli;
use crate::context::Context;
use crate::terminal::Terminal;

fn main() -> ExitCode {
    // In a sandbox, this program runs first and becomes the command, so nothing else may happen before.
    if let Some(exit) = commands::enter_sandbox() {
        return exit;
    }
    let cli = Cli::from_command_line();
    let terminal = Terminal::new(cli.color, cli.json);
    let context = Context::new(cli.home, cli.system, terminal);
    let is_typed = cli.command.is_typed_by_users();
    let exit = match commands::run(&context, cli.command) {
        Ok(exit) => exit,
        Err(error) => terminal.report(&error),
    };
    if is_typed {
        setup::print_version_notice(&context);
    }
    exit
}
