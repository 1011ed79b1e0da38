// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `make bench-fleet`: measures a cluster of three NATS servers, PostgreSQL and two fleet servers with simulated
//! machines, and keeps the raw runs.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this program prints a report")]

mod error;
mod in_flight;
mod open_loop;
mod run_file;
mod simulated_machine;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Parser as _;
use rustix::process::Signal;
use serde_json::{Value, json};
use tenterhook_fleet_cluster::{Cluster, ClusterOptions, ClusterPrograms, memory_of_process};
use tenterhook_fleet_machine::ServerClient;
use tenterhook_fleet_server::EngineSearch;

use crate::error::BenchError;
use crate::run_file::{describe_computer, slope_per_minute, summarize_samples, write_run};
use crate::simulated_machine::SimulatedMachine;

/// Machines that enrol at the same time.
const PARALLEL_ENROLMENTS: usize = 8;
/// Interval at which memory is read.
const MEMORY_INTERVAL: Duration = Duration::from_secs(5);
/// Interval at which the database is asked while it catches up.
const CATCH_UP_INTERVAL: Duration = Duration::from_millis(250);
/// How long the database has to catch up.
const CATCH_UP_LIMIT: Duration = Duration::from_mins(4);
/// How long the servers need to distribute the partitions.
const LEASE_TIME: Duration = Duration::from_secs(15);
/// Limits that DESIGN.md §8 sets.
const MAX_P99_MS: f64 = 1000.0;
const MIN_BATCHES_PER_SECOND: f64 = 1500.0;
const MAX_SLOPE_MIB: f64 = 1.0;

/// Measure a fleet on a cluster on this computer
#[derive(Debug, clap::Parser)]
struct FleetBenchArgs {
    /// The program `nats-server`
    #[arg(long, value_name = "FILE")]
    nats_server: Option<PathBuf>,
    /// Directory with `tenterhook-fleet`
    #[arg(long, value_name = "DIR")]
    programs: PathBuf,
    #[command(subcommand)]
    measurement: Measurement,
}

#[derive(Debug, clap::Subcommand)]
enum Measurement {
    /// One batch per machine and interval, open loop: latency of acknowledgements, and memory of the servers
    OpenLoop {
        /// Number of machines
        #[arg(long, default_value_t = 5000)]
        machines: usize,
        /// Seconds between two batches of a machine
        #[arg(long, default_value_t = 10)]
        interval: u64,
        /// Seconds that are not counted
        #[arg(long, default_value_t = 20)]
        warm_up: u64,
        /// Seconds that are counted
        #[arg(long, default_value_t = 120)]
        seconds: u64,
        /// Kind in the name of the raw run
        #[arg(long, default_value = "fleet-open-loop")]
        kind: String,
    },
    /// Batches per second with one in flight for each machine
    InFlight {
        /// Number of machines
        #[arg(long, default_value_t = 64)]
        machines: usize,
        /// Batches of each machine
        #[arg(long, default_value_t = 500)]
        batches: usize,
    },
}

