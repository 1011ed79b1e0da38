// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The connector as its own process, with a real ledger and the real server.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tenterhook_event::{EventId, Timestamp};
use tenterhook_fleet_state::{FleetDir, WitnessError};
use tenterhook_ledger::{Hash, Ledger, LedgerEntry, LedgerOptions, Reader};
use tenterhook_test_support::wait_until;

use crate::trial::{PROGRAM, Trial};

/// Start of the time of records.
const RECORD_TIME_MS: u64 = 1_794_729_600_000;

/// A state directory with a real ledger.
pub(crate) struct TestHome {
    pub(crate) dir: tempfile::TempDir,
}

/// A running connector. Dropping it kills it.
pub(crate) struct Connector {
    child: Child,
}

impl Drop for Connector {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl TestHome {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    pub(crate) fn fleet(&self) -> FleetDir {
        FleetDir::of_state(&self.state())
    }

    /// Runs a command of the program on this machine.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let (verb, rest) = arguments.split_first().unwrap();
        let mut command = Command::new(PROGRAM);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.dir.path());
        command.arg(verb).arg("--home").arg(self.state()).args(rest).stdin(Stdio::null()).output().unwrap()
    }

    pub(crate) fn status(&self) -> Value {
        let output = self.run(&["status", "--json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Joins the fleet of a trial.
    pub(crate) fn join(&self, trial: &Trial) -> String {
        let output = self.run(&["join", &trial.url(), &trial.token("default", 1), "--json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let joined: Value = serde_json::from_slice(&output.stdout).unwrap();
        joined["machine"].as_str().unwrap().to_owned()
    }

    /// Appends records. `mark` makes them differ from other records with the same numbers.
    pub(crate) fn append(&self, records: u64, mark: &str) -> u64 {
        self.append_at(records, mark, RECORD_TIME_MS)
    }

    /// Appends records at this time of the machine's clock.
    pub(crate) fn append_at(&self, records: u64, mark: &str, unix_ms: u64) -> u64 {
        let dir = self.state().join("ledger");
        std::fs::create_dir_all(self.state()).unwrap();
        let ledger = Ledger::open(&dir, LedgerOptions::new(|| RECORD_TIME_MS)).unwrap().ledger;
        let from = Reader::open(&dir).map_or(0, |reader| reader.size().unwrap());
        let entries = (from..from + records).map(|number| {
            let mark = mark.bytes().fold(0, |sum, byte| sum * 256 + u128::from(byte));
            let (id, time) = (EventId::from_parts(number, mark), Timestamp::from_unix_ms(unix_ms));
            // Records that hardly compress fill a stream as real ones do.
            let noise = Hash::of_leaf(&number.to_be_bytes()).to_string();
            let entry =
                LedgerEntry::change(id, time, "test", "dev", json!({ "noise": noise }), &|_| Vec::new());
            entry.seal(ledger.sealing()).unwrap()
        });
        ledger.append(entries.collect::<Vec<_>>()).unwrap();
        ledger.close().unwrap();
        self.reader().size().unwrap()
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::open(&self.state().join("ledger")).unwrap()
    }

    pub(crate) fn connect(&self) -> Connector {
        self.connect_with(&[])
    }

    /// Starts the connector with these variables.
    pub(crate) fn connect_with(&self, env: &[(&str, &str)]) -> Connector {
        let log = self.dir.path().join("connector.log");
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let mut command = Command::new(PROGRAM);
        command.env_clear().env("PATH", "/usr/bin:/bin").envs(env.iter().copied());
        command.args(["connect", "--batch-age-ms", "50", "--state"]).arg(self.state());
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        Connector { child }
    }

    /// Waits until the machine has stored the acknowledgement of all records.
    pub(crate) fn wait_until_acknowledged(&self) -> u64 {
        let size = self.reader().size().unwrap();
        wait_until(&format!("{size} acknowledged records"), || {
            let cursor = self.fleet().cursor().ok()?;
            (cursor.acknowledged == size).then_some(size)
        })
    }
}

impl Connector {
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id().try_into().unwrap()).unwrap(), signal).unwrap();
    }
}

fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            copy_dir(&entry.path(), &to.join(entry.file_name()));
        } else if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

pub(crate) fn stored_root(trial: &Trial, machine: &str, size: u64) -> String {
    let sql = format!(
        "select encode(root, 'base64') from batches where machine = '{machine}' and end_record = {size}"
    );
    trial.query(&sql)[0][0].clone().unwrap()
}

