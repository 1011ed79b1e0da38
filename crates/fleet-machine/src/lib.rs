// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The machine side of a fleet: enrolment, and the connector that uploads records.
//!
//! The connector reads the ledger from its own process. The ledger is the queue: the connector keeps nothing that it
//! could lose, and what the server has stored decides where it continues.

mod approval_relay;
mod backoff;
mod bus;
mod connector;
mod daemon_call;
mod enrol;
mod fleet_duties;
mod host;
mod ledger_source;
mod policy_sync;
mod server_client;
mod status_report;
mod upload;

pub use bus::{Bus, LastMessage, NatsError};
pub use connector::{ConnectorError, ConnectorOptions, ConnectorTiming, HealthProbe, run};
pub use daemon_call::{DaemonCall, DaemonRequest};
pub use enrol::{EnrolError, JoinOptions, finish, join, leave};
pub use ledger_source::{LedgerSource, SourceError};
pub use server_client::{ServerClient, ServerError};
pub use upload::{PublishOutcome, UploadProgress};
