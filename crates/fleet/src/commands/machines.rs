// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_command::terminal::tame;
use tenterhook_error::Failure;

use super::table::print_rows;
use super::token::path_segment;
use crate::api_client::{ApiClient, ServerArgs};
use crate::environment::FleetContext;

const EXAMPLES: &str = "\
Examples:
  tenterhook fleet machines
  tenterhook fleet machines build-7      machines whose id or host contains `build-7`
  tenterhook fleet machines --json
  tenterhook fleet machines revoke build-7 --reason 'laptop was stolen'";

/// List the machines of the fleet, or remove one
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Only machines whose id or host contains this text
    search: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
    #[command(subcommand)]
    action: Option<MachineAction>,
}

#[derive(Debug, clap::Subcommand)]
enum MachineAction {
    /// Remove a machine: its key is refused from now on, and its records stay
    #[command(visible_alias = "remove")]
    Revoke {
        /// Id of the machine, or the name of its host
        name: String,
        /// Why it is removed, for the records
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        server: ServerArgs,
    },
}

fn revoke(
    context: &FleetContext,
    (name, reason): (&str, Option<&str>),
    server: &ServerArgs,
) -> Result<ExitCode, Failure> {
    let client = ApiClient::open(context, server)?;
    let response =
        client.post(&format!("/v1/machines/{}/revoke", path_segment(name)?), &json!({ "reason": reason }))?;
    if context.terminal.json {
        context.terminal.print_json(&response)?;
        return Ok(ExitCode::SUCCESS);
    }
    let machine = response.get("machine").and_then(Value::as_str).unwrap_or_default();
    context.terminal.print(&format!("removed machine {}\n", tame(machine)))?;
    if response.get("disconnected") != Some(&Value::Bool(true)) {
        let text = "the message bus cannot be reached; the server tells it as soon as it can\n";
        context.terminal.eprint(text)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn run(context: &FleetContext, args: &Args) -> Result<ExitCode, Failure> {
    if let Some(MachineAction::Revoke { name, reason, server }) = &args.action {
        return revoke(context, (name, reason.as_deref()), server);
    }
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
        ("left", "left"),
    ];
    print_rows(context.terminal, &response, "machines", &columns, "no machines")?;
    Ok(ExitCode::SUCCESS)
}
