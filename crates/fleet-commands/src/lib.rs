// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The command `fleet`, and what `status` and `doctor` show about the fleet of this machine.
//!
//! The commands of a fleet are in a program of their own, `tenterhook-fleet`, so that the program of a single machine
//! contains neither a message bus nor a database client.

pub mod fleet;
mod fleet_summary;

pub use fleet_summary::{FleetHealth, fleet_health, fleet_json, fleet_text};
