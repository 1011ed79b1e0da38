// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The database is lost and restored from a backup. What the backup does not have comes from the streams, or from the
//! ledgers of the machines.

use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;

use crate::connector::TestHome;
use crate::machine::{Machine, block_on};
use crate::trial::Trial;

/// Runs a program of PostgreSQL on the database of a trial.
fn run_postgres(trial: &Trial, program: &str, arguments: &[&str]) {
    let versions = std::fs::read_dir("/usr/lib/postgresql").unwrap().flatten();
    let path =
        versions.map(|entry| entry.path().join("bin").join(program)).find(|path| path.exists()).unwrap();
    let settings = trial.settings();
    let mut command = Command::new(path);
    command.env_clear().env("PGPASSWORD", settings["postgres_password"].as_str().unwrap());
    command.args(["--host=127.0.0.1", "--username=fleet", "--dbname=fleet"]);
    command.arg(format!("--port={}", settings["postgres_port"])).args(arguments);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}

fn back_up(trial: &Trial) -> PathBuf {
    let path = trial.dir.path().join("fleet.dump");
    run_postgres(trial, "pg_dump", &["--format=custom", &format!("--file={}", path.display())]);
    path
}

/// Loses the database and restores it, and starts the server again with these options.
fn restore(trial: &mut Trial, backup: &std::path::Path, options: &[&str]) {
    let port = trial.url().rsplit(':').next().unwrap().to_owned();
    // The server of a trial ends its engines, so the database is replaced while it runs.
    trial.query("drop schema public cascade; create schema public");
    run_postgres(trial, "pg_restore", &[&backup.display().to_string()]);
    trial.servers.remove(0).stop(Signal::TERM);
    let listen = format!("127.0.0.1:{port}");
    trial.serve(&["default"], &[&["--listen", &listen], options].concat());
}

#[test]
fn records_after_the_backup_come_from_the_streams_if_the_machine_is_gone() {
    let Some(mut trial) = Trial::start(&["default"], &[]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 1));
    let id = block_on(async {
        let mut machine = Machine::join(&url, &token, 1).await;
        machine.records.add(20, "a");
        machine.upload(0, 20).await;
        trial.wait_for_records("default", machine.id.as_str(), 20);
        back_up(&trial);
        machine.records.add(20, "b");
        machine.upload(20, 10).await;
        machine.upload(30, 10).await;
        trial.wait_for_records("default", machine.id.as_str(), 40);
        machine.id.to_string()
    });
    let backup = trial.dir.path().join("fleet.dump");
    restore(&mut trial, &backup, &["--replay-streams"]);
    let row = trial.wait_for_records("default", &id, 40);
    assert_eq!((row["witnessed"].as_u64(), row["alerts"].as_i64()), (Some(40), Some(0)));
    let counted = trial.query("select sum(calls) from hourly_counts");
    assert_eq!(counted[0][0].as_deref(), Some("40"), "nothing was counted twice");
    let denied = trial.query("select count(*), count(distinct record) from decisions");
    assert_eq!(denied[0], [Some("4".to_owned()), Some("4".to_owned())]);
}

#[test]
fn records_after_the_backup_come_from_the_machines_if_the_streams_are_empty() {
    let Some(mut trial) = Trial::start(&["default"], &[]) else { return };
    let home = TestHome::new();
    home.append(30, "a");
    let machine = home.join(&trial);
    let connector = home.connect();
    let before = home.wait_until_acknowledged();
    trial.wait_for_records("default", &machine, before);
    let backup = back_up(&trial);
    let size = home.append(25, "b");
    home.wait_until_acknowledged();
    trial.wait_for_records("default", &machine, size);
    let rows = "select count(*), count(distinct record) from decisions";
    let complete = trial.query(rows);
    drop(connector);
    // Beyond the retention, the streams have nothing.
    block_on(async {
        let bus = async_nats::jetstream::new(trial.server_bus().await);
        for partition in 0..8 {
            bus.get_stream(format!("EV_{partition}")).await.unwrap().purge().await.unwrap();
        }
    });
    restore(&mut trial, &backup, &[]);
    trial.wait_for_records("default", &machine, before);
    // The machine has nothing new to upload. Its status shows the server what is missing.
    let _connector = home.connect();
    let row = trial.wait_for_records("default", &machine, size);
    assert_eq!((row["witnessed"].as_u64(), row["alerts"].as_i64()), (Some(size), Some(0)));
    assert_eq!(trial.query(rows), complete, "every row is there again, once");
}
