// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::Value;
use tenterhook_error::Failure;

use super::decisions::parse_since;
use crate::api_client::{ApiClient, ServerArgs};
use crate::environment::FleetContext;

const EXAMPLES: &str = "\
Asked, denied, rewritten and failed calls and changes of protection are exported, oldest first. `otlp` prints one \
request body of OTLP/HTTP per line, for `/v1/logs` of a collector. To send new decisions to a collector, start the \
server with `--otlp-endpoint`.

Examples:
  tenterhook fleet export --since 1d > decisions.jsonl
  tenterhook fleet export --since 2026-11-01 --until 2026-12-01 --format otlp";

/// Print decisions of all machines, one per line
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Since a duration ago, a day or a time
    #[arg(long, value_name = "TIME")]
    since: String,
    /// Until a duration ago, a day or a time [default: now]
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// What is printed
    #[arg(long, value_enum, default_value_t = DecisionExportFormat::Jsonl)]
    format: DecisionExportFormat,
    #[command(flatten)]
    server: ServerArgs,
}

/// Format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DecisionExportFormat {
    /// One decision per line, in JSON
    Jsonl,
    /// One request of OTLP/HTTP per line, in JSON
    Otlp,
}

pub(super) fn run(context: &FleetContext, args: &Args) -> Result<ExitCode, Failure> {
    let client = ApiClient::open(context, &args.server)?;
    let since = parse_since(&args.since)?;
    let until = args.until.as_deref().map(parse_since).transpose()?;
    let format = (args.format == DecisionExportFormat::Otlp).then(|| "otlp".to_owned());
    let mut last: Option<[String; 3]> = None;
    loop {
        let [at, machine, record] = last.clone().map_or([const { None }; 3], |last| last.map(Some));
        let parameters = [
            ("since", Some(since.clone())),
            ("until", until.clone()),
            ("format", format.clone()),
            ("after_at", at),
            ("after_machine", machine),
            ("after_record", record),
        ];
        let mut response = client.get("/v1/decisions/export", &parameters)?;
        let decisions = response.get_mut("decisions").and_then(Value::as_array_mut).map(std::mem::take);
        let decisions = decisions.unwrap_or_default();
        let Some(row) = decisions.last() else { return Ok(ExitCode::SUCCESS) };
        let text = |name: &str| match row.get(name) {
            Some(Value::String(text)) => text.clone(),
            other => other.map(ToString::to_string).unwrap_or_default(),
        };
        let next = ["at", "machine", "record"].map(text);
        if last.as_ref() == Some(&next) {
            return Err(Failure::internal("the server sent the same page twice"));
        }
        last = Some(next);
        let lines: String = match args.format {
            DecisionExportFormat::Jsonl => {
                decisions.iter().fold(String::new(), |text, line| text + &format!("{line}\n"))
            }
            DecisionExportFormat::Otlp => format!("{}\n", response.get("otlp").unwrap_or(&Value::Null)),
        };
        context.terminal.print(&lines)?;
    }
}
