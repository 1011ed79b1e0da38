// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A cluster of three NATS servers, PostgreSQL, two fleet servers and real daemons, of which parts are killed.
//! `make fleet-test` runs the same with fifty machines and ten thousand records each.

use std::time::Duration;

use tenterhook_fleet_cluster::{Cluster, ClusterOptions, ClusterPrograms, FaultRunOptions, run_faults};
use tenterhook_fleet_server::EngineSearch;
use tenterhook_test_support::{skip_test, wait_until};

use crate::trial::{PROGRAM, nats_server};

/// Returns the programs of a cluster, if its engines are installed and the program of a machine is built.
pub(crate) fn cluster_programs() -> Option<ClusterPrograms> {
    let search = EngineSearch {
        nats_server: Some(nats_server()?),
        postgres_bin: None,
        path: Some("/usr/bin:/bin".into()),
    };
    let dir = std::path::Path::new(PROGRAM).parent().unwrap();
    match ClusterPrograms::find(dir, &search) {
        Ok(programs) if programs.tenterhook.is_some() => Some(programs),
        Ok(_) => {
            skip_test("`tenterhook` is not built beside `tenterhook-fleet`: run `cargo build -p tenterhook`");
            None
        }
        Err(error) => {
            skip_test(&error.to_string());
            None
        }
    }
}

#[test]
fn the_database_equals_every_ledger_after_each_part_of_the_cluster_was_killed() {
    let Some(programs) = cluster_programs() else { return };
    let mut print = |text: &str| eprintln!("{text}");
    let mut cluster = Cluster::start(ClusterOptions::new(programs, 3), &mut print).unwrap();
    let options = FaultRunOptions {
        records: 300,
        writers: 3,
        pause: Duration::from_millis(200),
        outage: Duration::from_millis(100),
        catch_up: Duration::from_secs(90),
    };
    let report = run_faults(&mut cluster, options, &mut print);
    let report = report.unwrap_or_else(|error| panic!("{error}\n{}", cluster.logs()));
    assert_eq!(report.kills.len(), 6, "{:?}", report.kills);
    assert_eq!(report.machines.len(), 3);
    assert!(report.machines.iter().all(|machine| machine.size >= 300 && machine.decisions >= 290));
}

/// Starts a cluster with one machine. Returns it with the ids of its processes.
fn start_with_pids(programs: ClusterPrograms) -> (Cluster, Vec<u32>) {
    let mut cluster = Cluster::start(ClusterOptions::new(programs, 1), &mut |_| {}).unwrap();
    let mut pids = vec![cluster.machines[0].daemon.pid().unwrap(), cluster.postgres_process().pid().unwrap()];
    pids.extend((0..3).map(|number| cluster.nats_process(number).unwrap().pid().unwrap()));
    pids.extend((0..2).map(|number| cluster.server_process(number).unwrap().pid().unwrap()));
    assert!(pids.iter().copied().all(is_running), "{pids:?}");
    (cluster, pids)
}

/// Whether a process runs. A process that ended, but was not waited for, has no command line.
fn is_running(pid: u32) -> bool {
    std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
}

#[test]
fn nothing_of_a_cluster_stays_behind_when_it_ends_or_its_parent_is_killed() {
    let Some(programs) = cluster_programs() else { return };
    let (cluster, pids) = start_with_pids(programs.clone());
    let dir = cluster.dir().to_owned();
    drop(cluster);
    assert!(!pids.iter().copied().any(is_running), "a process is still running");
    assert!(!dir.exists());
    // The thread that started the processes ends without ending them, as a killed process does.
    let parent = std::thread::spawn(move || {
        let (cluster, pids) = start_with_pids(programs);
        let dir = cluster.dir().to_owned();
        std::mem::forget(cluster);
        (pids, dir)
    });
    let (pids, dir) = parent.join().unwrap();
    wait_until("the end of all processes", || (!pids.iter().copied().any(is_running)).then_some(()));
    // Children of PostgreSQL notice its end a moment later.
    wait_until("the removal of the directory", || std::fs::remove_dir_all(&dir).ok());
}
