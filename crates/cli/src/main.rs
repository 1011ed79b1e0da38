// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `tenterhook`: one hook system for every AI agent.

mod allocator;
mod args;
mod ask;
mod commands;
mod context;
mod described;
mod env;
mod error;
mod fetch;
mod gate;
mod hook_programs;
mod intake;
mod layout;
mod page;
mod port_holder;
mod profiles;
mod qr;
mod ruling;
mod strict;
mod terminal;
mod until;
mod versions;

use std::process::ExitCode;

use crate::args::Cli;
use crate::context::Context;
use crate::terminal::Terminal;

fn main() -> ExitCode {
    let cli = Cli::from_command_line();
    let terminal = Terminal::new(cli.color, cli.json);
    let context = Context::new(&cli, terminal);
    let is_typed = cli.command.is_typed_by_users();
    let exit = match commands::run(&context, cli.command) {
        Ok(exit) => exit,
        Err(error) => terminal.report(&error),
    };
    if is_typed {
        versions::print_notice(&context);
    }
    exit
}
