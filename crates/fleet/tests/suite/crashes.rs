// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every record is counted once while NATS, PostgreSQL and servers are killed.

use std::time::Duration;

use rustix::process::Signal;

use crate::machine::{Machine, block_on};
use crate::trial::{Trial, kill_now};

const MACHINES: u8 = 3;
const BATCHES: usize = 24;
const BATCH_RECORDS: usize = 20;

#[test]
fn every_record_counts_once_while_engines_and_servers_are_killed() {
    let Some(mut trial) = Trial::start(&["default"], &[]) else { return };
    let copy = trial.serve_copy("copy");
    let (url, token) = (trial.url(), trial.token("default", MACHINES.into()));
    let machines = block_on(async {
        let mut uploads = Vec::new();
        for seed in 1..=MACHINES {
            let mut machine = Machine::join(&url, &token, seed).await;
            uploads.push(tokio::spawn(async move {
                machine.records.add(BATCHES * BATCH_RECORDS, "a");
                for batch in 0..BATCHES {
                    machine.upload(batch * BATCH_RECORDS, BATCH_RECORDS).await;
                    tokio::time::sleep(Duration::from_millis(150)).await;
                }
                machine
            }));
        }
        let pause = || tokio::time::sleep(Duration::from_millis(800));
        pause().await;
        trial.engine_pids("nats-server").into_iter().for_each(kill_now);
        pause().await;
        trial.servers[copy].stop(Signal::KILL);
        pause().await;
        trial.engine_pids("/bin/postgres").into_iter().for_each(kill_now);
        pause().await;
        let mut machines = Vec::new();
        for upload in uploads {
            machines.push(upload.await.unwrap());
        }
        machines
    });
    let records = u64::try_from(BATCHES * BATCH_RECORDS).unwrap();
    for machine in &machines {
        let id = machine.id.as_str();
        let row = trial.wait_for_records("default", id, records);
        assert_eq!((row["witnessed"].as_u64(), row["alerts"].as_i64()), (Some(records), Some(0)));
        let sql = format!(
            "select encode(root, 'base64') from batches where machine = '{id}' and end_record = {records}"
        );
        assert_eq!(trial.query(&sql)[0][0].as_deref(), Some(machine.records.root().to_string().as_str()));
        let sql = format!("select count(*), count(distinct record) from decisions where machine = '{id}'");
        let denied = (records / 10).to_string();
        assert_eq!(trial.query(&sql)[0], [Some(denied.clone()), Some(denied)]);
    }
    let counted = trial.query("select sum(calls) from hourly_counts");
    assert_eq!(counted[0][0], Some((records * u64::from(MACHINES)).to_string()));
}
