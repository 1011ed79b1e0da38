// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs real agents, unchanged and headless, under a real installation of Tenterhook.
//!
//! A [`World`] is a throw-away home with a project in it; [`World::tenterhook`] runs our binary there;
//! a [`Client`] of [`clients`] runs the agent there against a scripted model. [`scenarios`] is what every
//! client is put through, and `matrix.txt` what each has to do. Tests judge by what is on disk afterwards and
//! by what the model was sent next, never by our own output alone. `make e2e` provides the programs.

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
