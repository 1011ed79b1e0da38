// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The small programs that harnesses start, often twice for every tool call.
//!
//! `tenterhook-hook` reads the payload, sends it to the daemon over a Unix socket and prints the harness's native
//! reply. On any failure it replaces itself by the full program, which evaluates the rules in-process.
//! `tenterhook-status` prints the status line. This crate depends only on the standard library, so that the programs
//! are small, static and quick to start.
//!
//! Stages of a call: [`mod@start`] is the program entry, [`call`] parses the command line, [`input`] reads the
//! payload, [`layout`] locates the daemon's socket, and [`ask`] sends the call in the protocol of [`wire`]. If the
//! daemon does not answer, [`fallback_exec`] starts the full program.

pub mod ask;
pub mod call;
pub mod fallback_exec;
mod harness_rows;
pub mod id;
pub mod input;
pub mod layout;
pub mod start;
pub mod status;
pub mod wire;

/// Version of the programs.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
