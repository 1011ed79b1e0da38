// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs real agents, unchanged and headless, under a real installation of Tenterhook.
//!
//! A [`World`] is a throw-away home with a project in it; [`World::tenterhook`] runs our binary
//! there; a harness module such as [`claude_code`] runs the agent there against a scripted model.
//! Tests judge by what is on disk afterwards and by what the model was sent next, never by our own
//! output alone. `make e2e` provides the programs.

pub mod claude_code;
mod process;
mod programs;
mod world;

pub use process::Finished;
pub use programs::Program;
pub use world::{Hook, World};
