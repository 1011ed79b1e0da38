// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds, asks, starts and stops the daemon of a state directory.
//!
//! - [`ask`]: the daemon's HTTP API over its Unix socket, for programs of the same account.
//! - [`gate`]: what the gate for privileged actions asks of this process.
//! - [`launch`]: starts a daemon in the background and ends one in order.
//! - [`service`]: the daemon as a service of systemd or launchd.
//! - [`port_holder`]: which process listens on a TCP port.
//!
//! The daemon itself is not linked in.

pub mod ask;
pub mod gate;
pub mod launch;
pub mod port_holder;
pub mod service;
