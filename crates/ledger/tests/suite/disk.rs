// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Real disks: one that gets full, one that is made read-only, one that somebody else owns. The caller
//! learns that the leaf was not recorded, and when the trouble is over it goes on by itself.
//!
//! A small disk is a tmpfs in a mount namespace of its own, which needs no rights on most machines.
//! Where that cannot be had, the test says so and is no proof.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tenterhook_ledger::{AppendError, Appended, Expect, Ledger, Queued, Reader, Refused, Verified};

use crate::common::{Test, entry, event, options, record};
use crate::crash;

/// Where the small disk is, for the tests that run inside.
const DISK: &str = "TENTERHOOK_TEST_DISK";

/// Runs one of the ignored tests of this file on a disk of so many KiB.
fn on_a_small_disk(inside: &str, kib: u32) {
    let Some(unshare) = namespaces() else { return };
    let place = tempfile::tempdir().unwrap();
    let script = format!(
        r#"mount -t tmpfs -o size={kib}k,mode=700 none "${DISK}" && exec "$0" --exact "disk::{inside}" --ignored --nocapture"#
    );
    let ran = Command::new("unshare")
        .args(unshare)
        .args(["sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(DISK, place.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}

/// How a process gets mounts of its own here; nothing when it cannot, which is said.
fn namespaces() -> Option<&'static [&'static str]> {
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
    std::env::var_os(DISK).unwrap().into()
}

fn verified(dir: &Path) -> Verified {
    Reader::open(dir).unwrap().verify(Expect::default(), &mut |_, _| ()).unwrap()
}

/// Fills the disk to the last byte.
fn fill(disk: &Path) -> PathBuf {
    let path = disk.join("filler");
    let mut file = std::fs::File::create(&path).unwrap();
    let error = loop {
        // One by one at the end, so that nothing is left.
        if let Err(error) = file.write_all(&[0; 8192]) {
            break error;
        }
    };
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
    while file.write_all(&[0]).is_ok() {}
    path
}

/// Makes room for so many bytes.
fn leave(filler: &Path, bytes: u64) {
    let file = std::fs::OpenOptions::new().write(true).open(filler).unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(length.saturating_sub(bytes)).unwrap();
}

#[test]
fn a_disk_that_gets_full_is_said_and_once_there_is_room_it_goes_on() {
    on_a_small_disk("inside_a_disk_that_gets_full", 8192);
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
        leave(&fill(&disk), room);
        let error = loop {
            number += 1;
            match ledger.append(entry(number)) {
                Ok(appended) => assert_eq!(appended, Appended::New { seq: number }),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, AppendError::Refused { cause: Refused::Full, .. }), "{error:?}");
        assert!(error.to_string().starts_with("not recorded: the disk is full: "), "{error}");
        // It stays so, for a whole batch as well, and what was recorded can be read meanwhile.
        let (tell, told) = std::sync::mpsc::channel();
        for later in number + 1_000_000..number + 1_000_200 {
            let tell = tell.clone();
            ledger.append(Queued::new(entry(later), move |result| tell.send(result).unwrap())).unwrap();
        }
        let refused: Vec<_> = told.iter().take(200).filter(Result::is_err).collect();
        assert!(!refused.is_empty());
        let reader = Reader::open(&dir).unwrap();
        assert_eq!(reader.find(&event(number).id.to_string()).unwrap(), None, "a refused leaf is not there");
        std::fs::remove_file(disk.join("filler")).unwrap();
        // The same ledger, with nobody's help.
        number = reader.size().unwrap();
        assert_eq!(ledger.append(entry(2_000_000 + number)).unwrap(), Appended::New { seq: number });
    }
    let size = Reader::open(&dir).unwrap().size().unwrap();
    ledger.close().unwrap();
    assert_eq!(verified(&dir).size, size);
    // And the next run finds nothing to mend.
    let opened = Ledger::open(&dir, options()).unwrap();
    assert_eq!(opened.recovered, [""; 0]);
}

#[test]
fn a_ledger_cannot_be_begun_on_a_full_disk_and_can_once_there_is_room() {
    on_a_small_disk("inside_a_disk_that_is_full_from_the_start", 4096);
}

#[test]
#[ignore = "the test above makes the disk"]
fn inside_a_disk_that_is_full_from_the_start() {
    let disk = disk();
    for room in [0, 4096, 8192, 20_000, 60_000, 100_000] {
        let dir = disk.join(format!("ledger-{room}"));
        leave(&fill(&disk), room);
        // As the program's own keys have it, whose files do not fit either.
        let own = || tenterhook_ledger::Options::new(crate::common::clock);
        let opened = Ledger::open(&dir, own()).map(|opened| opened.ledger);
        match opened {
            Ok(ledger) => assert!(
                room > 0
                    && ledger
                        .append(entry(1))
                        .is_err_and(|error| error.to_string().contains("not recorded: "))
            ),
            Err(error) => {
                let said = error.to_string();
                assert!(
                    said.contains("No space left on device") || said.contains("disk is full"),
                    "{room}: {said}"
                );
            }
        }
        std::fs::remove_file(disk.join("filler")).unwrap();
        let ledger = Ledger::open(&dir, own()).unwrap_or_else(|error| panic!("{room}: {error}")).ledger;
        assert_eq!(ledger.append(entry(1)).unwrap().seq(), 1, "{room}");
        ledger.close().unwrap();
        assert_eq!(verified(&dir).size, 2);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}

#[test]
fn a_disk_that_is_read_only_is_said_and_can_still_be_verified() {
    on_a_small_disk("inside_a_disk_that_becomes_read_only", 8192);
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
    assert_eq!(verified(&dir).size, 41, "whoever got a copy on a disk that cannot be written can check it");
    remount("rw");
    let ledger = Ledger::open(&dir, options()).unwrap().ledger;
    assert_eq!(ledger.append(entry(41)).unwrap().seq(), 41);
    ledger.close().unwrap();
    assert_eq!(verified(&dir).size, 42);
}

/// Runs the process that records as somebody for whom modes count: nothing keeps root from writing.
fn by_somebody_else(test: &Test) -> Vec<String> {
    // Others must be able to run the program, wherever it was built.
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
    let lines = crash::heard(&mut child);
    child.wait().unwrap();
    assert!(crash::acked(&lines).is_empty(), "{lines:?}");
    lines.into_iter().filter(|line| line.contains("refused ")).collect()
}

#[test]
fn a_directory_that_may_not_be_written_or_entered_is_said() {
    for mode in [0o555, 0o000] {
        let test = Test::filled();
        std::fs::set_permissions(&test.dir, std::fs::Permissions::from_mode(mode)).unwrap();
        let refused = by_somebody_else(&test);
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
fn a_store_that_may_not_be_written_is_said() {
    let test = Test::filled();
    let modes = |dir: u32, files: u32| {
        for file in std::fs::read_dir(&test.dir).unwrap() {
            std::fs::set_permissions(file.unwrap().path(), std::fs::Permissions::from_mode(files)).unwrap();
        }
        std::fs::set_permissions(&test.dir, std::fs::Permissions::from_mode(dir)).unwrap();
    };
    // The lock can be taken, the database only be read.
    modes(0o755, 0o444);
    std::fs::set_permissions(test.dir.join("lock"), std::fs::Permissions::from_mode(0o666)).unwrap();
    let refused = by_somebody_else(&test);
    modes(0o700, 0o600);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(
        refused[0].ends_with("the store cannot be opened: attempt to write a readonly database"),
        "{refused:?}"
    );
    let ledger = test.open();
    assert_eq!(ledger.append(entry(41)).unwrap().seq(), 41, "with the modes put right it goes on");
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 42);
}
