// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Migrations of the database.

use std::process::Stdio;

use rustix::process::Signal;

use crate::machine::{Machine, block_on, connect};
use crate::trial::{Server, Trial};

/// Starts a copy of the server that must fail, and returns its error.
fn refused_copy(trial: &Trial, database: &str) -> String {
    let mut command = trial.copy_command("refused", database);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_newer_or_changed_schema_is_refused_and_nothing_is_touched() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    trial.query("insert into schema_migrations (version, sha256) values (99, '')");
    let text = refused_copy(&trial, "fleet");
    assert!(text.contains("the database has schema version 99, but this server knows up to"), "{text}");
    trial.query("delete from schema_migrations where version = 99");
    trial.query("update schema_migrations set sha256 = '\\x00' where version = 1");
    let text = refused_copy(&trial, "fleet");
    assert!(text.contains("migration 1 of the database differs from the one in this server"), "{text}");
}

#[test]
fn servers_that_start_at_once_on_an_empty_database_migrate_it_once() {
    let Some(mut trial) = Trial::start(&["default"], &[]) else { return };
    trial.query("create database empty");
    let commands = ["one", "two"].map(|name| trial.copy_command(name, "empty"));
    let logs = ["one.log", "two.log"].map(|name| trial.dir.path().join(name));
    let starts: Vec<_> = commands
        .into_iter()
        .zip(logs)
        .map(|(command, log)| std::thread::spawn(move || Server::start(command, &log)))
        .collect();
    for start in starts {
        trial.servers.push(start.join().unwrap());
    }
    let found = trial.query("select count(*) from pg_stat_activity where datname = 'empty'");
    assert_ne!(found[0][0].as_deref(), Some("0"));
}

#[test]
fn a_database_of_the_version_before_is_migrated_with_its_data() {
    let Some(mut trial) = Trial::start(&["default"], &[]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 1));
    let mut machine = block_on(async {
        let mut machine = Machine::join(&url, &token, 1).await;
        machine.records.add(20, "a");
        machine.upload(0, 20).await;
        machine
    });
    let id = machine.id.to_string();
    trial.wait_for_records("default", &id, 20);
    let port = url.rsplit(':').next().unwrap().to_owned();
    // Version 3 had no columns for removals, limits and rewritten calls, other columns for deliveries, and no browsers.
    trial.query("drop trigger rollouts_noted on rollouts");
    trial.query("drop table sign_in_links, browser_sessions, rollout_history");
    trial.query("drop table approval_deliveries, export_queue; alter table decisions drop column rewritten");
    trial.query(
        "alter table machines drop column revoked_at, drop column revoked_by, drop column revoke_reason, \
         drop column quota_since, drop column quota_bytes, drop column suspended_at, drop column suspended_until, \
         drop column unverified_from",
    );
    trial.query(
        "alter table alert_deliveries drop column attempts, drop column next_attempt, \
         alter column delivered set default now(), alter column delivered set not null",
    );
    trial.query("insert into alerts (tenant, machine, kind, detail) values ('default', 'm', 'k', '{}')");
    trial.query("insert into alert_deliveries (alert, target) select id, 't' from alerts where kind = 'k'");
    trial.query("delete from schema_migrations where version > 3");
    trial.servers.remove(0).stop(Signal::TERM);
    trial.serve(&["default"], &["--listen", &format!("127.0.0.1:{port}")]);
    let delivered = trial.query("select target, delivered is not null, attempts from alert_deliveries");
    assert_eq!(delivered, [[Some("t".to_owned()), Some("t".to_owned()), Some("0".to_owned())]]);
    block_on(async {
        machine.nats = connect(&machine.enrolled.credentials, &machine.id, &machine.key).await;
        machine.records.add(10, "b");
        machine.upload(20, 10).await;
    });
    trial.wait_for_records("default", &id, 30);
    assert_eq!(trial.json(&["decisions", "--machine", &id])["decisions"].as_array().unwrap().len(), 3);
    assert_eq!(trial.json(&["machines", "revoke", "host-1"])["machine"], id.as_str());
}

#[test]
fn a_database_of_the_first_version_is_migrated_with_its_data_and_goes_on() {
    let Some(mut trial) = Trial::start(&["default"], &[]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 1));
    let mut machine = block_on(async {
        let mut machine = Machine::join(&url, &token, 1).await;
        machine.records.add(20, "a");
        machine.upload(0, 20).await;
        machine
    });
    let id = machine.id.to_string();
    trial.wait_for_records("default", &id, 20);
    let port = url.rsplit(':').next().unwrap().to_owned();
    // What later versions added is removed: this is a database of the first version with real data.
    trial.query("drop table alert_deliveries; delete from schema_migrations where version > 1");
    trial.query("drop table approval_deliveries, export_queue");
    trial.query("alter table decisions drop column rewritten");
    trial.query(
        "alter table machines drop column revoked_at, drop column revoked_by, drop column revoke_reason, \
         drop column quota_since, drop column quota_bytes, drop column suspended_at, drop column suspended_until, \
         drop column unverified_from",
    );
    trial.query("drop table approvals, rollout_counts, rollouts, policy_bundles, policy_roots cascade");
    trial.query("drop table sign_in_links, browser_sessions, rollout_history cascade");
    trial.servers.remove(0).stop(Signal::TERM);
    trial.serve(&["default"], &["--listen", &format!("127.0.0.1:{port}")]);
    let versions = trial.query("select version from schema_migrations order by version");
    let expected: Vec<_> =
        (1..=tenterhook_fleet_server::SCHEMA_VERSION).map(|version| [Some(version.to_string())]).collect();
    assert_eq!(versions, expected);
    assert_eq!(trial.query("select count(*) from alert_deliveries")[0][0].as_deref(), Some("0"));
    block_on(async {
        machine.nats = connect(&machine.enrolled.credentials, &machine.id, &machine.key).await;
        machine.records.add(10, "b");
        machine.upload(20, 10).await;
    });
    trial.wait_for_records("default", &id, 30);
    let rows = trial.json(&["decisions", "--machine", &id]);
    assert_eq!(rows["decisions"].as_array().unwrap().len(), 3);
}
