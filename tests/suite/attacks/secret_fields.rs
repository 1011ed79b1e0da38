// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A secret that a detector recognises is never stored on disk or returned in a reply, in any payload field.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::daemon::{HANG_TIMEOUT, RunningDaemon, until};

/// A valid-looking token that differs for each `n` and has no owner.
fn token(n: usize) -> String {
    format!("glpat-{n:02}aB3dE5gH7jK9mN1pQ3")
}

fn payload(test: &TestContext, change: impl FnOnce(&mut Value)) -> Value {
    let mut payload = json!({
        "session_id": "s-1", "cwd": test.path("work"), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t-1",
    });
    change(&mut payload);
    payload
}

fn send(served: &RunningDaemon, n: usize, event: &str, payload: &Value) -> String {
    let text = payload.to_string();
    let mut stream = UnixStream::connect(served.socket()).unwrap();
    stream.set_read_timeout(Some(HANG_TIMEOUT)).unwrap();
    let head = format!("TH1 hook claude-code {event} 01K{n:023} 5000 {}\n\n", text.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

/// Every file below a directory that contains the text.
pub(super) fn files_with(dir: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(files_with(&path, text));
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).unwrap_or_default();
            let holds = bytes.windows(text.len()).any(|window| window == text.as_bytes());
            found
                .extend((holds || path.to_string_lossy().contains(text)).then(|| path.display().to_string()));
        }
    }
    found
}

type Change = fn(&mut Value, String);

/// Fields of a payload that can contain a token.
const FIELDS: &[(&str, Change)] = &[
    ("session_id", |payload, token| payload["session_id"] = json!(format!("s-{token}"))),
    ("tool_name", |payload, token| payload["tool_name"] = json!(format!("mcp__vault__{token}"))),
    ("tool_use_id", |payload, token| payload["tool_use_id"] = json!(token)),
    ("agent_type", |payload, token| payload["agent_type"] = json!(token)),
    ("agent_id", |payload, token| payload["agent_id"] = json!(token)),
    ("hook_event_name", |payload, token| payload["hook_event_name"] = json!(token)),
    ("prompt_id", |payload, token| payload["prompt_id"] = json!(token)),
    ("cwd", |payload, token| payload["cwd"] = json!(format!("/tmp/{token}"))),
    ("command", |payload, token| payload["tool_input"] = json!({"command": format!("echo {token}")})),
    ("key", |payload, token| payload["tool_input"] = json!({"command": "ls", token: 1})),
    ("permission_mode", |payload, token| payload["permission_mode"] = json!(token)),
    ("transcript_path", |payload, token| payload["transcript_path"] = json!(format!("/tmp/{token}"))),
];

#[test]
fn a_secret_is_redacted_in_every_field_of_a_call() {
    let served = RunningDaemon::new();
    for (n, (_, change)) in FIELDS.iter().enumerate() {
        send(&served, n, "PreToolUse", &payload(&served.test, |payload| change(payload, token(n))));
    }
    // The event name in the request itself is a token.
    send(&served, 90, &token(90), &payload(&served.test, |_| {}));
    let answers =
        ["/v1/ledger", "/v1/sessions", "/v1/hooks/analytics", "/metrics"].map(|path| served.get(path).body);
    let dirs = [served.test.home(), served.test.path("work")];
    for (n, (field, _)) in FIELDS.iter().enumerate().chain([(90, &("event word", FIELDS[0].1))]) {
        let token = token(n);
        for dir in &dirs {
            assert_eq!(files_with(dir, &token), [""; 0], "{field}");
        }
        assert!(!served.log().contains(&token), "{field} is in the log: {}", served.log());
        for answer in &answers {
            assert!(!answer.contains(&token), "{field} is in an answer: {answer}");
        }
    }
}

