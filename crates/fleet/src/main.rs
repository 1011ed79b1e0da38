// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `tenterhook-fleet`: the server of a fleet, the connector of a machine, and the commands of operators.
//!
//! This is a program of its own, so that the program of a single machine contains neither NATS nor PostgreSQL.

mod api_client;
mod args;
mod commands;
mod environment;
mod policy_source;
mod signing_key;

use std::process::ExitCode;

use clap::Parser as _;
use tenterhook_command::terminal::Terminal;

use crate::args::FleetArgs;
use crate::environment::FleetContext;

fn main() -> ExitCode {
    let cli = FleetArgs::parse();
    let terminal = Terminal::new(cli.color, cli.json);
    let context = FleetContext::new(terminal);
    match commands::run(&context, cli.command) {
        Ok(exit) => exit,
        Err(error) => terminal.report(&error),
    }
}
