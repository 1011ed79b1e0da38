// SPDX-License-Identifier: Apache-2.0 OR MIT

//! As many batches as the message bus stores, with a fixed number in flight, and how fast the server stores them.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::error::BenchError;
use crate::simulated_machine::{ReadyBatch, SimulatedLedger, SimulatedMachine, Uplink};

/// Records of each batch, and bytes of each record that do not compress: together about 16 KiB.
pub(crate) const IN_FLIGHT_RECORDS: u64 = 40;
pub(crate) const IN_FLIGHT_NOISE: usize = 510;

/// What the message bus stored.
pub(crate) struct InFlightResult {
    pub(crate) batches: u64,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    pub(crate) took: Duration,
}

/// A connected machine with its ledger.
pub(crate) type ConnectedMachine = (Uplink, SimulatedLedger);

/// Connects all machines to the message bus.
pub(crate) async fn connect_machines(
    machines: Vec<SimulatedMachine>,
) -> Result<Vec<ConnectedMachine>, BenchError> {
    let mut connected = Vec::new();
    for machine in machines {
        connected.push(machine.connect().await?);
    }
    Ok(connected)
}

/// Publishes prepared batches, one in flight for each machine. All batches are encoded before the clock starts, so that
/// the time is that of the servers.
pub(crate) async fn run_in_flight(
    machines: &mut Vec<ConnectedMachine>,
    batches: usize,
) -> Result<InFlightResult, BenchError> {
    let mut ready: Vec<(ConnectedMachine, Vec<ReadyBatch>)> = Vec::new();
    for (uplink, mut ledger) in machines.drain(..) {
        let prepared = (0..batches).map(|_| ledger.next_batch(IN_FLIGHT_RECORDS, IN_FLIGHT_NOISE));
        let prepared = prepared.collect::<Result<_, _>>()?;
        ready.push(((uplink, ledger), prepared));
    }
    let bytes: usize = ready.iter().flat_map(|(_, batches)| batches).map(|batch| batch.bytes.len()).sum();
    let bytes = u64::try_from(bytes).unwrap_or_default();
    let count = ready.iter().map(|(_, batches)| batches.len()).sum::<usize>();
    let count = u64::try_from(count).unwrap_or_default();
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for ((mut uplink, ledger), batches) in ready {
        tasks.spawn(async move {
            for batch in &batches {
                uplink.publish(batch).await?;
            }
            Ok::<_, BenchError>((uplink, ledger))
        });
    }
    while let Some(ended) = tasks.join_next().await {
        machines.push(ended.map_err(BenchError::new)??);
    }
    Ok(InFlightResult { batches: count, records: count * IN_FLIGHT_RECORDS, bytes, took: began.elapsed() })
}
