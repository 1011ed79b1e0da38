// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Daemons that die, stop or have too much to do: every call is answered in time, what is forbidden stays
//! forbidden, and every decision is in the ledger exactly once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tenterhook_test_support::{assert_no_hang, assert_waited};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::context::TestContext;
use crate::person::{Guard, until};

fn installed() -> TestContext {
    let test = TestContext::new();
    let ran = test.run(&["install", "claude-code", "--yes"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    test
}

/// More rounds for `make soak`.
#[expect(clippy::disallowed_methods, reason = "a test is told so by its environment")]
pub(crate) fn rounds(usual: usize, soak: usize) -> usize {
    if std::env::var("TENTERHOOK_SOAK").is_ok() { soak } else { usual }
}

/// One call by the shim; every other one is forbidden.
fn call(test: &TestContext, number: usize) -> Command {
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

/// Makes a call and sees that it is answered, in time and rightly.
fn answered(test: &TestContext, number: usize) {
    let began = Instant::now();
    let output = call(test, number).spawn().unwrap().wait_with_output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_no_hang(began, &format!("call {number}"));
    assert!(output.status.success(), "call {number}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(number % 2 == 1, stdout.contains(r#""permissionDecision":"deny""#), "call {number}: {stdout}");
}

/// Every call has exactly one decision that counts, once the spool is empty.
fn once_each(test: &TestContext, calls: usize) {
    let spool = test.home().join("spool");
    until("the spool is taken in", || {
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
    const AT_ONCE: usize = 4;
    const EACH: usize = 4;
    let test = installed();
    let rounds = rounds(10, 100);
    for round in 0..rounds {
        let guard = Guard::of(&test);
        std::thread::scope(|scope| {
            for worker in 0..AT_ONCE {
                let (test, first) = (&test, (round * AT_ONCE + worker) * EACH);
                scope.spawn(move || (first..first + EACH).for_each(|number| answered(test, number)));
            }
            // Another moment in every round.
            std::thread::sleep(Duration::from_millis(u64::try_from(round * 37 % 170).unwrap()));
            // Dropping it is `kill -9`.
            drop(guard);
        });
    }
    let _guard = Guard::of(&test);
    once_each(&test, rounds * AT_ONCE * EACH);
}

#[test]
fn a_daemon_that_was_stopped_is_not_waited_for_and_what_it_says_later_does_not_count() {
    let test = installed();
    let guard = Guard::of(&test);
    answered(&test, 0);
    guard.send(Signal::STOP);
    answered(&test, 1);
    answered(&test, 2);
    guard.send(Signal::CONT);
    answered(&test, 3);
    once_each(&test, 4);
}

#[test]
fn the_first_call_to_a_stopped_daemon_with_a_full_queue_is_answered_in_time() {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
    let test = installed();
    let guard = Guard::of(&test);
    guard.send(Signal::STOP);
    let address = SocketAddrUnix::new(test.home().join("run/tenterhook.sock")).unwrap();
    let waits = || {
        let caller =
            socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None).unwrap();
        connect(&caller, &address).is_ok().then_some(caller)
    };
    // As many as the kernel lets wait. No hook has called yet.
    let waiting: Vec<_> = std::iter::from_fn(waits).collect();
    assert!(waits().is_none(), "the queue is full with {} connections", waiting.len());
    let began = Instant::now();
    answered(&test, 1);
    assert_waited(began, Duration::from_secs(1));
    drop(waiting);
    guard.send(Signal::CONT);
    answered(&test, 0);
    once_each(&test, 2);
}

#[test]
fn a_crowd_is_answered_to_the_last() {
    let test = installed();
    let _guard = Guard::of(&test);
    let crowd = rounds(100, 1_000);
    let children: Vec<_> = (0..crowd).map(|number| call(&test, number).spawn().unwrap()).collect();
    for (number, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "call {number}: {}", String::from_utf8_lossy(&output.stderr));
        let denied = String::from_utf8_lossy(&output.stdout).contains(r#""permissionDecision":"deny""#);
        assert_eq!(denied, number % 2 == 1, "call {number}");
    }
    once_each(&test, crowd);
}

#[test]
fn an_id_that_is_sent_again_is_no_answer_and_nobody_says_whose_an_event_is() {
    let test = installed();
    let guard = Guard::of(&test);
    let event = json!({
        "v": 1, "id": "01J00000000000000000000000", "ts": "2026-11-15T12:00:00.000Z", "source": "claude-code",
        "event": "pre-tool", "native_event": "PreToolUse", "agent": {"user": "somebody-else"},
        "tool": {"name": "Bash", "class": "shell", "args": {"command": "ls"}},
    });
    let (status, first) = guard.ask("POST", "/v1/events", &event);
    assert_eq!((status, &first["decision"]), (200, &json!("none")), "{first}");
    let (_, again) = guard.ask("POST", "/v1/events", &event);
    assert_eq!(again["decision"], "deny", "{again}");
    assert!(again["reasons"].to_string().contains("was used before"), "{again}");
    let leaves: Vec<_> = test.leaves().into_iter().filter(|leaf| leaf["id"] == event["id"]).collect();
    assert_eq!(leaves.len(), 1);
    assert_ne!(leaves[0]["agent"]["user"], "somebody-else");
    assert!(leaves[0]["agent"]["user"].is_string());
}
