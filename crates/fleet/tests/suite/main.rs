// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests of the program `tenterhook-fleet` with real engines: nats-server and PostgreSQL.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test fails with a panic and prints the logs of its servers"
)]

mod access;
mod ci_runner;
mod cluster_faults;
mod connector;
mod crashes;
mod daemon;
mod database;
mod deliveries;
mod deploy;
mod evidence;
mod guarded_machine;
mod http_collector;
mod limits;
mod machine;
mod offline;
mod operators;
mod partitions;
mod policy;
mod recovery;
mod sign_in;
mod trial;
mod versions;
