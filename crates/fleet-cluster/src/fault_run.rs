// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Machines record calls while every part of the cluster is killed in turn, and everything is compared at the end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::cluster::Cluster;
use crate::cluster_machine::ClusterMachine;
use crate::error::ClusterError;
use crate::evidence_check::{MachineEvidence, check_evidence};
use crate::hook_calls::recorded_commands;
use crate::is_cancelled;

/// Number of calls after which a writer looks at the size of the ledger.
const CALLS_PER_CHECK: u64 = 200;

/// Number of calls of a machine that is complete, and the pause before them, until the last kill.
const FURTHER_CALLS: u64 = 20;
const FURTHER_CALLS_PAUSE: Duration = Duration::from_millis(200);

/// Options of a run.
#[derive(Debug, Clone, Copy)]
pub struct FaultRunOptions {
    /// Minimum number of records of each machine at the end.
    pub records: u64,
    /// Number of machines that record calls at the same time.
    pub writers: usize,
    /// How long everything runs before the next kill.
    pub pause: Duration,
    /// How long a killed process stays away.
    pub outage: Duration,
    /// How long the database has to catch up at the end, for each machine.
    pub catch_up: Duration,
}

/// What a run found.
#[derive(Debug)]
pub struct FaultReport {
    /// The kills, in order, with the number of stored records at that time.
    pub kills: Vec<(String, u64)>,
    /// What the database has of each machine.
    pub machines: Vec<MachineEvidence>,
    /// How long all calls took.
    pub recording: Duration,
    /// How long it took from the last call until everything was compared.
    pub catching_up: Duration,
}

/// What is killed.
#[derive(Debug, Clone, Copy)]
enum Victim {
    Nats(usize),
    Server(usize),
    Postgres,
}

/// Runs until every part was killed once, every machine has its records, and the database equals all ledgers. If the
/// records are complete before the last kill, the machines go on recording.
pub fn run_faults(
    cluster: &mut Cluster,
    options: FaultRunOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<FaultReport, ClusterError> {
    let (nats, servers) = cluster.counts();
    let victims =
        (0..nats).map(Victim::Nats).chain((0..servers).map(Victim::Server)).chain([Victim::Postgres]);
    let began = Instant::now();
    let machines = std::mem::take(&mut cluster.machines);
    let (all_killed, next, failed) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicBool::new(false));
    let write = || -> Result<(), ClusterError> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let round_is_over = number >= machines.len();
            if is_cancelled()
                || failed.load(Ordering::Relaxed)
                || (round_is_over && all_killed.load(Ordering::Relaxed))
            {
                return Ok(());
            }
            let Some(machine) = machines.get(number % machines.len().max(1)) else { return Ok(()) };
            // After the first round, each machine records a little more until the last kill.
            let wanted = if round_is_over {
                sleep(FURTHER_CALLS_PAUSE);
                machine.ledger_size()? + FURTHER_CALLS
            } else {
                options.records
            };
            if let Err(error) = record_calls(machine, wanted) {
                failed.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
    };
    let mut kills = Vec::new();
    let written = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..options.writers.max(1)).map(|_| scope.spawn(write)).collect();
        let mut killed = Ok(());
        for victim in victims {
            sleep(options.pause);
            if is_cancelled() || failed.load(Ordering::Relaxed) {
                break;
            }
            let stored = stored_records(cluster);
            killed = kill(cluster, victim, options.outage, progress);
            kills.push((format!("{victim:?}"), stored));
            if killed.is_err() {
                failed.store(true, Ordering::Relaxed);
                break;
            }
        }
        all_killed.store(true, Ordering::Relaxed);
        let ended = writers.into_iter().map(|writer| {
            writer.join().unwrap_or_else(|_| Err(ClusterError::process("writer", "it panicked")))
        });
        ended.collect::<Vec<_>>().into_iter().chain([killed]).collect::<Result<(), _>>()
    });
    cluster.machines = machines;
    written?;
    if is_cancelled() {
        return Err(ClusterError::Cancelled);
    }
    let recording = began.elapsed();
    progress("all calls are recorded; comparing the database with the ledgers");
    let ended = Instant::now();
    let mut found = Vec::new();
    for machine in &cluster.machines {
        let evidence = check_evidence(cluster, machine, options.catch_up)?;
        if evidence.size < options.records {
            let why = format!("only {} records", evidence.size);
            return Err(ClusterError::Evidence { machine: evidence.machine, why });
        }
        found.push(evidence);
    }
    Ok(FaultReport { kills, machines: found, recording, catching_up: ended.elapsed() })
}

/// Sleeps, but not longer than until Ctrl-C.
fn sleep(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time && !is_cancelled() {
        std::thread::sleep(Duration::from_millis(50).min(time));
    }
}

/// Sends calls to a daemon until its ledger has this many records.
fn record_calls(machine: &ClusterMachine, records: u64) -> Result<(), ClusterError> {
    let commands = recorded_commands();
    let mut commands = commands.iter().cycle();
    let mut connection = machine.connect()?;
    loop {
        let missing = records.saturating_sub(machine.ledger_size()?);
        if missing == 0 || is_cancelled() {
            return Ok(());
        }
        for _ in 0..missing.min(CALLS_PER_CHECK) {
            let Some(command) = commands.next() else { return Ok(()) };
            connection.call(command)?;
        }
    }
}

/// Returns the number of records in the database; zero while it is down.
fn stored_records(cluster: &Cluster) -> u64 {
    let rows = cluster.query("select coalesce(sum(cursor), 0) from machines").unwrap_or_default();
    let text = rows.first().and_then(|row| row.first().cloned()).flatten();
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn kill(
    cluster: &mut Cluster,
    victim: Victim,
    outage: Duration,
    progress: &mut dyn FnMut(&str),
) -> Result<(), ClusterError> {
    let process = match victim {
        Victim::Nats(number) => cluster.nats_process(number),
        Victim::Server(number) => cluster.server_process(number),
        Victim::Postgres => Some(cluster.postgres_process()),
    };
    let Some(process) = process else { return Ok(()) };
    process.check_running()?;
    progress(&format!("kill -9 {} (process {})", process.name(), process.pid().unwrap_or_default()));
    process.kill();
    std::thread::sleep(outage);
    match victim {
        Victim::Server(number) => cluster.start_server(number),
        Victim::Nats(_) => {
            process.start()?;
            cluster.wait_for_nats()
        }
        Victim::Postgres => {
            process.start()?;
            cluster.wait_for_postgres()
        }
    }
}
