// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The daemon: one process that answers every agent on this machine.
//!
//! [`serve`] opens the ledger, reads the rules and listens. A call arrives through [`listen`] (the hook protocol or
//! HTTP). [`hook`] evaluates it with the generation (the rules and hooks in force) that [`generations`] has for the
//! agent's directory. The decision's record is durable before the reply is sent. Programs register hooks through
//! [`grpc`]; [`sdk`] keeps them, and [`agent`] runs sessions for programs. Counters, [`tenterhook_sessions`], live
//! streams and [`tenterhook_telemetry`] are notified through [`observers`].

mod account_projects;
mod agent;
mod api;
mod approvals;
mod backfill;
mod callbacks;
mod checkpoint_sinks;
mod daemon;
mod fleet_connector;
mod fleet_watch;
mod gate;
mod generations;
mod grpc;
mod hook;
mod hook_versions;
mod hook_watch;
mod ledger_recorder;
mod listen;
mod live;
mod memory;
mod mode_change;
mod notifications;
mod observers;
mod quotas;
mod retention_task;
mod run;
mod runs;
mod runtime_dir;
mod sdk;
mod session_owner;
mod session_usage;
mod shares;
mod signals;
mod undelivered;

#[cfg(feature = "schema")]
pub use api::openapi;
pub use daemon::Daemon;
pub use generations::{ActiveConfig, Generations};
pub use memory::MemoryRelease;
pub use run::{DaemonOptions, StartedDaemon, serve};
pub use tenterhook_telemetry::exporter::OtlpCollector;
