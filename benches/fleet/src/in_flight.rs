// SPDX-License-Identifier: Apache-2.0 OR MIT

//! As many batches as the message bus stores, with a fixed number in flight, and how fast the server stores them.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::error::BenchError;
use crate::simulated_machine::{ReadyBatch, SimulatedMachine, Uplink};

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

/// Publishes prepared batches, one in flight for each machine. All batches are encoded before the clock starts, so that
/// the time is that of the servers.
pub(crate) async fn run_in_flight(
    machines: Vec<SimulatedMachine>,
    batches: usize,
) -> Result<InFlightResult, BenchError> {
    let mut ready: Vec<(Uplink, Vec<ReadyBatch>)> = Vec::new();
    for machine in machines {
        let (uplink, mut ledger) = machine.connect().await?;
        let prepared = (0..batches).map(|_| ledger.next_batch(IN_FLIGHT_RECORDS, IN_FLIGHT_NOISE));
        ready.push((uplink, prepared.collect::<Result<_, _>>()?));
    }
    let bytes: usize = ready.iter().flat_map(|(_, batches)| batches).map(|batch| batch.bytes.len()).sum();
    let count =
        u64::try_from(ready.iter().map(|(_, batches)| batches.len()).sum::<usize>()).unwrap_or_default();
    eprintln!(
        "{count} batches of {} bytes are ready",
        u64::try_from(bytes).unwrap_or_default() / count.max(1)
    );
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for (mut uplink, batches) in ready {
        tasks.spawn(async move {
            for batch in &batches {
                uplink.publish(batch).await?;
            }
            Ok::<_, BenchError>(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(BenchError::new)??;
    }
    let took = began.elapsed();
    Ok(InFlightResult {
        batches: count,
        records: count * IN_FLIGHT_RECORDS,
        bytes: u64::try_from(bytes).unwrap_or_default(),
        took,
    })
}
