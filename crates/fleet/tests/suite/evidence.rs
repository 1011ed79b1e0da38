// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evidence arrives once, is cosigned, and a ledger that does not continue is named.

use rustix::process::Signal;
use tenterhook_fleet_protocol::{
    CosignMessage, FleetMessage as _, InstanceId, StreamName, Subject, check_cosigned,
};
use tenterhook_test_support::wait_until;

use crate::machine::{Machine, block_on};
use crate::trial::Trial;

/// Waits until the machine receives the cosigned checkpoint of this size.
async fn wait_for_cosignature(machine: &Machine, size: u64) -> CosignMessage {
    for _ in 0..300 {
        let message = machine.get_last(StreamName::Cosign, &Subject::Cosign(machine.mailbox())).await;
        if let Some(message) = message.and_then(|message| CosignMessage::decode(&message.payload).ok()) {
            let witness = machine.enrolled.witness.parse().unwrap();
            let cosigned = check_cosigned(&message.note, &machine.origin, &witness);
            if cosigned.is_ok_and(|(checkpoint, _)| checkpoint.size == size) {
                return message;
            }
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("no cosigned checkpoint of {size} records");
}

#[test]
fn records_arrive_once_are_cosigned_and_survive_a_restart_of_everything() {
    let Some(mut trial) = Trial::start(&["default"], &[]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 2));
    let (mut first, mut second) = block_on(async {
        let mut first = Machine::join(&url, &token, 1).await;
        let mut second = Machine::join(&url, &token, 2).await;
        first.records.add(40, "a");
        second.records.add(25, "b");
        // A checkpoint beyond the batch is cosigned when its records have arrived.
        first.upload(0, 15).await;
        first.upload(15, 25).await;
        second.upload(0, 25).await;
        let cosigned = wait_for_cosignature(&first, 40).await;
        assert_eq!(cosigned.cursor, 40);
        wait_for_cosignature(&second, 25).await;
        (first, second)
    });
    let row = trial.wait_for_records("default", first.id.as_str(), 40);
    assert_eq!((row["witnessed"].as_u64(), row["host"].as_str()), (Some(40), Some("host-1")));
    let denied = trial.json(&["decisions", "--verdict", "deny", "--machine", first.id.as_str()]);
    let numbers: Vec<u64> =
        denied["decisions"].as_array().unwrap().iter().map(|row| row["record"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [39, 29, 19, 9]);
    let counted = trial.query("select sum(calls) from hourly_counts");
    assert_eq!(counted[0][0].as_deref(), Some("65"));
    let hours = trial.json(&["counts", "--since", "2026-11-01"]);
    let denied = hours["counts"].as_array().unwrap().iter().find(|row| row["verdict"] == "deny").unwrap();
    assert_eq!((&denied["hour"], &denied["calls"]), (&"2026-11-15T07:00:00.000Z".into(), &6.into()));
    for filter in
        [["--user", "dev"], ["--harness", "claude-code"], ["--rule", "remote-code"], ["--path", "/home/dev"]]
    {
        let found = trial.json(&["decisions", filter[0], filter[1]]);
        assert_eq!(found["decisions"].as_array().unwrap().len(), 6, "{filter:?}");
    }
    assert!(trial.json(&["decisions", "--user", "root"])["decisions"].as_array().unwrap().is_empty());
    assert_eq!(trial.run_as("default", &["decisions", "--verdict", "denied"]).status.code(), Some(2));
    assert_eq!(trial.json(&["alerts"])["alerts"].as_array().unwrap().len(), 0);

    let port = url.rsplit(':').next().unwrap().to_owned();
    trial.servers.remove(0).stop(Signal::TERM);
    trial.serve(&["default"], &["--listen", &format!("127.0.0.1:{port}")]);
    block_on(async {
        // Connections of the old runtime are gone with it.
        first.nats = crate::machine::connect(&first.enrolled.credentials, &first.id, &first.key).await;
        first.records.add(5, "c");
        first.upload(40, 5).await;
        wait_for_cosignature(&first, 45).await;
        second.nats = crate::machine::connect(&second.enrolled.credentials, &second.id, &second.key).await;
    });
    let row = trial.wait_for_records("default", first.id.as_str(), 45);
    assert_eq!(row["alerts"], 0);
    let counted = trial.query("select sum(calls) from hourly_counts");
    assert_eq!(counted[0][0].as_deref(), Some("70"), "nothing was counted twice");
}

#[test]
fn edited_rolled_back_and_cloned_machines_are_each_named_within_one_batch() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 4));
    let (edited, rolled_back, cloned, regrown) = block_on(async {
        let mut machines = Vec::new();
        for seed in 1..=4 {
            let mut machine = Machine::join(&url, &token, seed).await;
            machine.records.add(20, "real");
            machine.upload(0, 10).await;
            machine.upload(10, 10).await;
            wait_for_cosignature(&machine, 20).await;
            machines.push(machine);
        }
        let [mut edited, mut rolled_back, mut cloned, mut regrown] =
            <[Machine; 4]>::try_from(machines).ok().unwrap();
        // One old record has other bytes.
        edited.records.0[3] = b"{\"edited\":true}".to_vec();
        edited.records.add(2, "real");
        edited.upload(20, 2).await;
        // A backup of fifteen records was restored, and one was added.
        rolled_back.records.0.truncate(15);
        rolled_back.records.add(1, "after the restore");
        rolled_back.upload(15, 1).await;
        // The same, but the ledger has grown beyond what the server knows before anything was uploaded.
        regrown.records.0.truncate(15);
        regrown.records.add(10, "after the restore");
        regrown.upload(15, 3).await;
        // A copy of the state directory on another host.
        cloned.instance = InstanceId([99; 16]);
        cloned.records.add(1, "copy");
        cloned.upload(20, 1).await;
        (edited, rolled_back, cloned, regrown)
    });
    for (machine, why) in [
        (&edited, "the records do not continue the stored ones"),
        (&rolled_back, "the ledger was rolled back"),
        (&regrown, "the ledger has other records"),
    ] {
        let alert = trial.wait_for_alert(machine.id.as_str(), "history-rewritten");
        assert_eq!((alert["detail"]["why"].as_str(), alert["times"].as_i64()), (Some(why), Some(1)));
        let (known, received) = (&alert["detail"]["known"], &alert["detail"]["received"]);
        assert_eq!(known["cursor"], 20);
        assert!(known["signed"].as_str().unwrap().starts_with(&machine.origin), "both heads are kept");
        assert!(received["checkpoint"].as_str().unwrap().starts_with(&machine.origin), "both heads are kept");
        let row = trial.wait_for_records("default", machine.id.as_str(), 20);
        assert_eq!(row["witnessed"], 20, "nothing of the other history was stored");
    }
    let alert = trial.wait_for_alert(cloned.id.as_str(), "machine-key-cloned");
    assert_eq!(alert["detail"]["instance"], "63".repeat(16));
    assert_eq!(trial.json(&["alerts"])["alerts"].as_array().unwrap().len(), 4);
    let (status, response) = cloned.renew(&url, InstanceId([99; 16]));
    assert_eq!(status, 403, "{response}");

    let id = alert["id"].to_string();
    assert!(trial.run_as("default", &["alerts", "acknowledge", &id]).status.success());
    assert_eq!(trial.json(&["alerts"])["alerts"].as_array().unwrap().len(), 3);
    let again = trial.run_as("default", &["alerts", "acknowledge", &id]);
    assert_eq!(again.status.code(), Some(1));
}