fn main() -> ExitCode {
    match run(&FleetBenchArgs::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            println!("a limit is exceeded");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this program reads the environment once")]
fn run(args: &FleetBenchArgs) -> Result<bool, BenchError> {
    let search = EngineSearch {
        nats_server: args.nats_server.clone(),
        postgres_bin: None,
        path: std::env::var_os("PATH"),
    };
    let programs = ClusterPrograms::find(&args.programs, &search).map_err(BenchError::new)?;
    let options = ClusterOptions { stream_bytes: 2 << 30, ..ClusterOptions::new(programs, 0) };
    let mut cluster = Cluster::start(options, &mut |text| eprintln!("{text}")).map_err(BenchError::new)?;
    // The cluster's processes belong to this thread, so it also waits for the measurement.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(BenchError::new)?;
    let measured = match &args.measurement {
        Measurement::OpenLoop { machines, interval, warm_up, seconds, kind } => {
            let times = [*interval, *warm_up, *seconds].map(Duration::from_secs);
            measure_open_loop(&mut cluster, &runtime, *machines, times, kind)
        }
        Measurement::InFlight { machines, batches } => {
            measure_in_flight(&mut cluster, &runtime, *machines, *batches)
        }
    };
    if measured.is_err() {
        eprintln!("{}", cluster.logs());
    }
    cluster.stop();
    measured
}

/// Enrols machines over the API of the servers in turn.
fn enrol_machines(cluster: &Cluster, count: usize) -> Result<Vec<SimulatedMachine>, BenchError> {
    let token =
        cluster.operator(&["token", "create", "--uses", &count.to_string()]).map_err(BenchError::new)?;
    let token = token.get("token").and_then(Value::as_str).unwrap_or_default();
    let (_, servers) = cluster.counts();
    let clients: Vec<ServerClient> = (0..servers)
        .map(|server| ServerClient::new(&cluster.url(server), None))
        .collect::<Result<_, _>>()
        .map_err(BenchError::new)?;
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<SimulatedMachine>, BenchError> {
        let mut enrolled = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(client) = clients.get(number % clients.len().max(1)).filter(|_| number < count) else {
                return Ok(enrolled);
            };
            enrolled.push(SimulatedMachine::enrol(client, token, number)?);
        }
    };
    let began = Instant::now();
    let machines = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..PARALLEL_ENROLMENTS).map(|_| scope.spawn(work)).collect();
        let joined = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| Err(BenchError("a worker panicked".to_owned()))));
        joined.collect::<Result<Vec<_>, _>>()
    })?;
    let machines: Vec<SimulatedMachine> = machines.into_iter().flatten().collect();
    eprintln!("{} machines enrolled in {:.1} s", machines.len(), began.elapsed().as_secs_f64());
    Ok(machines)
}

/// Processes whose memory is read: name and process id.
fn watched_processes(cluster: &mut Cluster) -> Vec<(String, u32)> {
    let (nats, servers) = cluster.counts();
    let mut found = Vec::new();
    for number in 0..servers {
        found.extend(
            cluster
                .server_process(number)
                .and_then(|process| Some((process.name().to_owned(), process.pid()?))),
        );
    }
    for number in 0..nats {
        found.extend(
            cluster
                .nats_process(number)
                .and_then(|process| Some((process.name().to_owned(), process.pid()?))),
        );
    }
    found
}

/// Reads memory until told to stop. Returns seconds and MiB for each process.
fn sample_memory(processes: &[(String, u32)], stop: &AtomicBool) -> Vec<Vec<(f64, f64)>> {
    let began = Instant::now();
    let mut samples = vec![Vec::new(); processes.len()];
    while !stop.load(Ordering::Relaxed) {
        for (samples, (_, pid)) in samples.iter_mut().zip(processes) {
            samples.push((began.elapsed().as_secs_f64(), memory_of_process(*pid).resident_mib()));
        }
        std::thread::sleep(MEMORY_INTERVAL);
    }
    samples
}

