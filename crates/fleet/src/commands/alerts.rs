// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_error::Failure;

use super::table::print_rows;
use crate::api_client::{ApiClient, ServerArgs};
use crate::environment::FleetContext;

const EXAMPLES: &str = "\
history-rewritten    the ledger of a machine does not continue what the server has stored
machine-key-cloned   two copies of a machine use one key
machine-silent       a machine has sent nothing for a day
evidence-refused     a machine sent a batch that is not valid
policy-refused       a machine refused a policy bundle
rollout-stopped      a policy would deny too many calls, so its rollout stopped

Examples:
  tenterhook fleet alerts
  tenterhook fleet alerts --all
  tenterhook fleet alerts --json         with both heads of a rewritten history
  tenterhook fleet alerts acknowledge 12";

/// List alerts, or acknowledge one
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Also list acknowledged alerts and those whose cause has ended
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    server: ServerArgs,
    #[command(subcommand)]
    action: Option<AlertAction>,
}

#[derive(Debug, clap::Subcommand)]
enum AlertAction {
    /// Acknowledge an alert
    Acknowledge {
        /// Number of the alert
        id: i64,
        #[command(flatten)]
        server: ServerArgs,
    },
}

pub(super) fn run(context: &FleetContext, args: Args) -> Result<ExitCode, Failure> {
    if let Some(AlertAction::Acknowledge { id, server }) = args.action {
        let client = ApiClient::open(context, &server)?;
        let response = client.post(&format!("/v1/alerts/{id}/acknowledge"), &json!({}))?;
        if context.terminal.json {
            context.terminal.print_json(&response)?;
        } else {
            context.terminal.print(&format!("acknowledged alert {id}\n"))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let client = ApiClient::open(context, &args.server)?;
    let all = args.all.then(|| "true".to_owned());
    let response = client.get("/v1/alerts", &[("all", all)])?;
    let columns = [
        ("alert", "id"),
        ("kind", "kind"),
        ("host", "host"),
        ("machine", "machine"),
        ("raised", "raised"),
        ("times", "times"),
        ("acknowledged by", "acknowledged_by"),
    ];
    print_rows(context.terminal, &response, "alerts", &columns, "no alerts")?;
    Ok(ExitCode::SUCCESS)
}
