// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use tenterhook_error::Failure;
use tenterhook_fleet_server::{KeeperOptions, StopSignal, keep_child};

use crate::environment::failure;

/// Run an engine until standard input is closed
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// File for the engine's output
    #[arg(long)]
    log: PathBuf,
    /// Signal that ends the engine
    #[arg(long)]
    signal: SignalName,
    /// User and group to run it as
    #[arg(long, value_parser = parse_user)]
    user: Option<(u32, u32)>,
    /// Program and arguments
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SignalName {
    Terminate,
    Interrupt,
}

/// The text does not name a user and a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid user and group; use UID:GID")]
struct UserSpecError;

fn parse_user(text: &str) -> Result<(u32, u32), UserSpecError> {
    let ids = text.split_once(':').and_then(|(user, group)| Some((user.parse().ok()?, group.parse().ok()?)));
    ids.ok_or(UserSpecError)
}

pub(super) fn run(args: Args) -> Result<ExitCode, Failure> {
    let signal = match args.signal {
        SignalName::Terminate => StopSignal::Terminate,
        SignalName::Interrupt => StopSignal::Interrupt,
    };
    let options = KeeperOptions { signal, user: args.user, log: args.log, command: args.command };
    let code = keep_child(&options).map_err(failure)?;
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}
