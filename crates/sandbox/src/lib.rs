// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The sandbox of a run: the paths that rules protect, enforced by the kernel.
//!
//! [`PathSets::derive`] turns the rules of a policy and a [`SandboxProfile`] into sets of paths, without any IO. On
//! Linux, [`bubblewrap::arguments`] turns the sets into mounts of a private file system, and [`inside::enter`] adds
//! Landlock rules and a system call filter inside before it starts the command. [`probe::available_level`] says what a
//! machine supports.
//!
//! This crate prints nothing and reads no environment variables.

pub mod after_run;
pub mod bubblewrap;
pub mod call_observer;
mod capabilities;
mod file_tree;
mod git_settings;
pub mod inside;
mod landlock_rules;
pub mod listener;
mod mount_steps;
mod path_pattern;
mod path_sets;
pub mod placeholders;
pub mod prepared_mounts;
pub mod probe;
mod profile;
mod proposal;
mod refusals;
mod repositories;
mod repository_search;
mod seatbelt;
mod system_call_filter;
pub mod typed_signals;
pub mod unix_sockets;

pub use file_tree::{CachedTree, DiskTree, FileTree, TreeEntryKind};
pub use path_sets::{PathAccess, PathEntry, PathSets, SandboxRoots, UnexpressedRule};
pub use profile::{NetworkAccess, ProfileError, SandboxProfile, built_in_profiles};
pub use proposal::ProfileProposal;
pub use refusals::RefusedAccess;
pub use repositories::Repository;
pub use repository_search::{FoundRepositories, find_repositories};
pub use seatbelt::seatbelt_profile;
