// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_command::confirm::{self, ProofArgs};
use tenterhook_command::context::Context;
use tenterhook_command::terminal::{GOOD, WARN};
use tenterhook_error::Failure;
use tenterhook_fleet_state::{FleetDir, FleetStateError};
use tenterhook_home::FleetPolicy;

use super::machine_home::{MachineHomeArgs, enrol_failure, state_failure};
use crate::environment::FleetContext;

const EXAMPLES: &str = "\
The organisation's policy no longer applies to this machine, so the command needs a confirmation. Records that were not \
uploaded stay in the ledger.

Examples:
  tenterhook fleet leave
  tenterhook fleet leave --code-file code.txt";

/// Take this machine out of its fleet
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    home: MachineHomeArgs,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(super) fn run(fleet: &FleetContext, args: &Args) -> Result<ExitCode, Failure> {
    let context = args.home.context(fleet);
    let home = context.home()?;
    let dir = FleetDir::of_state(&home.state);
    let Some(enrolment) = dir.enrolment().map_err(|error| state_failure(&error))? else {
        return leave_without_enrolment(&context, args);
    };
    let detail = json!({ "server": enrolment.server, "machine": enrolment.machine });
    confirm::require_confirmation(&context, Action::FleetLeave, detail, &args.proof)?;
    let unreachable = tenterhook_fleet_machine::leave(&dir).map_err(|error| enrol_failure(&error))?;
    FleetPolicy::remove(home)?;
    if context.terminal.json {
        let error = unreachable.map(|error| error.to_string());
        context.terminal.print_json(&json!({ "left": enrolment.server, "server_error": error }))?;
        return Ok(ExitCode::SUCCESS);
    }
    context.terminal.print(&format!("{GOOD}✓{GOOD:#} this machine left {}\n", enrolment.server))?;
    if let Some(error) = unreachable {
        context
            .terminal
            .eprint(&format!("{WARN}warning{WARN:#}: the server does not know that: {error}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes what is left of a membership whose enrolment was lost. The server is not known any more.
fn leave_without_enrolment(context: &Context, args: &Args) -> Result<ExitCode, Failure> {
    let home = context.home()?;
    if !FleetPolicy::is_confirmed(home) {
        return Err(state_failure(&FleetStateError::NotEnrolled));
    }
    confirm::require_confirmation(context, Action::FleetLeave, json!({}), &args.proof)?;
    FleetPolicy::remove(home)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({ "left": null, "server_error": null }))?;
    } else {
        let text =
            "this machine left its fleet; its enrolment was missing, so the server does not know that\n";
        context.terminal.print(&format!("{GOOD}✓{GOOD:#} {text}"))?;
    }
    Ok(ExitCode::SUCCESS)
}
