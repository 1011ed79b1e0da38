// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Many machines, each with one batch per interval, whether or not the last one was acknowledged in time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::error::BenchError;
use crate::simulated_machine::{SimulatedMachine, acknowledged};

/// Records of each batch, and bytes of each record that do not compress.
pub(crate) const OPEN_LOOP_RECORDS: u64 = 6;
pub(crate) const OPEN_LOOP_NOISE: usize = 200;
/// How long an acknowledgement is waited for. A later one counts as this long.
const ACKNOWLEDGEMENT_LIMIT: Duration = Duration::from_mins(1);
/// Machines that connect at the same time.
const PARALLEL_CONNECTS: usize = 64;

/// Latencies in milliseconds, counted from the time at which a batch was due.
#[derive(Default)]
pub(crate) struct Latencies {
    /// Until the message bus stored the batch.
    pub(crate) stored: Vec<f64>,
    /// Until the machine had the server's cosigned acknowledgement, after its commit.
    pub(crate) acknowledged: Vec<f64>,
    /// Batches without an acknowledgement in time.
    pub(crate) lost: u64,
    pub(crate) bytes: u64,
}

/// Runs all machines for a while. The first batches, during the warm-up, are not counted.
pub(crate) async fn run_open_loop(
    machines: Vec<SimulatedMachine>,
    interval: Duration,
    warm_up: Duration,
    duration: Duration,
) -> Result<Latencies, BenchError> {
    let count = u32::try_from(machines.len().max(1)).unwrap_or(u32::MAX);
    let connections = futures_util::stream::iter(machines.into_iter().map(SimulatedMachine::connect))
        .buffer_unordered(PARALLEL_CONNECTS);
    let connected: Vec<_> = connections.collect().await;
    eprintln!("{} machines are connected", connected.len());
    let latencies = Arc::new(Mutex::new(Latencies::default()));
    let start = Instant::now() + Duration::from_secs(1);
    let (counted_from, end) = (start + warm_up, start + warm_up + duration);
    let mut tasks = JoinSet::new();
    for (number, machine) in connected.into_iter().enumerate() {
        let (mut uplink, mut ledger) = machine?;
        let latencies = Arc::clone(&latencies);
        let phase = interval * u32::try_from(number).unwrap_or_default() / count;
        tasks.spawn(async move {
            let mut cosigned =
                uplink.bus.subscribe(uplink.acknowledgements()).await.map_err(BenchError::new)?;
            let mut due = start + phase;
            while due < end {
                sleep_until(due).await;
                let batch = ledger.next_batch(OPEN_LOOP_RECORDS, OPEN_LOOP_NOISE)?;
                uplink.publish(&batch).await?;
                let stored = due.elapsed();
                let wait = async {
                    while let Some(message) = cosigned.next().await {
                        if acknowledged(&message.payload).is_some_and(|cursor| cursor >= batch.end) {
                            break;
                        }
                    }
                };
                let in_time = timeout(ACKNOWLEDGEMENT_LIMIT, wait).await.is_ok();
                if due >= counted_from {
                    let mut latencies = latencies.lock().unwrap_or_else(PoisonError::into_inner);
                    latencies.stored.push(stored.as_secs_f64() * 1e3);
                    latencies.acknowledged.push(due.elapsed().as_secs_f64() * 1e3);
                    latencies.lost += u64::from(!in_time);
                    latencies.bytes += u64::try_from(batch.bytes.len()).unwrap_or_default();
                }
                due += interval;
            }
            Ok::<_, BenchError>(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(BenchError::new)??;
    }
    let mut latencies = latencies.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut *latencies))
}
