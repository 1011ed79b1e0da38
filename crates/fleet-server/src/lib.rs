// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The fleet server on NATS JetStream and PostgreSQL: ingest, witness, alerts and the HTTP API.
//!
//! NATS stores evidence in flight, PostgreSQL is a read model. The server keeps nothing else, so any number of copies
//! can run: each partition of the evidence is consumed by the copy that holds its lock in PostgreSQL, and every other
//! guarantee is a row lock in the transaction of a batch.

mod action_log;
mod alert_watch;
mod api;
mod bus;
mod error;
mod files;
mod http_server;
mod ingest;
mod keys;
mod otlp_export;
mod policy_rollout;
mod revocation;
mod service;
mod store;
mod trial;
mod webhook_delivery;

pub use api::{OperatorKey, ProxyIdentity, SIGNATURE_HEADER};
pub use bus::{BusOptions, StreamLimits};
pub use error::{FleetError, FleetErrorKind};
pub use files::{read_private, read_secret, write_private};
pub use keys::{FleetKeys, TenantAccounts};
pub use otlp_export::otlp_logs;
pub use service::{FleetService, ServiceOptions};
pub use store::{
    AlertRow, ApprovalRow, BundleRow, CandidateTotals, DEFAULT_DATABASE_CONNECTIONS, DecisionFilter,
    FleetDecision, HourlyRow, MachineRow, NewToken, OperatorRole, OperatorRow, PolicyRoots, PostgresOptions,
    RingVersions, RolloutRow, SCHEMA_VERSION, Store, TokenRow,
};
pub use trial::{
    EngineSearch, KeeperOptions, MIN_NATS_VERSION, MIN_POSTGRES_VERSION, StopSignal, TrialEngines,
    TrialOptions, TrialSettings, check_nats_version, keep_child, trial_database,
};
pub use webhook_delivery::{WebhookFormat, WebhookTarget};
