// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The time that a sandbox adds to the start of a command.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{PROGRAM, Sandbox};

const STARTS: usize = 50;

fn median(mut start: impl FnMut() -> Command) -> Duration {
    let mut times: Vec<_> = (0..STARTS)
        .map(|_| {
            let mut command = start();
            let began = Instant::now();
            let status =
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
            assert!(status.success());
            began.elapsed()
        })
        .collect();
    times.sort();
    times[STARTS / 2]
}

/// Prints the cost, and fails only if it is far too high: the program of the tests is not optimised, and other tests
/// run at the same time.
#[test]
fn a_sandbox_starts_fast() {
    let Some(sandbox) = Sandbox::all().into_iter().next() else { return };
    let bare = median(|| sandbox.command(Path::new("/bin/true"), &[]));
    let program = median(|| sandbox.command(Path::new(PROGRAM), &["--version"]));
    let sandboxed = median(|| sandbox.sandboxed(&[], &["/bin/true"]));
    eprintln!("start of `true`: bare {bare:?}, `tenterhook --version` {program:?}, sandboxed {sandboxed:?}");
    assert!(sandboxed < Duration::from_secs(1), "{sandboxed:?}");
}

/// Maximum number of mounts of the default profile, in the home and the project of these tests.
const MAX_MOUNTS: usize = 100;
/// Maximum number of processes of a start: the supervisor, both processes of `bwrap`, the command, and what they wait for.
const MAX_PROCESSES: usize = 8;
/// Maximum number of system calls of a start. The limit is well above what is needed, so that it shows a new search or a
/// mount table that is read for each mount, and not one more file.
const MAX_CALLS: usize = 4_500;
/// How often `bwrap` may read the table of mounts.
const MAX_MOUNT_TABLES: usize = 30;

#[test]
fn a_start_needs_few_mounts() {
    for sandbox in Sandbox::all() {
        let outside = std::fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count();
        let ran = sandbox.run_with(&["--network", "none"], &["/bin/cat", "/proc/self/mountinfo"]);
        let inside = ran.stdout.lines().count();
        assert!(inside > 10, "{}{}", ran.stdout, ran.stderr);
        assert!(inside <= outside + MAX_MOUNTS, "{inside} mounts, {outside} outside:\n{}", ran.stdout);
    }
}

#[test]
fn a_start_needs_few_processes_and_calls() {
    let strace = Path::new("/usr/bin/strace");
    if !strace.exists() {
        return tenterhook_test_support::skip_test("needs strace");
    }
    let Some(sandbox) = Sandbox::all().into_iter().next() else { return };
    let start = || sandbox.run_with(&["--network", "none"], &["/bin/true"]);
    assert_eq!(start().exit, 0, "the first start compiles rules");
    let log = sandbox.test.path("calls");
    let args = [
        "-f",
        "-o",
        log.to_str().unwrap(),
        PROGRAM,
        "run",
        "--sandbox",
        "--network",
        "none",
        "--",
        "/bin/true",
    ];
    let ran = sandbox.test.run_command(sandbox.command(strace, &args), b"");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let text = std::fs::read_to_string(log).unwrap();
    let lines = || text.lines().filter(|line| !line.contains(" resumed>"));
    let count = |wanted: &str| lines().filter(|line| line.contains(wanted)).count();
    assert!(count("move_mount(") > 10, "the mounts are prepared:\n{text}");
    let tables = count("mountinfo\"");
    assert!(tables <= MAX_MOUNT_TABLES, "the table of mounts is read {tables} times");
    let processes = lines().filter(|line| {
        line.contains(" clone(")
            || line.contains(" fork(")
            || line.contains(" vfork(")
            || line.contains(" clone3(") && !line.contains("CLONE_THREAD")
    });
    assert!(processes.count() <= MAX_PROCESSES);
    assert_eq!(count("fsync("), 0, "a start waits for no disk");
    assert!(lines().count() <= MAX_CALLS, "{} system calls", lines().count());
}
