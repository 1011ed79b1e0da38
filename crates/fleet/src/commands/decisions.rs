// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tenterhook_error::Failure;
use tenterhook_records::time_spec::parse_time_spec;

use super::table::print_rows;
use crate::api_client::{ApiClient, ServerArgs};
use crate::environment::FleetContext;

const EXAMPLES: &str = "\
Asked, denied, rewritten and failed calls and changes of protection are listed. All other records stay in their batches.

Examples:
  tenterhook fleet decisions
  tenterhook fleet decisions --verdict deny --since 1d
  tenterhook fleet decisions --rule remote-code --host build-7
  tenterhook fleet decisions --path /home/dev/shop --json";

/// Search decisions across machines
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Id of the machine that reported the decision
    #[arg(long)]
    machine: Option<String>,
    /// Verdict of the rules, or `rewritten`
    #[arg(long, value_parser = ["none", "allow", "defer", "ask", "deny", "rewritten"])]
    verdict: Option<String>,
    /// Rule that decided
    #[arg(long)]
    rule: Option<String>,
    /// Harness that made the call
    #[arg(long)]
    harness: Option<String>,
    /// User of the machine
    #[arg(long)]
    user: Option<String>,
    /// Name of the host
    #[arg(long)]
    host: Option<String>,
    /// Start of the working directory
    #[arg(long)]
    path: Option<String>,
    /// Since a duration ago, a day or a time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Maximum number of rows
    #[arg(long, default_value_t = 100, value_name = "N")]
    limit: u32,
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn run(context: &FleetContext, args: Args) -> Result<ExitCode, Failure> {
    let client = ApiClient::open(context, &args.server)?;
    let since = args.since.as_deref().map(parse_since).transpose()?;
    let parameters = [
        ("machine", args.machine),
        ("verdict", args.verdict),
        ("rule", args.rule),
        ("harness", args.harness),
        ("user", args.user),
        ("host", args.host),
        ("path", args.path),
        ("since", since),
        ("limit", Some(args.limit.to_string())),
    ];
    let mut response = client.get("/v1/decisions", &parameters)?;
    if !context.terminal.json {
        show_rewritten(&mut response);
    }
    let columns = [
        ("time", "at"),
        ("host", "host"),
        ("verdict", "verdict"),
        ("kind", "kind"),
        ("harness", "harness"),
        ("tool", "tool"),
        ("rule", "rule"),
        ("record", "record"),
        ("reason", "reason"),
    ];
    print_rows(context.terminal, &response, "decisions", &columns, "no decisions")?;
    Ok(ExitCode::SUCCESS)
}

/// Shows calls that ran with another input as rewritten.
fn show_rewritten(response: &mut Value) {
    let rows = response.get_mut("decisions").and_then(Value::as_array_mut);
    for row in rows.into_iter().flatten().filter_map(Value::as_object_mut) {
        let is_stopped = matches!(row.get("verdict").and_then(Value::as_str), Some("ask" | "deny"));
        if !is_stopped && row.get("rewritten") == Some(&Value::Bool(true)) {
            row.insert("verdict".to_owned(), "rewritten".into());
        }
    }
}

/// Reads a duration before now, a day or a time.
pub(super) fn parse_since(text: &str) -> Result<String, Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    let time = parse_time_spec(text, now);
    time.map(|time| time.to_string()).map_err(|_| {
        Failure::user(format!("invalid time `{text}`")).hint("use `1d`, `2026-11-15` or a time in RFC 3339")
    })
}
