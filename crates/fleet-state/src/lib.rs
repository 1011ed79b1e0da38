// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a machine stores about its fleet, in the directory `fleet` of the state directory; and how the daemon finds
//! and supervises the connector, the program that talks to the fleet.
//!
//! This crate opens no network connection. The daemon and the command line read the files that the connector writes.

mod connector_program;
mod fleet_dir;
mod supervisor;
mod upload_state;
mod witness;

pub use connector_program::{FLEET_PROGRAM, find_beside, find_on_path};
pub use fleet_dir::{FleetDir, FleetEnrolment, FleetStateError, StoredCredentials};
pub use supervisor::{ConnectorChange, ConnectorSupervisor, SupervisorOptions};
pub use upload_state::{ConnectorReport, ConnectorState, FleetOverview, NotUploaded, UploadCursor};
pub use witness::{WitnessError, WitnessedCheckpoint};
