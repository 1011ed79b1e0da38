// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Daemons that are killed, paused or overloaded: every call is answered in time, forbidden calls are still denied, and
//! every decision is in the ledger exactly once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tenterhook_test_support::{assert_no_hang, assert_waited};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::context::TestContext;
use crate::terminal_user::{SocketDaemon, until};

fn installed_home() -> TestContext {
    let test = TestContext::new();
    let ran = test.run(&["install", "claude-code", "--yes"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    test
}

/// Number of rounds that `make soak` sets.
#[expect(clippy::disallowed_methods, reason = "the environment sets the number of rounds")]
pub(crate) fn soak_rounds() -> Option<usize> {
    std::env::var("TENTERHOOK_SOAK").ok().map(|rounds| rounds.parse().unwrap())
}

/// One call through the shim; every second call is forbidden.
fn shim_call(test: &TestContext, number: usize) -> Command {
    let program = test.home().join("bin/tenterhook-hook");
    let command = test.command(Path::new(&program), &["claude-code", "pre-tool-use"]);
    let payload = json!({
        "session_id": "s", "cwd": test.path("work"), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": if number.is_multiple_of(2) { "ls" } else { "rm -rf ~/" }},
        "tool_use_id": format!("call-{number}"),
    });
    let input = test.write(&format!("calls/{number}.json"), &payload.to_string());
    let mut command = command;
    command.stdin(std::fs::File::open(input).unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Makes a call and checks that the answer is correct and in time.
fn assert_answered(test: &TestContext, number: usize) {
    let began = Instant::now();
    let output = shim_call(test, number).spawn().unwrap().wait_with_output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_no_hang(began, &format!("call {number}"));
    assert!(output.status.success(), "call {number}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(number % 2 == 1, stdout.contains(r#""permissionDecision":"deny""#), "call {number}: {stdout}");
}

/// Checks that every call has exactly one valid decision once the spool is empty.
fn assert_decided_once_each(test: &TestContext, calls: usize) {
    let spool = test.home().join("spool");
    until("the spool is imported", || {
        let waiting = std::fs::read_dir(&spool).map_or(0, |entries| {
            entries
                .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().extension().is_some()))
                .count()
        });
        (waiting == 0).then_some(())
    });
    let reader = tenterhook_ledger::Reader::open(&test.home().join("ledger")).unwrap();
    let mut counted: BTreeMap<String, (usize, Vec<Value>)> = BTreeMap::new();
    for record in reader.records_from(0, 1_000_000).unwrap() {
        let leaf: Value = serde_json::from_slice(record.bytes.as_ref().unwrap()).unwrap();
        if let Some(call) = leaf["tool_use_id"].as_str() {
            let (count, leaves) = counted.entry(call.to_owned()).or_default();
            *count += usize::from(!record.undelivered);
            leaves.push(leaf);
        }
    }
    for number in 0..calls {
        let (count, leaves) = counted.get(&format!("call-{number}")).cloned().unwrap_or_default();
        assert_eq!(count, 1, "call {number} counts {count} times: {leaves:#?}");
    }
    let verified = test.run(&["ledger", "verify", "--json"]);
    assert_eq!(verified.exit, 0, "{}{}", verified.stdout, verified.stderr);
}

#[test]
fn a_daemon_that_is_killed_under_load_loses_nothing() {
    const CONCURRENT_CALLERS: usize = 4;
    const CALLS_PER_CALLER: usize = 4;
    let test = installed_home();
    let rounds = soak_rounds().unwrap_or(10);
    for round in 0..rounds {
        let guard = SocketDaemon::of(&test);
        std::thread::scope(|scope| {
            for worker in 0..CONCURRENT_CALLERS {
                let (test, first) = (&test, (round * CONCURRENT_CALLERS + worker) * CALLS_PER_CALLER);
                scope.spawn(move || {
                    (first..first + CALLS_PER_CALLER).for_each(|number| assert_answered(test, number));
                });
            }
            // The daemon is killed at a different time in every round.
            std::thread::sleep(Duration::from_millis(u64::try_from(round * 37 % 170).unwrap()));
            // Dropping the daemon sends `kill -9`.
            drop(guard);
        });
    }
    let _guard = SocketDaemon::of(&test);
    assert_decided_once_each(&test, rounds * CONCURRENT_CALLERS * CALLS_PER_CALLER);
}

#[test]
fn a_stopped_daemon_is_not_waited_for_and_its_late_answer_does_not_count() {
    let test = installed_home();
    let guard = SocketDaemon::of(&test);
    assert_answered(&test, 0);
    guard.send_signal(Signal::STOP);
    assert_answered(&test, 1);
    assert_answered(&test, 2);
    guard.send_signal(Signal::CONT);
    assert_answered(&test, 3);
    assert_decided_once_each(&test, 4);
}

#[test]
fn the_first_call_to_a_stopped_daemon_with_a_full_queue_is_answered_in_time() {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
    let test = installed_home();
    let guard = SocketDaemon::of(&test);
    guard.send_signal(Signal::STOP);
    let address = SocketAddrUnix::new(test.home().join("run/tenterhook.sock")).unwrap();
    let waits = || {
        let caller =
            socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None).unwrap();
        connect(&caller, &address).is_ok().then_some(caller)
    };
    // Fills the kernel's queue with connections before the first hook call.
    let waiting: Vec<_> = std::iter::from_fn(waits).collect();
    assert!(waits().is_none(), "the queue is full with {} connections", waiting.len());
    let began = Instant::now();
    assert_answered(&test, 1);
    assert_waited(began, Duration::from_secs(1));
    drop(waiting);
    guard.send_signal(Signal::CONT);
    assert_answered(&test, 0);
    assert_decided_once_each(&test, 2);
}

#[test]
fn every_call_of_a_burst_is_answered() {
    let test = installed_home();
    let _guard = SocketDaemon::of(&test);
    let crowd = if soak_rounds().is_some() { 1_000 } else { 100 };
    let children: Vec<_> = (0..crowd).map(|number| shim_call(&test, number).spawn().unwrap()).collect();
    for (number, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "call {number}: {}", String::from_utf8_lossy(&output.stderr));
        let denied = String::from_utf8_lossy(&output.stdout).contains(r#""permissionDecision":"deny""#);
        assert_eq!(denied, number % 2 == 1, "call {number}");
    }
    assert_decided_once_each(&test, crowd);
}

#[test]
fn a_reused_id_is_denied_and_callers_cannot_choose_the_account() {
    let test = installed_home();
    let guard = SocketDaemon::of(&test);
    let event = json!({
        "v": 1, "id": "01J00000000000000000000000", "ts": "2026-11-15T12:00:00.000Z", "source": "claude-code",
        "event": "pre-tool", "native_event": "PreToolUse", "agent": {"user": "somebody-else"},
        "tool": {"name": "Bash", "class": "shell", "args": {"command": "ls"}},
    });
    let (status, first) = guard.request("POST", "/v1/events", &event);
    assert_eq!((status, &first["decision"]), (200, &json!("none")), "{first}");
    let (_, again) = guard.request("POST", "/v1/events", &event);
    assert_eq!(again["decision"], "deny", "{again}");
    assert!(again["reasons"].to_string().contains("was already used"), "{again}");
    let leaves: Vec<_> = test.records().into_iter().filter(|leaf| leaf["id"] == event["id"]).collect();
    assert_eq!(leaves.len(), 1);
    assert_ne!(leaves[0]["agent"]["user"], "somebody-else");
    assert!(leaves[0]["agent"]["user"].is_string());
}
