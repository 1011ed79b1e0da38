// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Request and response types of the daemon's HTTP API.
//!
//! Each type is defined once, in this crate. The daemon serves these types and clients read them. The OpenAPI
//! document, the dashboard's types and the reference are generated from them (feature `schema`).
//!
//! A response always contains `Option` fields, with the value `null` if they are empty. Fields marked with
//! `skip_serializing_if` are left out instead.

mod activity;
mod approvals;
mod authority;
mod calls;
mod dashboard;
mod error;
mod events;
mod fleet_policy;
mod harnesses;
mod health;
mod hook_packages;
mod hooks;
mod ledger;
mod ledger_changes;
mod ledger_queries;
mod live;
mod policy;
mod programs;
mod rules;
mod runs;
mod session_counts;
mod session_events;
mod session_files;
mod sessions;
mod snapshots;
mod timeline;

pub use activity::*;
pub use approvals::*;
pub use authority::*;
pub use calls::*;
pub use dashboard::*;
pub use error::*;
pub use events::*;
pub use fleet_policy::*;
pub use harnesses::*;
pub use health::*;
pub use hook_packages::*;
pub use hooks::*;
pub use ledger::*;
pub use ledger_changes::*;
pub use ledger_queries::*;
pub use live::*;
pub use policy::*;
pub use programs::*;
pub use rules::*;
pub use runs::*;
pub use session_counts::*;
pub use session_events::*;
pub use session_files::*;
pub use sessions::*;
pub use snapshots::*;
pub use timeline::*;