fn measure_open_loop(
    cluster: &mut Cluster,
    runtime: &tokio::runtime::Runtime,
    machines: usize,
    [interval, warm_up, duration]: [Duration; 3],
    kind: &str,
) -> Result<bool, BenchError> {
    let simulated = enrol_machines(cluster, machines)?;
    let processes = watched_processes(cluster);
    let stop = Arc::new(AtomicBool::new(false));
    let sampler = std::thread::spawn({
        let (stop, processes) = (Arc::clone(&stop), processes.clone());
        move || sample_memory(&processes, &stop)
    });
    let latencies = runtime.block_on(open_loop::run_open_loop(simulated, interval, warm_up, duration));
    stop.store(true, Ordering::Relaxed);
    let memory = sampler.join().map_err(|_| BenchError("the sampler panicked".to_owned()))?;
    let latencies = latencies?;
    let per_second =
        f64::from(u32::try_from(latencies.stored.len()).unwrap_or_default()) / duration.as_secs_f64();
    let from = warm_up.as_secs_f64();
    let memory: Vec<(String, f64, Vec<f64>)> = processes
        .into_iter()
        .zip(memory)
        .map(|((name, _), points)| {
            let counted: Vec<(f64, f64)> = points.iter().copied().filter(|(at, _)| *at >= from).collect();
            let mib = points.iter().map(|(_, mib)| (mib * 10.0).round() / 10.0).collect();
            (name, slope_per_minute(&counted), mib)
        })
        .collect();
    let (stored, acknowledged) =
        (summarize_samples(&latencies.stored), summarize_samples(&latencies.acknowledged));
    for (name, summary) in [("stored by NATS", &stored), ("acknowledged by the server", &acknowledged)] {
        let of = |percentile: &str| summary.get(percentile).and_then(Value::as_f64).unwrap_or(f64::NAN);
        println!("{name:<28} p50 {} ms, p95 {}, p99 {}, max {}", of("p50"), of("p95"), of("p99"), of("max"));
    }
    for (name, slope, _) in &memory {
        println!("{name:<28} {slope:.2} MiB/min");
    }
    println!("{per_second:.0} batches/s, {} without an acknowledgement", latencies.lost);
    let servers = memory.iter().filter(|(name, _, _)| name.starts_with("server"));
    let slope = servers.map(|(_, slope, _)| *slope).fold(f64::MIN, f64::max);
    let p99 = acknowledged.get("p99").and_then(Value::as_f64);
    let is_within = p99.is_some_and(|p99| p99 < MAX_P99_MS) && latencies.lost == 0;
    let batches = u64::try_from(latencies.stored.len().max(1)).unwrap_or(1);
    let memory: Vec<Value> = memory
        .into_iter()
        .map(|(name, slope, mib)| json!({ "process": name, "slope_mib_per_minute": slope, "resident_mib": mib }))
        .collect();
    let run = json!({
        "at": jiff::Timestamp::now().to_string(), "what": "machines with one batch per interval, open loop",
        "ran_on": describe_computer(), "cluster": describe_cluster(),
        "machines": machines, "interval_seconds": interval.as_secs(), "warm_up_seconds": warm_up.as_secs(),
        "counted_seconds": duration.as_secs(), "records_per_batch": open_loop::OPEN_LOOP_RECORDS,
        "bytes_per_batch": latencies.bytes / batches, "batches_per_second": per_second.round(),
        "stored_by_nats_ms": stored, "acknowledged_by_server_ms": acknowledged,
        "without_acknowledgement": latencies.lost, "memory": memory,
        "limits": { "p99_ms": MAX_P99_MS, "server_slope_mib_per_minute": MAX_SLOPE_MIB },
    });
    println!("raw run: {}", write_run(kind, &run)?.display());
    // A slope over a short run is the start of the caches, not a leak.
    Ok(is_within && (duration < Duration::from_mins(10) || slope < MAX_SLOPE_MIB))
}

/// One phase of the measurement with batches in flight.
struct InFlightPhase {
    /// Batches per second that NATS stored.
    nats_rate: f64,
    /// Batches per second from the first publication until all rows were in the database.
    total_rate: f64,
    /// Batches per second that the servers stored after the last publication.
    ingest_rate: f64,
    report: Value,
}