#[test]
fn a_gap_is_filled_after_the_server_asked_for_it() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 1));
    let machine = block_on(async {
        use futures_util::StreamExt as _;
        let mut machine = Machine::join(&url, &token, 1).await;
        let mut commands =
            machine.nats.subscribe(Subject::Command(machine.mailbox()).to_string()).await.unwrap();
        machine.nats.flush().await.unwrap();
        machine.records.add(30, "a");
        machine.upload(0, 10).await;
        machine.upload(20, 10).await;
        let command =
            tokio::time::timeout(std::time::Duration::from_secs(20), commands.next()).await.unwrap().unwrap();
        let command: serde_json::Value = serde_json::from_slice(&command.payload).unwrap();
        assert_eq!(command, serde_json::json!({ "command": "resend", "from": 10 }));
        machine.upload(10, 20).await;
        wait_for_cosignature(&machine, 30).await;
        machine
    });
    let row = wait_until("all records", || Some(trial.wait_for_records("default", machine.id.as_str(), 30)));
    assert_eq!(row["alerts"], 0);
}

#[test]
fn a_batch_with_text_that_cannot_be_stored_is_named_and_holds_up_nothing() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 1));
    let machine = block_on(async {
        let mut machine = Machine::join(&url, &token, 1).await;
        machine.records.add(5, "a");
        let mut batch = machine.batch(0, 5);
        batch.origin.push('\0');
        machine.publish(&batch).await;
        machine.records.add(3, "a");
        machine.upload(0, 8).await;
        wait_for_cosignature(&machine, 8).await;
        machine
    });
    let alerts = trial.json(&["alerts"]);
    let named =
        alerts["alerts"].as_array().unwrap().iter().any(|alert| alert["machine"] == machine.id.as_str());
    assert!(named, "{alerts}");
}
