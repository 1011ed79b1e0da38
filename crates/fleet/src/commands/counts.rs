// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use tenterhook_error::Failure;

use super::decisions::parse_since;
use super::table::print_rows;
use crate::api_client::{ApiClient, ServerArgs};
use crate::environment::FleetContext;

const EXAMPLES: &str = "\
All calls are counted, also those that have no row in `fleet decisions`.

Examples:
  tenterhook fleet counts
  tenterhook fleet counts --since 7d --json";

/// Count the calls of all machines by hour, harness and verdict
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Since a duration ago, a day or a time
    #[arg(long, value_name = "TIME", default_value = "1d")]
    since: String,
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn run(context: &FleetContext, args: &Args) -> Result<ExitCode, Failure> {
    let client = ApiClient::open(context, &args.server)?;
    let since = Some(parse_since(&args.since)?);
    let response = client.get("/v1/counts", &[("since", since)])?;
    let columns = [("hour", "hour"), ("harness", "harness"), ("verdict", "verdict"), ("calls", "calls")];
    print_rows(context.terminal, &response, "counts", &columns, "no calls")?;
    Ok(ExitCode::SUCCESS)
}