fn measure_in_flight(
    cluster: &mut Cluster,
    runtime: &tokio::runtime::Runtime,
    machines: usize,
    batches: usize,
) -> Result<bool, BenchError> {
    let simulated = enrol_machines(cluster, machines)?;
    let mut connected = runtime.block_on(in_flight::connect_machines(simulated))?;
    // The servers distribute the partitions in the first seconds.
    std::thread::sleep(LEASE_TIME);
    let together = run_phase(cluster, runtime, (&mut connected, batches), false)?;
    let separate = run_phase(cluster, runtime, (&mut connected, batches), true)?;
    println!("stored by NATS while the servers store rows   {:.0} batches/s", together.nats_rate);
    println!("stored by NATS, servers paused                {:.0} batches/s", separate.nats_rate);
    println!("stored as rows, from first batch to last row  {:.0} batches/s", together.total_rate);
    println!("stored as rows, nothing is published          {:.0} batches/s", separate.ingest_rate);
    let run = json!({
        "at": jiff::Timestamp::now().to_string(), "what": "batches with one in flight for each machine",
        "ran_on": describe_computer(), "cluster": describe_cluster(), "in_flight": machines,
        "records_per_batch": in_flight::IN_FLIGHT_RECORDS,
        "servers_running": together.report, "servers_paused_while_publishing": separate.report,
        "limits": { "nats_batches_per_second": MIN_BATCHES_PER_SECOND },
    });
    println!("raw run: {}", write_run("fleet-in-flight", &run)?.display());
    Ok(separate.nats_rate >= MIN_BATCHES_PER_SECOND)
}

/// Publishes batches and waits until all of them are rows. If the servers are paused, they begin after the last
/// publication, so that both rates are measured separately.
fn run_phase(
    cluster: &mut Cluster,
    runtime: &tokio::runtime::Runtime,
    (machines, batches): (&mut Vec<in_flight::ConnectedMachine>, usize),
    pause: bool,
) -> Result<InFlightPhase, BenchError> {
    let before = stored_records(cluster)?;
    if pause {
        signal_servers(cluster, Signal::STOP);
    }
    let result = runtime.block_on(in_flight::run_in_flight(machines, batches));
    if pause {
        signal_servers(cluster, Signal::CONT);
    }
    let result = result?;
    let catching_up = Instant::now();
    let stored_then = stored_records(cluster)?;
    let mut last = stored_then;
    while last < before + result.records {
        if catching_up.elapsed() > CATCH_UP_LIMIT {
            return Err(BenchError(format!("only {last} of {} records arrived", before + result.records)));
        }
        std::thread::sleep(CATCH_UP_INTERVAL);
        last = stored_records(cluster)?;
    }
    let count = |number: u64| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    let (took, after) = (result.took.as_secs_f64(), catching_up.elapsed().as_secs_f64());
    let nats_rate = count(result.batches) / took;
    let total_rate = count(result.batches) / (took + after);
    let ingest_rate = count(last - stored_then) / count(in_flight::IN_FLIGHT_RECORDS) / after;
    let report = json!({
        "batches": result.batches, "bytes_per_batch": result.bytes / result.batches.max(1),
        "publishing_seconds": took, "catching_up_seconds": after, "records_in_sql_when_published": stored_then - before,
        "nats_batches_per_second": nats_rate.round(), "total_batches_per_second": total_rate.round(),
        "ingest_batches_per_second_after_publishing": ingest_rate.round(),
    });
    Ok(InFlightPhase { nats_rate, total_rate, ingest_rate, report })
}

fn signal_servers(cluster: &mut Cluster, signal: Signal) {
    let (_, servers) = cluster.counts();
    for number in 0..servers {
        if let Some(process) = cluster.server_process(number) {
            process.signal(signal);
        }
    }
}

fn stored_records(cluster: &Cluster) -> Result<u64, BenchError> {
    let rows = cluster.query("select coalesce(sum(cursor), 0) from machines").map_err(BenchError::new)?;
    let text = rows.first().and_then(|row| row.first().cloned()).flatten();
    Ok(text.and_then(|text| text.parse().ok()).unwrap_or_default())
}

fn describe_cluster() -> Value {
    json!({ "nats_servers": 3, "replicas": 3, "nats_sync": "always", "fleet_servers": 2, "postgres": 1 })
}