#[test]
fn a_machine_joins_uploads_and_shows_how_far_and_leaves() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let home = TestHome::new();
    assert_eq!(home.run(&["status"]).status.code(), Some(1));
    home.append(20, "a");
    let machine = home.join(&trial);
    let again = home.run(&["join", &trial.url(), &trial.token("default", 1)]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("already part of the fleet"), "{again:?}");
    let connector = home.connect();
    let size = home.wait_until_acknowledged();
    let row = trial.wait_for_records("default", &machine, size);
    assert_eq!((row["witnessed"].as_u64(), row["alerts"].as_i64()), (Some(size), Some(0)));
    let status = home.status();
    assert_eq!((status["lag"].as_u64(), status["cosigned_size"].as_u64()), (Some(0), Some(size)));
    assert_eq!(status["connector"]["state"], "connected");
    assert_eq!(home.fleet().check_witness(&home.reader()).unwrap().checkpoint.size, size);
    assert_eq!(stored_root(&trial, &machine, size), home.reader().root(size).unwrap().to_string());
    // Another connector of the same state directory ends at once.
    let second = home.connect();
    let log = home.dir.path().join("connector.log");
    wait_until("the second connector ends", || {
        std::fs::read_to_string(&log).unwrap().contains("another connector").then_some(())
    });
    drop((second, connector));

    // The terminal of a user is missing, so leaving is refused and the machine stays.
    let refused = home.run(&["leave"]);
    assert!(!refused.status.success() && home.fleet().is_enrolled(), "{refused:?}");
}

#[test]
fn credentials_of_an_earlier_version_are_replaced() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let home = TestHome::new();
    home.append(10, "a");
    let machine = home.join(&trial);
    // The version before knew no mailbox.
    let path = home.fleet().file("credentials.json");
    let mut stored: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    stored["credentials"].as_object_mut().unwrap().remove("mailbox").unwrap();
    std::fs::write(&path, stored.to_string()).unwrap();
    let _connector = home.connect();
    let size = home.wait_until_acknowledged();
    trial.wait_for_records("default", &machine, size);
}

#[test]
fn a_connector_that_is_killed_again_and_again_loses_and_doubles_nothing() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let home = TestHome::new();
    home.append(10, "a");
    let machine = home.join(&trial);
    for round in 0..12u64 {
        let connector = home.connect();
        home.append(150, "a");
        // A different moment in each round: before, during and after an upload.
        std::thread::sleep(Duration::from_millis(40 + round * 37));
        connector.signal(Signal::KILL);
    }
    let _connector = home.connect();
    let size = home.wait_until_acknowledged();
    let row = trial.wait_for_records("default", &machine, size);
    assert_eq!((row["witnessed"].as_u64(), row["alerts"].as_i64()), (Some(size), Some(0)));
    assert_eq!(stored_root(&trial, &machine, size), home.reader().root(size).unwrap().to_string());
    let counted =
        format!("select count(*), count(distinct record) from decisions where machine = '{machine}'");
    let counted = &trial.query(&counted)[0];
    assert_eq!(counted[0], counted[1]);
    assert!(counted[0].as_deref().unwrap().parse::<u64>().unwrap() >= 1800, "{counted:?}");
}

#[test]
fn a_machine_that_was_away_beyond_every_window_uploads_everything_once() {
    let windows = ["--retention", "4s", "--duplicate-window", "1s"];
    let Some(trial) = Trial::start(&["default"], &windows) else { return };
    let home = TestHome::new();
    home.append(300, "a");
    let machine = home.join(&trial);
    let connector = home.connect();
    let before = home.wait_until_acknowledged();
    connector.signal(Signal::KILL);
    drop(connector);
    home.append(6000, "a");
    // The stream forgets the machine's messages and their ids.
    let name = "select count(*) from batches";
    let batches = trial.query(name)[0][0].clone();
    std::thread::sleep(Duration::from_secs(7));
    assert_eq!(trial.query(name)[0][0], batches);
    let _connector = home.connect();
    let size = home.wait_until_acknowledged();
    assert!(size > before + 6000 - 1);
    let row = trial.wait_for_records("default", &machine, size);
    assert_eq!((row["witnessed"].as_u64(), row["alerts"].as_i64()), (Some(size), Some(0)));
    assert_eq!(stored_root(&trial, &machine, size), home.reader().root(size).unwrap().to_string());
}

