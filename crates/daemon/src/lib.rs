// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The daemon: one process that answers every agent on this machine.
//!
//! [`serve`] opens the ledger, reads the rules and listens. A call comes in through [`listen`] (the
//! hook protocol or HTTP), is evaluated in [`hook`], under the generation that [`generations`]
//! holds for the directory the agent works in, and its record is durable before the reply is sent. Hooks of other
//! programs are registered through [`grpc`] and kept in [`sdk`]; [`agent`] runs sessions for such programs. Observers
//! (counters, [`tenterhook_sessions`], live streams, [`tenterhook_telemetry`]) are notified through [`observe`].

mod account_projects;
mod agent;
mod api;
mod approvals;
mod authority;
mod callbacks;
mod catch_up;
mod checkpoint_sinks;
mod daemon;
mod ending;
mod file_watch;
mod generations;
mod grpc;
mod hook;
mod hook_versions;
mod listen;
mod live;
mod memory;
mod mode;
mod observe;
mod places;
mod quotas;
mod record;
mod retention;
mod run;
mod sdk;
mod session_owner;
mod session_usage;
mod shares;
mod stamp;
mod undelivered;
mod wiring;

#[cfg(feature = "schema")]
pub use api::openapi;
pub use daemon::Daemon;
pub use generations::{Generations, InForce};
pub use memory::MemoryRelease;
pub use run::{Options, Running, serve};
pub use tenterhook_telemetry::exporter::OtlpCollector;
