// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A whole fleet on one computer: three NATS servers, PostgreSQL, fleet servers and machines with real daemons.
//!
//! `make fleet` shows it, the fault tests kill parts of it, and the benches measure it. All programs are the real
//! ones. Each process is killed by the kernel when this one ends, so that nothing stays behind after Ctrl-C, a panic
//! or a kill.

mod cluster;
mod cluster_machine;
mod cluster_process;
mod error;
mod evidence_check;
mod fault_run;
mod hook_calls;
mod loopback_ports;
mod nats_node;
mod network;
mod postgres_node;
mod process_memory;
mod programs;
mod server_node;

pub use cluster::{Cluster, ClusterOptions, for_each_machine};
pub use cluster_machine::ClusterMachine;
pub use cluster_process::{ClusterProcess, ProcessCommand};
pub use error::ClusterError;
pub use evidence_check::{MachineEvidence, check_evidence};
pub use fault_run::{FaultReport, FaultRunOptions, run_faults};
pub use hook_calls::{HookConnection, RECORDED_COMMANDS, recorded_commands};
pub use network::ClusterNetwork;
pub use process_memory::{MemoryUse, memory_of_process, memory_of_tree};
pub use programs::ClusterPrograms;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Whether the user asked this process to end. A process has at most one user.
static CANCELLED: AtomicBool = AtomicBool::new(false);

/// Ends all waiting in this process with [`ClusterError::Cancelled`].
pub fn cancel() {
    CANCELLED.store(true, Ordering::Relaxed);
}

/// Whether [`cancel`] was called.
pub fn is_cancelled() -> bool {
    CANCELLED.load(Ordering::Relaxed)
}

/// Waits until `find` returns something; an error after `limit`.
pub fn wait_for<T>(
    what: &str,
    limit: Duration,
    mut find: impl FnMut() -> Result<Option<T>, ClusterError>,
) -> Result<T, ClusterError> {
    let began = Instant::now();
    loop {
        if let Some(found) = find()? {
            return Ok(found);
        }
        if is_cancelled() {
            return Err(ClusterError::Cancelled);
        }
        if began.elapsed() > limit {
            return Err(ClusterError::Timeout { what: what.to_owned(), waited: limit });
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
