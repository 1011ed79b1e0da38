// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Fills the machines with recorded sessions and shows where to look at them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tenterhook_fleet_cluster::{
    Cluster, ClusterError, ClusterMachine, for_each_machine, is_cancelled, recorded_commands, wait_for,
};

use crate::{ProgressLines, print_memory};

/// Number of recorded calls that each machine plays at the start.
const FIRST_CALLS: usize = 60;
/// Pause between two calls of the whole fleet afterwards.
const CALL_PAUSE: Duration = Duration::from_millis(200);
/// How long the records have to arrive in the database.
const ARRIVAL_TIMEOUT: Duration = Duration::from_mins(3);

/// Directory with recorded transcripts of six harnesses.
fn transcripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/transcripts")
}

/// Imports and plays recorded sessions, prints addresses, and plays further calls until Ctrl-C.
pub(crate) fn show(cluster: &mut Cluster, progress: &ProgressLines) -> Result<(), ClusterError> {
    progress.print("importing recorded sessions and playing recorded calls");
    let commands = recorded_commands();
    for_each_machine(&mut cluster.machines, |machine| fill(machine, &commands))?;
    progress.print("waiting until all records are in the database");
    let wanted = cluster.machines.iter().map(ClusterMachine::ledger_size).sum::<Result<u64, _>>()?;
    let stored = wait_for("all records are in the database", ARRIVAL_TIMEOUT, || {
        std::thread::sleep(Duration::from_millis(500));
        let rows = cluster.query("select sum(cursor) from machines")?;
        let stored: u64 =
            rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok()).unwrap_or_default();
        Ok((stored >= wanted).then_some(stored))
    })?;
    progress.print("ready");
    print_addresses(cluster, stored);
    print_memory();
    println!("\nCtrl-C ends everything.");
    play(cluster, &commands)
}

fn fill(machine: &mut ClusterMachine, commands: &[String]) -> Result<(), ClusterError> {
    copy_dir(&transcripts(), machine.home())?;
    machine.run(&["audit", "--import", "--json"])?;
    let mut connection = machine.connect()?;
    // Each machine begins at another command.
    let start = machine.name().bytes().fold(0, |sum: usize, byte| sum * 31 + usize::from(byte));
    for command in commands.iter().cycle().skip(start % commands.len().max(1)).take(FIRST_CALLS) {
        connection.call(command)?;
    }
    Ok(())
}

/// Copies a directory of fixtures. They are owned by the machine, so links do not occur.
fn copy_dir(from: &Path, to: &Path) -> Result<(), ClusterError> {
    let file = |path: &Path, source| ClusterError::File { path: path.to_owned(), source };
    std::fs::create_dir_all(to).map_err(|error| file(to, error))?;
    for entry in std::fs::read_dir(from).map_err(|error| file(from, error))?.flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_dir(&path, &target)?;
        } else {
            std::fs::copy(&path, &target).map_err(|error| file(&path, error))?;
        }
    }
    Ok(())
}

fn print_addresses(cluster: &Cluster, stored: u64) {
    let (nats, servers) = cluster.counts();
    println!(
        "\n{} machines, {nats} NATS servers, {servers} fleet servers, PostgreSQL; {stored} records stored\n",
        cluster.machines.len()
    );
    for number in 0..servers {
        println!("dashboard and API   {}", cluster.url(number));
    }
    let key = cluster.admin_key_file();
    println!("administrator's key {}", key.display());
    println!("\ntry:  export TENTERHOOK_FLEET_KEY={}", key.display());
    for command in ["machines", "decisions --verdict deny", "alerts"] {
        println!("      {} {command}", cluster.fleet_program().display());
    }
    println!();
}

/// Plays recorded calls on one machine after another until Ctrl-C.
fn play(cluster: &Cluster, commands: &[String]) -> Result<(), ClusterError> {
    let mut commands = commands.iter().cycle();
    for machine in cluster.machines.iter().cycle() {
        if is_cancelled() {
            break;
        }
        if let Some(command) = commands.next() {
            machine.connect()?.call(command)?;
        }
        std::thread::sleep(CALL_PAUSE);
    }
    Ok(())
}
