// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sends requests to the daemon of a state directory, starts it and stops it.
//!
//! - [`ask`]: sends requests to the daemon's HTTP API over its Unix socket, for programs of the same account.
//! - [`gate`]: determines the proof that this process needs for privileged actions.
//! - [`launch`]: starts a daemon in the background, and stops one gracefully.
//! - [`service`]: defines the daemon as a systemd or launchd service.
//! - [`port_holder`]: finds the process that listens on a TCP port.
//!
//! This crate does not depend on the crate `daemon`, so a program that uses it does not contain the daemon.

pub mod ask;
pub mod gate;
pub mod launch;
pub mod port_holder;
pub mod service;
