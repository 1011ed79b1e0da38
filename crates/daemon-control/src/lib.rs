// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sends requests to the daemon of a state directory, starts it and stops it.
//!
//! - [`ask`]: requests to the daemon's HTTP API over its Unix socket, for programs of the same account.
//! - [`gate`]: the proof that this process needs for privileged actions.
//! - [`launch`]: starts a daemon in the background and stops one in order.
//! - [`service`]: the daemon as a service of systemd or launchd.
//! - [`port_holder`]: the process that listens on a TCP port.
//!
//! The daemon itself is not linked in.

pub mod ask;
pub mod gate;
pub mod launch;
pub mod port_holder;
pub mod service;
