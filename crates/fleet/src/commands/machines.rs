// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use tenterhook_error::Failure;

use super::table::print_rows;
use crate::api_client::{ApiClient, ServerArgs};
use crate::environment::FleetContext;

const EXAMPLES: &str = "\
Examples:
  tenterhook fleet machines
  tenterhook fleet machines build-7      machines whose id or host contains `build-7`
  tenterhook fleet machines --json";

/// List the machines of the fleet
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only machines whose id or host contains this text
    search: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn run(context: &FleetContext, args: &Args) -> Result<ExitCode, Failure> {
    let client = ApiClient::open(context, &args.server)?;
    let response = client.get("/v1/machines", &[("search", args.search.clone())])?;
    let columns = [
        ("machine", "machine"),
        ("host", "host"),
        ("ring", "ring"),
        ("records", "records"),
        ("witnessed", "witnessed"),
        ("alerts", "alerts"),
        ("last seen", "last_seen"),
    ];
    print_rows(context.terminal, &response, "machines", &columns, "no machines")?;
    Ok(ExitCode::SUCCESS)
}