#[test]
fn a_session_whose_id_has_a_secret_is_still_one_session() {
    let served = RunningDaemon::new();
    for n in 0..3 {
        let name = json!(format!("s-{}", token(1)));
        send(&served, n, "PreToolUse", &payload(&served.test, |payload| payload["session_id"] = name));
    }
    send(&served, 9, "PreToolUse", &payload(&served.test, |payload| payload["session_id"] = json!(token(2))));
    let sessions = |served: &RunningDaemon| {
        let mut list: Vec<(String, u64)> = served.json("/v1/sessions")["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|session| (session["id"].as_str().unwrap().to_owned(), session["events"].as_u64().unwrap()))
            .collect();
        list.sort_by_key(|(_, events)| *events);
        list
    };
    let live = sessions(&served);
    assert_eq!(live.iter().map(|(_, events)| *events).collect::<Vec<_>>(), [1, 3], "{live:?}");
    assert!(live.iter().all(|(id, _)| id.contains("[[redacted:")), "{live:?}");
    // Another daemon builds the same session from the ledger, and a hook without a daemon adds to it.
    let served = served.restart();
    until("the sessions are loaded again", || (sessions(&served) == live).then_some(()));
}

#[test]
fn a_hook_without_a_daemon_writes_no_secret_identifier_either() {
    let test = TestContext::new();
    for (n, (_, change)) in FIELDS.iter().enumerate() {
        let payload = payload(&test, |payload| change(payload, token(n))).to_string();
        test.run_with(&["hook", "claude-code", "PreToolUse"], payload.as_bytes());
    }
    for (n, (field, _)) in FIELDS.iter().enumerate() {
        assert_eq!(files_with(&test.home(), &token(n)), [""; 0], "{field}");
    }
}

#[test]
fn the_log_of_a_daemon_is_for_its_account_only() {
    let test = TestContext::new();
    let log = test.write("home/log/daemon.log", "");
    std::fs::set_permissions(&log, std::fs::Permissions::from_mode(0o644)).unwrap();
    let started = test.run(&["start", "--listen", "none", "--json"]);
    assert_eq!(started.exit, 0, "{}", started.stderr);
    let mode = std::fs::metadata(&log).unwrap().permissions().mode() & 0o777;
    let stopped = test.run_on_terminal(&["stop"]);
    assert_eq!((mode, stopped.exit), (0o600, 0), "{}", stopped.stderr);
}

/// Cases that the first attack did not cover. Approval notes are redacted. Parts of a token and its base64 form are not
/// redacted, because no detector recognises them.
#[test]
fn notes_are_redacted_and_disguised_tokens_are_not_recognised() {
    let test = TestContext::new();
    test.write(
        "home/policy.yaml",
        "version: 1\nrules:\n  - {id: asks, match: {shell: {program: terraform}}, verdict: ask}\n",
    );
    let served = RunningDaemon::in_home(test, &[]);
    let call = payload(&served.test, |payload| payload["tool_input"] = json!({"command": "terraform apply"}));
    let text = call.to_string();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut stream = UnixStream::connect(served.socket()).unwrap();
            let head = format!("TH1 hook codex PreToolUse 01K{:023} 60000 {}\n\n{text}", 1, text.len());
            stream.write_all(head.as_bytes()).unwrap();
            let mut reply = String::new();
            stream.read_to_string(&mut reply).unwrap();
            reply
        });
        let id = until("the call waits", || {
            served.json("/v1/approvals")["pending"][0]["id"].as_str().map(ToOwned::to_owned)
        });
        let body = json!({"answer": "deny", "note": token(1)}).to_string();
        let path = format!("/v1/approvals/{id}");
        let denied = served.request("POST", &path, &["Content-Type: application/json"], body.as_bytes());
        assert_eq!(denied.status, 200, "{denied:?}");
        asking.join().unwrap();
    });
    // The second is `token(3)` in base64.
    let (one, two) = (token(2), "Z2xwYXQtMDNhQjNkRTVnSDdqSzltTjFwUTM=".to_owned());
    let (head, tail) = one.split_at(12);
    for (n, text) in [(2, format!("{head}\n{tail}")), (3, two.clone())] {
        let call = payload(&served.test, |payload| payload["tool_input"] = json!({"command": text}));
        send(&served, n, "PreToolUse", &call);
    }
    assert_eq!(files_with(&served.test.home(), &token(1)), [""; 0], "the note");
    assert!(!served.get("/v1/ledger").body.contains(&token(1)));
    let records = served.get("/v1/ledger?payload=true").body + &served.get("/v1/ledger/lines").body;
    let kept = !files_with(&served.test.home(), &two).is_empty() || records.contains(&two);
    assert!(kept, "if a detector finds base64 one day, the threat model should say so");
}
