// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_command::confirm::{self, ProofArgs};
use tenterhook_command::terminal::{GOOD, WARN};
use tenterhook_error::Failure;
use tenterhook_fleet_machine::LedgerSource;
use tenterhook_fleet_state::{FleetDir, FleetStateError};
use tenterhook_records::time_spec::parse_duration_spec;

use super::machine_home::{MachineHomeArgs, enrol_failure, state_failure};
use crate::environment::FleetContext;

const EXAMPLES: &str = "\
The last step of a job, on a runner that joined with `fleet join --ephemeral`. The policy stays in force on the runner \
until it is gone. Exit code 1: some records were not acknowledged in time.

Examples:
  tenterhook fleet finish
  tenterhook fleet finish --timeout 5m";

/// Upload the records of this CI runner, and tell the fleet that it ends
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How long to wait until the fleet has acknowledged all records
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = parse_duration_spec)]
    timeout: Duration,
    #[command(flatten)]
    home: MachineHomeArgs,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(super) fn run(fleet: &FleetContext, args: &Args) -> Result<ExitCode, Failure> {
    let context = args.home.context(fleet);
    let state = context.home()?.state.clone();
    let dir = FleetDir::of_state(&state);
    let enrolment = dir.enrolment().and_then(|enrolment| enrolment.ok_or(FleetStateError::NotEnrolled));
    let enrolment = enrolment.map_err(|error| state_failure(&error))?;
    if !enrolment.ephemeral {
        return Err(Failure::user("this machine is not a CI runner")
            .hint("`fleet join --ephemeral` joins one; other machines leave with `tenterhook fleet leave`"));
    }
    let detail = json!({ "server": enrolment.server, "machine": enrolment.machine });
    // The record of this is uploaded too.
    confirm::require_confirmation(&context, Action::FleetFinish, detail, &args.proof)?;
    let missing = upload_rest(&state, &dir, args.timeout)?;
    tenterhook_fleet_machine::finish(&dir).map_err(|error| enrol_failure(&error))?;
    if context.terminal.json {
        let finished =
            json!({ "machine": enrolment.machine, "server": enrolment.server, "not_uploaded": missing });
        context.terminal.print_json(&finished)?;
    } else if missing == 0 {
        context.terminal.print(&format!("{GOOD}✓{GOOD:#} all records are at {}\n", enrolment.server))?;
    } else {
        context
            .terminal
            .eprint(&format!("{WARN}warning{WARN:#}: {missing} records were not acknowledged\n"))?;
    }
    Ok(if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Uploads all records. Returns how many were not acknowledged in time.
fn upload_rest(state: &Path, dir: &FleetDir, timeout: Duration) -> Result<u64, Failure> {
    let mut source = LedgerSource::new(state);
    let mut lag = || {
        let acknowledged = dir.cursor().map_or(0, |cursor| cursor.acknowledged);
        source.size().unwrap_or_default().saturating_sub(acknowledged)
    };
    if lag() == 0 {
        return Ok(0);
    }
    // If the daemon runs a connector, this one ends at once, and the other one uploads.
    let mut connector = Command::new(std::env::current_exe()?)
        .args(["connect", "--batch-age-ms", "50", "--state"])
        .arg(state)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let began = Instant::now();
    while lag() > 0 && began.elapsed() < timeout {
        std::thread::sleep(Duration::from_millis(100));
    }
    // Closing its standard input ends the connector.
    drop(connector.stdin.take());
    drop(connector.wait());
    Ok(lag())
}
