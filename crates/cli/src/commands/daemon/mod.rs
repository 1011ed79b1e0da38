// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `daemon`: starts, stops and restarts the daemon, and installs it as a service.

pub(super) mod serve;
pub(super) mod service;
pub(super) mod start;
pub(super) mod status;
pub(super) mod stop;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CommandError;

const EXAMPLES: &str = "\
`tenterhook start`, `stop` and `status` are short for the commands of the same name here.

Examples:
  tenterhook daemon restart               after an upgrade
  tenterhook daemon serve                 in the foreground
  tenterhook daemon service install       start it at every login";

/// Start, stop or restart the daemon, or run it as a service
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Start(start::Args),
    Stop(stop::Args),
    Restart(start::RestartArgs),
    Status(status::Args),
    Serve(serve::Args),
    Service(service::Args),
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.command {
        Command::Start(args) => start::run(context, args),
        Command::Stop(args) => stop::run(context, args),
        Command::Restart(args) => start::restart(context, args),
        Command::Status(args) => status::run(context, args),
        Command::Serve(args) => serve::run(context, args),
        Command::Service(args) => service::run(context, args),
    }
}
