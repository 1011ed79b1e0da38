// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::PathBuf;
use std::process::ExitCode;

use tenterhook_error::Failure;
use tenterhook_fleet_server::FleetKeys;

use crate::environment::{FleetContext, failure};

const EXAMPLES: &str = "\
Keys that exist are kept. Include the printed text in the configuration of every NATS server, and give the directory
to every copy of the fleet server with `--keys`. Keep `operator.nk` and `system.nk` apart: the fleet server does not
need them. Run the command again after an update: it creates keys that are missing.

Examples:
  tenterhook fleet nats-config --keys fleet-keys --tenant shop > accounts.conf
  tenterhook fleet nats-config --keys fleet-keys --tenant shop --tenant labs";

/// Create the keys of a fleet and print the accounts for the configuration of NATS
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory of the keys
    #[arg(long, value_name = "DIR")]
    keys: PathBuf,
    /// Tenant to create an account for; may be repeated
    #[arg(long = "tenant", value_name = "NAME", default_value = "default")]
    tenants: Vec<String>,
}

pub(super) fn run(context: &FleetContext, args: &Args) -> Result<ExitCode, Failure> {
    let keys = FleetKeys::open_or_create(&args.keys, &args.tenants).map_err(failure)?;
    context.terminal.print(&keys.nats_accounts_config().map_err(failure)?)?;
    Ok(ExitCode::SUCCESS)
}
