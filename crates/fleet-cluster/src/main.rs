// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `make fleet` and `make fleet-test`: a whole fleet on this computer.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this program prints what it does")]

mod demonstration;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser as _;
use tenterhook_fleet_cluster::{
    Cluster, ClusterError, ClusterOptions, ClusterPrograms, FaultRunOptions, cancel, memory_of_tree,
    run_faults,
};
use tenterhook_fleet_server::EngineSearch;
use tokio::signal::unix::{SignalKind, signal};

/// Run a whole fleet on this computer: three NATS servers, PostgreSQL, fleet servers and machines
#[derive(Debug, clap::Parser)]
#[command(name = "tenterhook-fleet-cluster")]
struct ClusterArgs {
    /// The program `nats-server`; otherwise TENTERHOOK_NATS_SERVER or PATH
    #[arg(long, global = true, value_name = "FILE")]
    nats_server: Option<PathBuf>,
    /// Number of machines with a daemon
    #[arg(long, global = true, value_name = "N", default_value_t = 50)]
    machines: usize,
    /// Number of fleet servers
    #[arg(long, global = true, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..))]
    servers: u8,
    #[command(subcommand)]
    command: ClusterVerb,
}

#[derive(Debug, clap::Subcommand)]
enum ClusterVerb {
    /// Show a fleet with recorded sessions until Ctrl-C
    Show,
    /// Record calls while each NATS server, each fleet server and PostgreSQL is killed, and compare everything
    Faults {
        /// Records of each machine
        #[arg(long, value_name = "N", default_value_t = 10_000)]
        records: u64,
        /// Seconds between two kills
        #[arg(long, value_name = "SECONDS", default_value_t = 20)]
        pause: u64,
        /// Number of machines that record calls at the same time
        #[arg(long, value_name = "N", default_value_t = 50)]
        writers: usize,
    },
}

/// Prints progress with the time since the start.
struct ProgressLines {
    began: Instant,
}

impl ProgressLines {
    fn print(&self, text: &str) {
        eprintln!("{:>6.1} s  {text}", self.began.elapsed().as_secs_f64());
    }
}

fn main() -> ExitCode {
    let args = ClusterArgs::parse();
    let progress = ProgressLines { began: Instant::now() };
    let result = watch_signals().and_then(|()| run(&args, &progress));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(ClusterError::Cancelled) => ExitCode::from(130),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Ends all waiting in this process on Ctrl-C and similar signals.
fn watch_signals() -> Result<(), ClusterError> {
    let failed = |error: std::io::Error| ClusterError::Reply(format!("signals: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let signals = {
        let _guard = runtime.enter();
        kinds.map(signal).into_iter().collect::<Result<Vec<_>, _>>().map_err(failed)?
    };
    std::thread::spawn(move || {
        runtime.block_on(async {
            let mut waiting = tokio::task::JoinSet::new();
            for mut signal in signals {
                waiting.spawn(async move { signal.recv().await.is_some() });
            }
            waiting.join_next().await;
            cancel();
        });
    });
    Ok(())
}

fn run(args: &ClusterArgs, progress: &ProgressLines) -> Result<(), ClusterError> {
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(std::path::Path::parent).map(ToOwned::to_owned).unwrap_or_default();
    let programs = ClusterPrograms::find(&beside, &engine_search(args))?;
    let options =
        ClusterOptions { servers: args.servers.into(), ..ClusterOptions::new(programs, args.machines) };
    let mut print = |text: &str| progress.print(text);
    let mut cluster = Cluster::start(options, &mut print)?;
    let result = match args.command {
        ClusterVerb::Show => demonstration::show(&mut cluster, progress),
        ClusterVerb::Faults { records, pause, writers } => {
            let options = FaultRunOptions {
                records,
                writers,
                pause: Duration::from_secs(pause),
                outage: Duration::from_secs(3),
                catch_up: Duration::from_mins(5),
            };
            run_faults(&mut cluster, options, &mut print).map(|report| print_faults(&report))
        }
    };
    if let Err(error) = &result
        && !matches!(error, ClusterError::Cancelled)
    {
        eprintln!("{}", cluster.logs());
    }
    progress.print("ending all processes");
    cluster.stop();
    result
}

#[expect(clippy::disallowed_methods, reason = "this program reads the environment once")]
fn engine_search(args: &ClusterArgs) -> EngineSearch {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    EngineSearch {
        nats_server: args
            .nats_server
            .clone()
            .or_else(|| variable("TENTERHOOK_NATS_SERVER").map(PathBuf::from)),
        postgres_bin: variable("TENTERHOOK_POSTGRES_BIN").map(PathBuf::from),
        path: variable("PATH"),
    }
}

fn print_faults(report: &tenterhook_fleet_cluster::FaultReport) {
    let records: u64 = report.machines.iter().map(|machine| machine.size).sum();
    let decisions: u64 = report.machines.iter().map(|machine| machine.decisions).sum();
    for (what, stored) in &report.kills {
        println!("killed {what} with {stored} records in the database");
    }
    println!(
        "{} machines, {records} records, {decisions} decisions: the database equals every ledger's signed head",
        report.machines.len()
    );
    println!(
        "recorded in {:.1} s, complete {:.1} s after the last call",
        report.recording.as_secs_f64(),
        report.catching_up.as_secs_f64()
    );
    print_memory();
}

/// Prints the memory of all processes of the cluster.
fn print_memory() {
    let memory = memory_of_tree(std::process::id());
    let total: u64 = memory.values().map(|memory| memory.proportional_kib).sum();
    let processes: u64 = memory.values().map(|memory| memory.processes).sum();
    println!("memory: {} MiB in {processes} processes", total / 1024);
    for (name, memory) in memory {
        println!("  {:>4} × {name:<18} {:>6} MiB", memory.processes, memory.proportional_kib / 1024);
    }
}
