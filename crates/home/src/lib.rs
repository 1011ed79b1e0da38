// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The state and configuration directories of Tenterhook: where files are, which rules and hook packages are in force,
//! and which project files are trusted.
//!
//! [`Home`] defines the paths, [`Sources`] collects all rule files, and [`hook_packages`] loads the hook packages.
//! This crate does not evaluate calls: `tenterhook-guard` builds the pipeline from these files.

mod append_rule;
pub mod call_meta;
pub mod caller_rights;
pub mod daemon_port;
pub mod env;
mod fleet_policy;
mod home;
pub mod hook_files;
pub mod hook_packages;
mod levels;
mod mode;
mod ownership_check;
pub mod packs;
pub mod program_files;
pub mod read_file;
mod rule_overview;
mod seal;
pub mod socket;
mod sources;
mod switches;
pub mod templates;
pub mod trust;

pub use append_rule::append_rule;
pub use env::Env;
pub use fleet_policy::{BundleRefusal, CheckedBundle, FleetPolicy};
pub use home::{Home, make_private_dir, make_public_dir, write_atomic, write_atomic_until_reboot};
pub use levels::{LevelRules, ProtectionLevel, UnknownLevelError};
pub use mode::{Mode, ModeSetting};
pub use read_file::{regular_bytes, regular_file, state_file};
pub use rule_overview::RuleOverview;
pub use seal::{SealKey, SealPurpose};
pub use sources::{SourceFile, Sources, WorkDirs};
pub use switches::Switches;
