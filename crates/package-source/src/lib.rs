// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Third-party rule packs and hook packages, read from a directory or fetched from a git repository.
//!
//! [`hook_packages`] opens a source and lists its packages. [`rule_packs`] reads the rule files of a pack, pins them
//! by hash and writes them into the configuration directory. [`git`] fetches into a directory that is deleted
//! afterwards. No fetched code is run.

pub mod git;
pub mod hook_packages;
pub mod rule_packs;
