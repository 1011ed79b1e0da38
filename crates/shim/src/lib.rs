// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The small programs that harnesses start, often twice for every tool call.
//!
//! `tenterhook-hook` reads the payload, sends it to the daemon over its Unix socket and prints the harness's native reply. On any
//! failure it is replaced by the full program, which evaluates the rules in-process. `tenterhook-status` prints the status
//! line. This crate depends only on the standard library, so that the programs are small, static and quick to start.
//!
//! The pipeline of a call: [`call`] parses the command line, [`input`] reads the payload, [`layout`] locates the daemon's
//! socket, [`ask`] sends the call in the protocol of [`wire`], and [`fallback_exec`] is the fallback. It begins in [`mod@start`].

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
