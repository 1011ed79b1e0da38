// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The read model in PostgreSQL.

mod action_rows;
mod alert_rows;
mod approval_rows;
mod decision_rows;
mod decision_values;
mod delivery_rows;
pub(crate) mod evidence_rows;
mod export_rows;
mod machine_rows;
mod migrate;
mod operator_rows;
mod overview_rows;
mod policy_rows;
mod pool;
mod revocation_rows;
mod rollout_history;
mod sign_in_rows;
mod token_rows;

use std::time::{Duration, SystemTime};

use serde::Serializer;

pub use alert_rows::AlertRow;
pub(crate) use alert_rows::{raise as raise_alert, storable};
pub use approval_rows::ApprovalRow;
pub use decision_rows::{DecisionFilter, FleetDecision, HourlyRow};
pub(crate) use delivery_rows::DeliveryKind;
pub(crate) use evidence_rows::{self as evidence, EvidenceWrites};
pub(crate) use export_rows::ExportPage;
pub use machine_rows::MachineRow;
pub(crate) use machine_rows::NewMachine;
pub use migrate::SCHEMA_VERSION;
pub(crate) use operator_rows::operator_id;
pub use operator_rows::{OperatorRole, OperatorRow};
pub use policy_rows::{BundleRow, CandidateTotals, PolicyRoots, RingVersions, RolloutRow};
pub use pool::{DEFAULT_DATABASE_CONNECTIONS, PostgresOptions, Store};
pub(crate) use sign_in_rows::SessionOperator;
pub use token_rows::{NewToken, TokenRow};

/// Returns the current time in Unix seconds.
pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}

/// Writes a time as RFC 3339.
pub(crate) fn serialize_time<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    let time = jiff::Timestamp::try_from(*time).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    serializer.collect_str(&format_args!("{time:.3}"))
}

/// Writes an optional time as RFC 3339.
#[expect(clippy::ref_option, reason = "serde passes a reference")]
pub(crate) fn serialize_optional_time<S: Serializer>(
    time: &Option<SystemTime>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serialize_time(time, serializer),
        None => serializer.serialize_none(),
    }
}

/// Converts a number of the database, which has no unsigned numbers.
pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Converts a number for the database.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
