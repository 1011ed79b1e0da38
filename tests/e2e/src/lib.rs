// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs real agents, unchanged and headless, with a real installation of Tenterhook.
//!
//! A [`World`] is a temporary home directory with a project; [`World::tenterhook`] runs the binary in it; a
//! [`Client`] of [`clients`] runs the agent there against a scripted model. [`scenarios`] are run with every client,
//! and `matrix.txt` has the expected results. Tests check the files on disk and the requests to the model, never only
//! Tenterhook's own output. `make e2e` provides the programs.

mod anthropic_api;
mod client;
pub mod clients;
mod daemon;
mod launched;
mod machine;
mod matrix;
mod process;
mod programs;
pub mod scenarios;
mod world;

pub use client::{Client, PatchTool, Session, Start};
pub use daemon::Daemon;
pub use machine::Attempt;
pub use matrix::{Expected, expected, prove, rows};
pub use process::Finished;
pub use world::{Codes, Hook, World};