#[test]
fn a_full_stream_slows_uploads_until_there_is_space_again() {
    let limits = ["--retention", "4s", "--stream-bytes", "200000", "--duplicate-window", "1s"];
    let Some(trial) = Trial::start(&["default"], &limits) else { return };
    let home = TestHome::new();
    home.append(10, "a");
    let machine = home.join(&trial);
    let _connector = home.connect();
    let mut full = false;
    for _ in 0..5 {
        // The ledger accepts records regardless of the state of the stream.
        home.append(1500, "a");
        let status = home.status();
        full |= status["problems"].to_string().contains("stream is full");
        std::thread::sleep(Duration::from_millis(200));
    }
    let size = home.wait_until_acknowledged();
    full |= home.status()["problems"].to_string().contains("stream is full");
    assert!(full, "the stream was never full");
    let row = trial.wait_for_records("default", &machine, size);
    assert_eq!((row["witnessed"].as_u64(), row["alerts"].as_i64()), (Some(size), Some(0)));
    assert_eq!(stored_root(&trial, &machine, size), home.reader().root(size).unwrap().to_string());
}

#[test]
fn a_rolled_back_ledger_is_named_on_the_machine_and_by_the_server() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let home = TestHome::new();
    home.append(100, "a");
    let machine = home.join(&trial);
    let (ledger, backup) = (home.state().join("ledger"), home.dir.path().join("backup"));
    copy_dir(&ledger, &backup);
    home.append(100, "a");
    let connector = home.connect();
    let held = home.wait_until_acknowledged();
    drop(connector);
    std::fs::remove_dir_all(&ledger).unwrap();
    copy_dir(&backup, &ledger);
    let here = home.reader().size().unwrap();
    match home.fleet().check_witness(&home.reader()) {
        Err(WitnessError::RolledBack { held: found, here: size }) => assert_eq!((found, size), (held, here)),
        other => panic!("{other:?}"),
    }
    let connector = home.connect();
    let alert = trial.wait_for_alert(&machine, "history-rewritten");
    assert_eq!(alert["detail"]["why"], "the ledger was rolled back");
    wait_until("the machine shows the problem", || {
        home.status()["problems"].to_string().contains("rolled back").then_some(())
    });
    drop(connector);
    // The ledger grows beyond what the witness saw, with other records.
    home.append(200, "b");
    let check = home.fleet().check_witness(&home.reader());
    assert!(matches!(check, Err(WitnessError::Edited { .. })), "{check:?}");
    let row = trial.wait_for_records("default", &machine, held);
    assert_eq!(row["witnessed"].as_u64(), Some(held), "nothing of the other history was stored");
}

#[test]
fn a_copy_of_a_machine_on_another_host_is_named_by_the_server() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let home = TestHome::new();
    home.append(30, "a");
    let machine = home.join(&trial);
    let connector = home.connect();
    home.wait_until_acknowledged();
    drop(connector);
    let copy = TestHome::new();
    copy_dir(&home.state(), &copy.state());
    std::fs::set_permissions(
        copy.fleet().file("machine.key"),
        std::os::unix::fs::PermissionsExt::from_mode(0o600),
    )
    .unwrap();
    // Another host: the seed is combined with the identity of the host, which a test cannot change.
    let path = copy.fleet().file("enrolment.json");
    let mut enrolment: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    enrolment["instance_seed"] = "ab".repeat(16).into();
    std::fs::write(&path, serde_json::to_vec(&enrolment).unwrap()).unwrap();
    copy.append(5, "copy");
    let _copy = copy.connect();
    let alert = trial.wait_for_alert(&machine, "machine-key-cloned");
    assert_eq!(alert["machine"], machine.as_str());
}

#[test]
fn credentials_are_renewed_before_they_expire() {
    let Some(trial) = Trial::start(&["default"], &["--credential-life", "6s"]) else { return };
    let home = TestHome::new();
    home.append(10, "a");
    home.join(&trial);
    let _connector = home.connect();
    for _ in 0..5 {
        home.append(10, "a");
        home.wait_until_acknowledged();
        std::thread::sleep(Duration::from_secs(3));
    }
    let received = home.fleet().credentials().unwrap().unwrap().received;
    let joined = home.fleet().enrolment().unwrap().unwrap().joined;
    assert!(received >= joined + 9, "{joined} {received}");
    let log = std::fs::read_to_string(home.dir.path().join("connector.log")).unwrap();
    assert!(!log.contains("message bus is not reachable"), "{log}");
}
