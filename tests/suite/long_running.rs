// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A daemon that runs for weeks returns memory after a burst of calls, and sleeps while it is idle.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Barrier;
use std::time::Duration;

use serde_json::json;

use crate::daemon::{HANG_TIMEOUT, RunningDaemon, until};
use crate::daemon_faults::soak_rounds;

/// Maximum memory that the daemon keeps after a burst, without the program's code, in kB.
const MAX_MEMORY_AFTER_BURST_KB: u64 = 64 * 1024;
/// Size of the file that each call of a burst writes.
const CONTENT_BYTES: usize = 60_000;

/// How long an idle daemon is watched.
const IDLE_WATCH_TIME: Duration = Duration::from_secs(15);
/// Maximum number of times that the idle daemon's threads may wake up in `IDLE_WATCH_TIME`. The file check every ten
/// seconds wakes about nine threads; a 300 ms timer would cause fifty wake-ups.
const MAX_WAKE_UPS: u64 = 30;

/// How often the daemon's threads have gone to sleep since they were started.
fn count_sleeps(served: &RunningDaemon) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", served.pid().as_raw_nonzero())).unwrap();
    let count = |task: std::fs::DirEntry| {
        // A thread may end meanwhile.
        let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.map_or(0, |line| line.trim().parse::<u64>().unwrap())
    };
    tasks.map(|task| count(task.unwrap())).sum()
}

#[test]
fn an_idle_daemon_sleeps() {
    let served = RunningDaemon::new();
    served.hook(&served.test.bash("ls"));
    // Time for the daemon to return memory and for idle threads to end.
    std::thread::sleep(Duration::from_secs(18));
    let before = count_sleeps(&served);
    std::thread::sleep(IDLE_WATCH_TIME);
    let wake_ups = count_sleeps(&served).saturating_sub(before);
    assert!(wake_ups <= MAX_WAKE_UPS, "{wake_ups} in {IDLE_WATCH_TIME:?}");
}

/// A number from the daemon's status in `/proc`.
fn proc_status_number(served: &RunningDaemon, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", served.pid().as_raw_nonzero())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// Makes one call that writes a file. Returns whether it was answered.
fn write_file(socket: &Path, number: usize, begin: &Barrier) -> bool {
    let line = format!("let total_{number} = total + weight * {number};\n");
    let payload = json!({
        "session_id": format!("session-{}", number % 100), "cwd": "/", "hook_event_name": "PreToolUse",
        "tool_name": "Write", "tool_use_id": format!("call-{number}"),
        "tool_input": {"file_path": format!("/tmp/{number}.rs"), "content": line.repeat(CONTENT_BYTES / line.len())},
    });
    let payload = payload.to_string();
    let request = format!(
        "POST /v1/hooks/claude-code/pre-tool-use HTTP/1.1\r\nHost: tenterhook\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{payload}",
        payload.len()
    );
    begin.wait();
    let Ok(mut stream) = UnixStream::connect(socket) else { return false };
    stream.set_read_timeout(Some(HANG_TIMEOUT)).unwrap();
    let mut reply = String::new();
    // An overloaded daemon may refuse a call. The test accepts this, because a refused call uses memory as well.
    stream.write_all(request.as_bytes()).is_ok()
        && stream.read_to_string(&mut reply).is_ok()
        && reply.contains(" 200 ")
}

#[test]
fn memory_is_returned_after_a_burst_of_calls() {
    let served = RunningDaemon::new();
    let calls = if soak_rounds().is_some() { 2_000 } else { 500 };
    let (socket, begin) = (served.socket(), Barrier::new(calls));
    let answered = std::thread::scope(|scope| {
        let ask = |number| {
            let (socket, begin) = (&socket, &begin);
            let small = std::thread::Builder::new().stack_size(128 * 1024);
            small.spawn_scoped(scope, move || write_file(socket, number, begin)).unwrap()
        };
        let asking: Vec<_> = (0..calls).map(ask).collect();
        asking.into_iter().map(|asked| usize::from(asked.join().unwrap())).sum::<usize>()
    });
    assert!(answered > calls / 2, "{answered} of {calls} calls were answered");
    let used = proc_status_number(&served, "RssAnon");
    assert!(used > MAX_MEMORY_AFTER_BURST_KB, "no burst: {used} kB");
    until("the memory is returned", || {
        (proc_status_number(&served, "RssAnon") <= MAX_MEMORY_AFTER_BURST_KB).then_some(())
    });
    if calls == 2_000 {
        std::thread::sleep(Duration::from_secs(45));
        let resident = proc_status_number(&served, "VmRSS");
        assert!(resident <= 120 * 1024, "{resident} kB a minute after {calls} calls");
    }
}
