// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The state directory of the machine, for commands that run on a machine of a fleet.

use std::path::PathBuf;

use tenterhook_command::context::Context;
use tenterhook_error::Failure;
use tenterhook_fleet_machine::{EnrolError, ServerError};
use tenterhook_fleet_state::FleetStateError;

use crate::environment::FleetContext;

/// Selects the state directory.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct MachineHomeArgs {
    /// Directory for state and settings [default: the platform's directories]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Use the machine-wide state directory, for all accounts
    #[arg(long, conflicts_with = "home")]
    system: bool,
}

impl MachineHomeArgs {
    /// Returns the context of commands on this machine.
    pub(super) fn context(&self, context: &FleetContext) -> Context {
        Context::new(self.home.clone(), self.system, context.terminal)
    }
}

/// Converts an error of the files about the fleet for the terminal.
pub(super) fn state_failure(error: &FleetStateError) -> Failure {
    let message = error.to_string();
    match error {
        FleetStateError::NotEnrolled => {
            Failure::not_found(message).hint("`tenterhook fleet join URL TOKEN` joins one")
        }
        FleetStateError::Enrolled(_) => Failure::conflict(message).hint("`tenterhook fleet leave` leaves it"),
        FleetStateError::Locked => Failure::busy(message),
        FleetStateError::Io { .. } | FleetStateError::Form { .. } => Failure::internal(message),
    }
}

/// Converts an error of the enrolment for the terminal.
pub(super) fn enrol_failure(error: &EnrolError) -> Failure {
    let message = error.to_string();
    match error {
        EnrolError::State(error) => state_failure(error),
        EnrolError::Server(ServerError::Refused { .. }) => Failure::denied(message),
        EnrolError::Server(ServerError::Url(_) | ServerError::Ca(_)) => Failure::user(message),
        EnrolError::Server(ServerError::Unreachable(_)) => Failure::busy(message)
            .hint("check the URL, and pass the server's certificate authority with `--ca`"),
        _ => Failure::internal(message),
    }
}
