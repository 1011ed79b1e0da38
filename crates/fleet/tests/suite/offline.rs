// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A machine that is offline for thirty days.
//!
//! The clocks of the fleet server and of the machine's connector are faked with libfaketime, and the records have the
//! times of thirty days. nats-server is a Go program, which libfaketime does not reach, so its retention and its
//! window for duplicates are shortened to seconds: it has forgotten the machine as it would have after thirty days.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::Signal;
use tenterhook_test_support::skip_test;

use crate::connector::{TestHome, stored_root};
use crate::trial::Trial;

/// Thirty days, for libfaketime and in milliseconds.
const THIRTY_DAYS: &str = "+30d";
const DAY_MS: u64 = 24 * 3600 * 1000;
const RECORDS_PER_DAY: u64 = 150;

/// Returns the library that fakes the clock.
fn faketime_library() -> Option<String> {
    let arch = std::env::consts::ARCH;
    let path = format!("/usr/lib/{arch}-linux-gnu/faketime/libfaketimeMT.so.1");
    let found = Path::new(&path).is_file().then_some(path);
    if found.is_none() {
        skip_test("libfaketime is not installed: apt-get install libfaketime");
    }
    found
}

#[test]
fn a_machine_that_was_offline_for_thirty_days_uploads_everything_once() {
    let Some(library) = faketime_library() else { return };
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let listen = port.to_string();
    let options = ["--retention", "4s", "--duplicate-window", "1s", "--listen", &listen];
    let Some(mut trial) = Trial::start(&["default"], &options) else { return };
    let home = TestHome::new();
    let now_ms: u64 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis().try_into().unwrap();
    home.append_at(300, "a", now_ms);
    let machine = home.join(&trial);
    let connector = home.connect();
    let before = home.wait_until_acknowledged();
    connector.signal(Signal::KILL);
    drop(connector);
    let credentials = home.fleet().credentials().unwrap().unwrap();
    trial.servers[0].stop(Signal::TERM);
    trial.servers.clear();
    for day in 1..=30 {
        home.append_at(RECORDS_PER_DAY, "a", now_ms + day * DAY_MS);
    }
    let faked = [
        ("LD_PRELOAD", library.as_str()),
        ("FAKETIME", THIRTY_DAYS),
        // Timers keep the real clock.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ("DONT_FAKE_MONOTONIC", "1"),
    ];
    trial.serve_with(&["default"], &options, &faked);
    // NATS forgets the machine's messages and their ids.
    std::thread::sleep(Duration::from_secs(6));
    let _connector = home.connect_with(&faked);
    let size = home.wait_until_acknowledged();
    assert!(size >= before + 30 * RECORDS_PER_DAY);
    let renewed = home.fleet().credentials().unwrap().unwrap();
    // Both clocks were faked: the credentials of the first day had expired and were renewed at the faked time.
    assert!(renewed.received > credentials.credentials.expires + 20 * 24 * 3600, "{}", renewed.received);
    assert!(renewed.credentials.issued > credentials.credentials.expires);
    // An operator's signed request has the real time, which the server refuses, so the database is asked.
    let stored = trial.query(&format!("select cursor, witnessed_size from machines where id = '{machine}'"));
    assert_eq!(stored[0], [Some(size.to_string()), Some(size.to_string())]);
    assert_eq!(stored_root(&trial, &machine, size), home.reader().root(size).unwrap().to_string());
    let sums = trial.query(&format!(
        "select sum(end_record - first_record), min(first_record), max(end_record) from batches where machine = '{machine}'"
    ));
    assert_eq!(sums[0], [Some(size.to_string()), Some("0".to_owned()), Some(size.to_string())]);
    let counted = trial.query(&format!(
        "select count(*), count(distinct record) from decisions where machine = '{machine}'"
    ));
    assert_eq!(counted[0][0], counted[0][1]);
    // Being away is reported; nothing else is.
    let alerts = trial
        .query(&format!("select kind from alerts where machine = '{machine}' and kind <> 'machine-silent'"));
    assert!(alerts.is_empty(), "{alerts:?}");
}
