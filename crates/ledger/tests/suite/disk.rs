// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests with real disks: one becomes full, one becomes read-only, and one belongs to another user. The
//! caller gets an error, and the ledger works again when the cause is gone.
//!
//! A small disk is a tmpfs in its own mount namespace, which needs no privileges on most machines. Where that is not
//! possible, the test is skipped.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tenterhook_ledger::{
    AppendError, Appended, Expectations, Ledger, QueuedEntry, Reader, StoreRefusal, VerifiedLog,
};

use crate::common::{TestLedger, entry, event, options, record};
use crate::crash;

/// Variable with the path of the small disk, for the tests that run in the namespace.
const DISK_VARIABLE: &str = "TENTERHOOK_TEST_DISK";

/// Runs an ignored test of this file on a disk of this size.
fn run_on_small_disk(inside: &str, kib: u32) {
    let Some(unshare) = namespace_args() else { return };
    let place = tempfile::tempdir().unwrap();
    let script = format!(
        r#"mount -t tmpfs -o size={kib}k,mode=700 none "${DISK_VARIABLE}" && exec "$0" --exact "disk::{inside}" --ignored --nocapture"#
    );
    let ran = Command::new("unshare")
        .args(unshare)
        .args(["sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(DISK_VARIABLE, place.path())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && output.contains("1 passed"), "{output}");
}

/// The arguments of `unshare` for a mount namespace; `None` if that is not possible here.
fn namespace_args() -> Option<&'static [&'static str]> {
    let works = |args: &[&str]| {
        let script = "mount -t tmpfs none /mnt && mount -o remount,bind,ro /mnt";
        let mut tried = Command::new("unshare");
        tried.args(args).args(["sh", "-c", script]).stderr(Stdio::null());
        tried.status().is_ok_and(|status| status.success())
    };
    let found = [["-Urm"].as_slice(), ["-m"].as_slice()].into_iter().find(|args| works(args));
    if found.is_none() {
        tenterhook_test_support::skip_test("needs `unshare -Urm` or `unshare -m`");
    }
    found
}

fn disk() -> PathBuf {
    std::env::var_os(DISK_VARIABLE).unwrap().into()
}

fn verify(dir: &Path) -> VerifiedLog {
    Reader::open(dir).unwrap().verify(Expectations::default(), &mut |_, _| ()).unwrap()
}

fn fill(disk: &Path) -> PathBuf {
    let path = disk.join("filler");
    let mut file = std::fs::File::create(&path).unwrap();
    let error = loop {
        // When no whole block fits any more, the rest is filled byte by byte below.
        if let Err(error) = file.write_all(&[0; 8192]) {
            break error;
        }
    };
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
    while file.write_all(&[0]).is_ok() {}
    path
}

fn free_bytes(filler: &Path, bytes: u64) {
    let file = std::fs::OpenOptions::new().write(true).open(filler).unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(length.saturating_sub(bytes)).unwrap();
}

#[test]
fn a_full_disk_is_reported_and_appends_work_again_once_there_is_room() {
    run_on_small_disk("inside_a_disk_that_gets_full", 8192);
}

#[test]
#[ignore = "the test above makes the disk"]
fn inside_a_disk_that_gets_full() {
    let disk = disk();
    let dir = disk.join("ledger");
    let ledger = Ledger::open(&dir, options()).unwrap().ledger;
    record(&ledger, 1..=10);
    let mut number = 10;
    for room in [0, 100_000, 7_000, 300_000] {
        free_bytes(&fill(&disk), room);
        let error = loop {
            number += 1;
            match ledger.append(entry(number)) {
                Ok(appended) => assert_eq!(appended, Appended::New { seq: number }),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, AppendError::Refused { cause: StoreRefusal::Full, .. }), "{error:?}");
        assert!(error.to_string().starts_with("not recorded: the disk is full: "), "{error}");
        // A batch fails too, and recorded entries can be read meanwhile.
        let (sender, results) = std::sync::mpsc::channel();
        for later in number + 1_000_000..number + 1_000_200 {
            let sender = sender.clone();
            ledger
                .append(QueuedEntry::new(entry(later), move |result| sender.send(result).unwrap()))
                .unwrap();
        }
        let refused: Vec<_> = results.iter().take(200).filter(Result::is_err).collect();
        assert!(!refused.is_empty());
        let reader = Reader::open(&dir).unwrap();
        assert_eq!(reader.find(&event(number).id.to_string()).unwrap(), None, "a refused leaf is not there");
        std::fs::remove_file(disk.join("filler")).unwrap();
        // The same ledger works again, without being reopened.
        number = reader.size().unwrap();
        assert_eq!(ledger.append(entry(2_000_000 + number)).unwrap(), Appended::New { seq: number });
    }
    let size = Reader::open(&dir).unwrap().size().unwrap();
    ledger.close().unwrap();
    assert_eq!(verify(&dir).size, size);
    // The next run has nothing to recover.
    let opened = Ledger::open(&dir, options()).unwrap();
    assert_eq!(opened.recovered, [""; 0]);
}

#[test]
fn a_ledger_cannot_be_begun_on_a_full_disk_and_can_once_there_is_room() {
    run_on_small_disk("inside_a_disk_that_is_full_from_the_start", 4096);
}

#[test]
#[ignore = "the test above makes the disk"]
fn inside_a_disk_that_is_full_from_the_start() {
    let disk = disk();
    for room in [0, 4096, 8192, 20_000, 60_000, 100_000] {
        let dir = disk.join(format!("ledger-{room}"));
        free_bytes(&fill(&disk), room);
        // The ledger creates its own key file here, which does not fit on the disk either.
        let with_own_key = || tenterhook_ledger::LedgerOptions::new(crate::common::clock);
        let opened = Ledger::open(&dir, with_own_key()).map(|opened| opened.ledger);
        match opened {
            Ok(ledger) => assert!(
                room > 0
                    && ledger
                        .append(entry(1))
                        .is_err_and(|error| error.to_string().contains("not recorded: "))
            ),
            Err(error) => {
                let message = error.to_string();
                assert!(
                    message.contains("No space left on device") || message.contains("disk is full"),
                    "{room}: {message}"
                );
            }
        }
        std::fs::remove_file(disk.join("filler")).unwrap();
        let ledger =
            Ledger::open(&dir, with_own_key()).unwrap_or_else(|error| panic!("{room}: {error}")).ledger;
        assert_eq!(ledger.append(entry(1)).unwrap().seq(), 1, "{room}");
        ledger.close().unwrap();
        assert_eq!(verify(&dir).size, 2);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}

#[test]
fn a_read_only_disk_is_reported_and_can_still_be_verified() {
    run_on_small_disk("inside_a_disk_that_becomes_read_only", 8192);
}

#[test]
#[ignore = "the test above makes the disk"]
fn inside_a_disk_that_becomes_read_only() {
    let disk = disk();
    let dir = disk.join("ledger");
    let remount = |how: &str| {
        let option = format!("remount,bind,{how}");
        assert!(Command::new("mount").args(["-o", &option]).arg(&disk).status().unwrap().success());
    };
    let ledger = Ledger::open(&dir, options()).unwrap().ledger;
    record(&ledger, 1..=40);
    ledger.close().unwrap();
    remount("ro");
    assert_eq!(
        std::fs::write(disk.join("x"), "x").unwrap_err().kind(),
        std::io::ErrorKind::ReadOnlyFilesystem
    );
    let error = Ledger::open(&dir, options()).err().unwrap().to_string();
    assert_eq!(error, format!("`{}`: Read-only file system (os error 30)", dir.join("lock").display()));
    assert_eq!(verify(&dir).size, 41, "a copy on a read-only disk can be verified");
    remount("rw");
    let ledger = Ledger::open(&dir, options()).unwrap().ledger;
    assert_eq!(ledger.append(entry(41)).unwrap().seq(), 41);
    ledger.close().unwrap();
    assert_eq!(verify(&dir).size, 42);
}

/// Runs the process that records. If this user is root, the process runs as another user, because file modes
/// do not restrict root.
fn record_as_other_user(test: &TestLedger) -> Vec<String> {
    // Other users must be able to run the program.
    let program = test.path().join("program");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for path in [test.path(), &program] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = crash::command(&program, r#"exec "$@""#);
    let root = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0;
    if root {
        command.uid(65_534).gid(65_534);
    }
    let mut child = crash::start(command, &format!("{} 100 durable", test.dir.display()));
    let lines = crash::read_output(&mut child);
    child.wait().unwrap();
    assert!(crash::acked(&lines).is_empty(), "{lines:?}");
    lines.into_iter().filter(|line| line.contains("refused ")).collect()
}

#[test]
fn a_directory_without_write_or_search_permission_is_reported() {
    for mode in [0o555, 0o000] {
        let test = TestLedger::filled();
        std::fs::set_permissions(&test.dir, std::fs::Permissions::from_mode(mode)).unwrap();
        let refused = record_as_other_user(&test);
        std::fs::set_permissions(&test.dir, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(refused.len(), 1, "{refused:?}");
        let path = test.dir.join("lock").display().to_string();
        assert!(
            refused[0].ends_with(&format!("refused `{path}`: Permission denied (os error 13)")),
            "{refused:?}"
        );
        assert_eq!(test.verify().unwrap().size, 41);
    }
}

#[test]
fn a_store_without_write_permission_is_reported() {
    let test = TestLedger::filled();
    let modes = |dir: u32, files: u32| {
        for file in std::fs::read_dir(&test.dir).unwrap() {
            std::fs::set_permissions(file.unwrap().path(), std::fs::Permissions::from_mode(files)).unwrap();
        }
        std::fs::set_permissions(&test.dir, std::fs::Permissions::from_mode(dir)).unwrap();
    };
    // The lock can be taken, but the database is read-only.
    modes(0o755, 0o444);
    std::fs::set_permissions(test.dir.join("lock"), std::fs::Permissions::from_mode(0o666)).unwrap();
    let refused = record_as_other_user(&test);
    modes(0o700, 0o600);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(
        refused[0].ends_with("cannot open the store: attempt to write a readonly database"),
        "{refused:?}"
    );
    let ledger = test.open();
    assert_eq!(ledger.append(entry(41)).unwrap().seq(), 41, "it works again after the modes are fixed");
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 42);
}
