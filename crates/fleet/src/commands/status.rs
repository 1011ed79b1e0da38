// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_command::terminal::{DIM, GOOD, WARN};
use tenterhook_error::Failure;
use tenterhook_fleet_machine::LedgerSource;
use tenterhook_fleet_state::{ConnectorState, FleetDir, FleetOverview};
use tenterhook_home::call_meta::now_ms;

use super::machine_home::{MachineHomeArgs, state_failure};
use crate::environment::FleetContext;

const EXAMPLES: &str = "\
Exit code 0: this machine is part of a fleet. 1: it is not.

Examples:
  tenterhook fleet status
  tenterhook fleet status --json";

/// Show the fleet of this machine, how far records were uploaded, and what is collected
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    home: MachineHomeArgs,
}

pub(super) fn run(fleet: &FleetContext, args: &Args) -> Result<ExitCode, Failure> {
    let context = args.home.context(fleet);
    let home = context.home()?;
    let dir = FleetDir::of_state(&home.state);
    let size = LedgerSource::new(&home.state).size().unwrap_or_default();
    let Some(overview) = dir.overview(size).map_err(|error| state_failure(&error))? else {
        if context.terminal.json {
            context.terminal.print_json(&json!({ "enrolled": false }))?;
        } else {
            let hint = "`tenterhook fleet join URL TOKEN` joins one";
            context.terminal.print(&format!("this machine is not part of a fleet\n{DIM}{hint}{DIM:#}\n"))?;
        }
        return Ok(ExitCode::FAILURE);
    };
    if context.terminal.json {
        let problems = overview.problems();
        let mut value =
            serde_json::to_value(&overview).map_err(|error| Failure::internal(error.to_string()))?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("enrolled".to_owned(), true.into());
            fields.insert("lag".to_owned(), overview.lag().into());
            fields.insert("problems".to_owned(), json!(problems));
        }
        context.terminal.print_json(&value)?;
    } else {
        context.terminal.print(&text(&overview, now_ms() / 1000))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(overview: &FleetOverview, now: u64) -> String {
    let ago = |time: u64| format!("{} s ago", now.saturating_sub(time));
    let report = overview.connector.as_ref();
    let state = match report.map(|report| (report.state, report.since)) {
        Some((ConnectorState::Connected, since)) => format!("{GOOD}connected{GOOD:#} since {}", ago(since)),
        Some((ConnectorState::Away, since)) => {
            format!("{WARN}not connected{WARN:#} since {}; records wait in the ledger", ago(since))
        }
        Some((ConnectorState::Refused, since)) => format!("{WARN}refused{WARN:#} since {}", ago(since)),
        None => format!("{WARN}not started{WARN:#}: the daemon runs the connector"),
    };
    let cosigned = match (overview.cosigned_size, overview.cosigned_at) {
        (Some(size), Some(time)) => format!("{size} records, {}", ago(time)),
        _ => "no checkpoint yet".to_owned(),
    };
    let cursor = overview.cursor;
    let mut text = format!(
        "  server      {}\n  tenant      {}\n  machine     {}\n  ring        {}\n  connection  {state}\n  records     {} in the ledger, {} uploaded, {} acknowledged ({} to go)\n  cosigned    {cosigned}\n",
        overview.server,
        overview.tenant,
        overview.machine,
        report.and_then(|report| report.ring.as_deref()).unwrap_or("?"),
        overview.ledger_size,
        cursor.uploaded,
        cursor.acknowledged,
        overview.lag(),
    );
    let collects = report.map(|report| report.collects.as_slice()).unwrap_or_default();
    text += "  collected   records without payloads, secrets redacted\n";
    for extra in collects {
        text += &format!("              also: {extra}\n");
    }
    for problem in overview.problems() {
        text += &format!("{WARN}warning{WARN:#}: {problem}\n");
    }
    text
}
