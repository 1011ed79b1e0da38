// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One file for each command.

mod alerts;
mod approve;
mod connect;
mod counts;
mod decisions;
mod export;
mod finish;
mod join;
mod keep;
mod key;
mod leave;
mod machine_home;
mod machines;
mod nats_config;
mod open;
mod policy;
mod serve;
mod status;
mod table;
mod token;

use std::process::ExitCode;

use tenterhook_error::Failure;

use crate::environment::FleetContext;

/// Subcommands of `tenterhook fleet`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Serve(Box<serve::Args>),
    Join(join::Args),
    Leave(leave::Args),
    Finish(finish::Args),
    Status(status::Args),
    #[command(hide = true)]
    Connect(connect::Args),
    Open(open::Args),
    Token(token::Args),
    Key(key::Args),
    Machines(machines::Args),
    Decisions(decisions::Args),
    Counts(counts::Args),
    Export(export::Args),
    Alerts(alerts::Args),
    Policy(policy::Args),
    Approve(approve::Args),
    NatsConfig(nats_config::Args),
    #[command(hide = true)]
    Keep(keep::Args),
}

/// Runs a command.
pub(crate) fn run(context: &FleetContext, command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Serve(args) => serve::run(context, &args),
        Command::Join(args) => join::run(context, &args),
        Command::Finish(args) => finish::run(context, &args),
        Command::Leave(args) => leave::run(context, &args),
        Command::Status(args) => status::run(context, &args),
        Command::Connect(args) => connect::run(args),
        Command::Open(args) => open::run(context, &args),
        Command::Token(args) => token::run(context, args),
        Command::Key(args) => key::run(context, args),
        Command::Machines(args) => machines::run(context, &args),
        Command::Decisions(args) => decisions::run(context, args),
        Command::Counts(args) => counts::run(context, &args),
        Command::Export(args) => export::run(context, &args),
        Command::Alerts(args) => alerts::run(context, args),
        Command::Policy(args) => policy::run(context, args),
        Command::Approve(args) => approve::run(context, &args),
        Command::NatsConfig(args) => nats_config::run(context, &args),
        Command::Keep(args) => keep::run(args),
    }
}
