// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Processes that are killed, and disks that are full.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tenterhook_undo::{
    CallReference, FileTarget, SnapshotErrorKind, SnapshotFilter, SnapshotRequest, TargetChange,
    TargetExtent, UndoLimits, UndoStore,
};

use crate::project::{TestProject, now_ms, test_limits};

/// Number of rounds in `make test`; `make soak` runs more.
const ROUNDS: u64 = 10;

fn rounds() -> u64 {
    std::env::var("TENTERHOOK_SOAK").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS)
}

/// The code of the process that is killed; it is not a test of its own. Its input is the store and the project.
#[test]
#[ignore = "the tests below start it"]
fn child() {
    let mut input = String::new();
    std::io::stdin().read_line(&mut input).unwrap();
    let words: Vec<&str> = input.split_whitespace().collect();
    let [store, project] = words[..] else { return };
    let store = UndoStore::open(Path::new(store), test_limits()).unwrap();
    print_line("ready");
    let result = store.take_snapshot(&delete_request(Path::new(project)));
    print_line(&match result {
        Ok(manifest) => format!("taken {}", manifest.id),
        Err(error) => format!("failed {:?}", error.kind()),
    });
    std::thread::sleep(Duration::from_mins(2));
}

fn delete_request(project: &Path) -> SnapshotRequest {
    SnapshotRequest {
        call: CallReference::default(),
        project: project.to_owned(),
        files: vec![FileTarget {
            path: project.join("data"),
            change: TargetChange::Overwrite,
            extent: TargetExtent::Tree,
        }],
        git: Vec::new(),
        now_ms: now_ms(),
    }
}

/// Writes to standard output directly, because the test harness captures `println!`.
fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// A process that takes a snapshot. It is killed when this value is dropped.
struct SnapshotProcess {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl SnapshotProcess {
    fn start(wrapper: &[&str], store: &Path, project: &Path) -> Self {
        let program = std::env::current_exe().unwrap();
        let arguments = ["--exact", "crash::child", "--ignored", "--nocapture", "--test-threads", "1"];
        let mut command = match wrapper {
            [] => Command::new(program),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        };
        let child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let input = format!("{} {}\n", store.display(), project.display());
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Returns the rest of the first line that contains this word; `None` if the process ends before.
    fn wait_for(&mut self, word: &str) -> Option<String> {
        let mut line = String::new();
        while self.output.read_line(&mut line).unwrap() > 0 {
            if let Some((_, rest)) = line.split_once(word) {
                return Some(rest.trim().to_owned());
            }
            line.clear();
        }
        None
    }
}

impl Drop for SnapshotProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn with_files(count: usize) -> (TestProject, PathBuf) {
    let project = TestProject::empty();
    for number in 0..count {
        project.write(&format!("data/{}/{number}", number % 10), &format!("{number}").repeat(500));
    }
    let store = project.top.join("state/undo");
    (project, store)
}

#[test]
fn a_process_killed_between_snapshot_and_call_leaves_a_usable_snapshot() {
    let (project, store) = with_files(200);
    let tree = project.tree();
    let mut process = SnapshotProcess::start(&[], &store, &project.project);
    let id = process.wait_for("taken ").unwrap();
    drop(process);
    project.shell("rm -r data");
    let plan = project.store.plan_restore(&id, &[]).unwrap();
    project.store.restore(&plan, false, now_ms()).unwrap();
    assert_eq!(project.tree(), tree);
}

#[test]
fn a_process_killed_during_a_snapshot_leaves_nothing_that_counts() {
    let (project, store) = with_files(1000);
    let tree = project.tree();
    for round in 0..rounds() {
        let mut process = SnapshotProcess::start(&[], &store, &project.project);
        process.wait_for("ready").unwrap();
        std::thread::sleep(Duration::from_micros((round * 3_571) % 60_000));
        drop(process);
        // Every snapshot that is listed is complete.
        for manifest in project.store.list(&SnapshotFilter::default()).unwrap() {
            let plan = project.store.plan_restore(&manifest.id, &[]).unwrap();
            assert_eq!((plan.items.len(), plan.unchanged), (0, manifest.entries));
            project.store.remove(&manifest.id).unwrap();
        }
        project.store.take_snapshot(&delete_request(&project.project)).unwrap();
        let names = std::fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.into_iter().all(|name| !name.to_str().unwrap().contains(".tmp")));
    }
    assert_eq!(project.tree(), tree);
}

#[test]
fn a_snapshot_that_another_process_writes_is_not_removed() {
    let (project, store) = with_files(10);
    let unfinished = store.join("0000000000001-1-1.tmp");
    std::fs::create_dir(&unfinished).unwrap();
    let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::RDONLY;
    let lock = rustix::fs::open(&unfinished, flags, rustix::fs::Mode::empty()).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    project.store.prune(now_ms()).unwrap();
    assert!(unfinished.exists());
    drop(lock);
    project.store.prune(now_ms()).unwrap();
    assert!(!unfinished.exists());
}

/// Mounts a small file system, in a namespace of its own, in the place of the store.
#[test]
fn a_full_disk_fails_the_snapshot_and_loses_nothing() {
    let (project, store) = with_files(3000);
    let script = format!("mount -t tmpfs -o size=1m,mode=0700 none '{}' && exec \"$@\"", store.display());
    let wrapper = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"];
    let works = Command::new(wrapper[0]).args(&wrapper[1..]).arg("true").output();
    if !works.is_ok_and(|output| output.status.success()) {
        return tenterhook_test_support::skip_test("no user namespace with mounts");
    }
    let tree = project.tree();
    let mut process = SnapshotProcess::start(&wrapper, &store, &project.project);
    assert_eq!(process.wait_for("failed ").as_deref(), Some("StorageFull"));
    drop(process);
    assert_eq!(project.tree(), tree);

    // A limit on the size of files has the same effect, and the directory is removed again.
    let script = "ulimit -f 100; trap '' XFSZ; exec \"$@\"";
    let mut process = SnapshotProcess::start(&["sh", "-c", script, "sh"], &store, &project.project);
    assert_eq!(process.wait_for("failed ").as_deref(), Some("StorageFull"));
    assert_eq!(std::fs::read_dir(&store).unwrap().count(), 0);
}

/// The same with a check before anything is written.
#[test]
fn too_little_free_space_fails_before_anything_is_written() {
    let (project, store) = with_files(10);
    let limits = UndoLimits { min_free_bytes: u64::MAX / 2, ..test_limits() };
    let strict = UndoStore::open(&store, limits).unwrap();
    let error = strict.take_snapshot(&delete_request(&project.project)).unwrap_err();
    assert_eq!(error.kind(), SnapshotErrorKind::StorageFull);
}
