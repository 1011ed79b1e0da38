// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A caller can write only to sessions of its own process tree; records about other sessions are marked `unverified`.
//! The daemon's clock determines the times of records.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::daemon::{RunningDaemon, until};
use crate::terminal_user::request;

/// Makes one hook call from a process that does not descend from the test.
fn call_from_elsewhere(served: &RunningDaemon, payload: &str) {
    let test = &served.test;
    let (input, done) = (test.write("payload.json", payload), test.path("done"));
    let program = env!("CARGO_BIN_EXE_tenterhook");
    let script = format!(
        "'{program}' hook claude-code PreToolUse < '{}' > /dev/null 2>&1; touch '{}'",
        input.display(),
        done.display()
    );
    let mut command = test.command(Path::new("/usr/bin/setsid"), &["--fork", "sh", "-c", &script]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success(), "setsid (util-linux) is needed");
    until("the call from another process tree ends", || done.exists().then_some(()));
    std::fs::remove_file(done).unwrap();
}

fn caller_checks(served: &RunningDaemon) -> Vec<Value> {
    let decisions = served.test.records().into_iter().filter(|leaf| leaf["kind"] == "decision");
    decisions.map(|leaf| leaf["session_check"].clone()).collect()
}

#[test]
fn an_event_in_the_name_of_another_process_trees_session_is_unverified() {
    let served = RunningDaemon::new();
    let payload = served.test.bash("ls");
    served.hook(&payload);
    // The call comes from a child of the session's owner.
    served.test.run_with(&["hook", "claude-code", "PreToolUse"], payload.as_bytes());
    assert_eq!(caller_checks(&served), [Value::Null, Value::Null]);
    call_from_elsewhere(&served, &payload);
    // Over TCP no process is known.
    let over_tcp = served.post("/v1/hooks/claude-code/PreToolUse", &serde_json::from_str(&payload).unwrap());
    assert_eq!(over_tcp.status, 200, "{over_tcp:?}");
    served.hook(&payload);
    let unverified = json!("unverified");
    assert_eq!(
        caller_checks(&served),
        [Value::Null, Value::Null, unverified.clone(), unverified.clone(), Value::Null]
    );
    let sessions = served.json("/v1/sessions");
    let session = &sessions["sessions"][0];
    assert_eq!((&session["events"], &session["unverified"]), (&json!(5), &json!(2)), "{session}");
    let id = session["id"].as_str().unwrap();
    let steps = served.json(&format!("/v1/sessions/{id}/timeline"));
    let marked: Vec<_> =
        steps["steps"].as_array().unwrap().iter().map(|step| &step["session_check"]).collect();
    assert_eq!(marked, [&Value::Null, &Value::Null, &unverified, &unverified, &Value::Null], "{steps}");
}

#[test]
fn a_session_that_goes_on_in_another_process_is_resumed() {
    let served = RunningDaemon::new();
    let payload = served.test.bash("ls");
    served.hook(&payload);
    let served = served.restart();
    until("sessions are read from the ledger", || {
        served.json("/v1/sessions")["sessions"][0]["id"].is_string().then_some(())
    });
    served.hook(&payload);
    served.hook(&payload);
    assert_eq!(caller_checks(&served), [Value::Null, json!("resumed"), Value::Null]);
}

#[test]
fn an_event_has_the_daemons_time_and_the_senders_time_beside_it() {
    let served = RunningDaemon::new();
    let event = json!({
        "source": "my-agent", "event": "pre-tool", "ts": "2001-01-01T00:00:00.000Z", "harness_session_id": "s",
        "tool": {"name": "Bash", "args": {"command": "ls"}}, "session_check": "resumed",
    });
    let (status, answer) = request(&served.socket(), "POST", "/v1/events", &event);
    assert_eq!(status, 200, "{answer}");
    let leaves = served.test.records();
    let leaf = leaves.iter().find(|leaf| leaf["kind"] == "decision").unwrap();
    assert!(leaf["ts"].as_str().unwrap() > "2026", "{leaf}");
    assert_eq!(leaf["sender_ts"], "2001-01-01T00:00:00.000Z", "{leaf}");
    assert!(leaf["session_check"].is_null(), "the sender cannot choose the owner of a session: {leaf}");
}
