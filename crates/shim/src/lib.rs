// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What harnesses spawn, often twice for every tool call: as little as can be.
//!
//! `tenterhook-hook` reads the payload, asks the daemon over its Unix socket and prints the harness's
//! own reply. On any trouble it becomes the full program, which judges by itself. `tenterhook-status`
//! prints one line for a person. Nothing here depends on anything but the standard library, so that the
//! programs are small, static and quick to start.
//!
//! The road of a call: [`call`] reads the command line, [`input`] the payload, [`place`] says where the
//! daemon is, [`ask`] asks it in the words of [`wire`], and [`handover`] is for when that fails. It begins
//! in [`mod@start`].

pub mod ask;
pub mod call;
pub mod handover;
mod harness_rows;
pub mod id;
pub mod input;
pub mod place;
pub mod start;
pub mod status;
pub mod wire;

/// The version the programs say they are.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
