// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rule packs and hook packages of others, read from a directory or fetched from a git repository.
//!
//! [`hook_packages`] opens a source and lists the packages it offers; [`rule_packs`] reads the rule files of a pack, pins
//! them by hash and writes them into a state directory. [`git`] fetches into a directory that is deleted afterwards. Nothing that
//! was fetched is run.

pub mod git;
pub mod hook_packages;
pub mod rule_packs;
