// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `ledger checkpoint | erase | prune | key` while a daemon holds the ledger. The daemon does the work, and the output is
//! the same as without a daemon.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::context::{CommandOutput, TestContext};
use crate::terminal_user::SocketDaemon;

/// Makes three hook calls. From then on the test process is treated as an agent.
fn record_calls(test: &TestContext) {
    for command in ["ls", "sudo rm -rf /", "make"] {
        test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash(command).as_bytes());
    }
    assert_eq!(test.decisions().len(), 3);
}

/// Exit code and output, without the numbers, keys and hashes that differ between ledgers.
fn stable_output(ran: &CommandOutput) -> (i32, String, String) {
    let plain = |text: &str| {
        let number = |c: char| c.is_ascii_digit();
        let word = |word: &str| match word {
            _ if word.len() > 20 || word.starts_with("tenterhook.local/") => "…".to_owned(),
            _ if word.len() == 8 && word.chars().all(|c| c.is_ascii_hexdigit()) => "…".to_owned(),
            _ => word.split(number).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("#"),
        };
        let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    };
    (ran.exit, plain(&ran.stdout), plain(&ran.stderr))
}

fn run_commands(test: &TestContext) -> Vec<(&'static str, CommandOutput)> {
    let passphrase = test.write("passphrase", "correct horse\n");
    std::fs::set_permissions(&passphrase, std::fs::Permissions::from_mode(0o600)).unwrap();
    let file = passphrase.to_str().unwrap();
    vec![
        ("checkpoint", test.run(&["ledger", "checkpoint"])),
        ("checkpoint --json", test.run(&["ledger", "checkpoint", "--json"])),
        ("key show", test.run(&["ledger", "key", "show"])),
        ("an agent erases", test.run(&["ledger", "erase", "2", "--reason", "x", "--yes"])),
        ("an agent prunes", test.run(&["ledger", "prune", "--before", "2999-01-01", "--reason", "x"])),
        ("an agent rotates", test.run(&["ledger", "key", "rotate", "--yes"])),
        ("an agent seals", test.run(&["ledger", "key", "seal", "--passphrase-file", file])),
        ("no such leaf", test.run_on_terminal(&["ledger", "erase", "99", "--reason", "x"])),
        ("nothing old", test.run_on_terminal(&["ledger", "prune", "--keep-days", "30", "--reason", "x"])),
        ("erase", test.run_on_terminal(&["ledger", "erase", "2..3", "--reason", "somebody asked"])),
        ("erase --json", test.run_on_terminal(&["ledger", "erase", "2", "--reason", "again", "--json"])),
        ("prune", test.run_on_terminal(&["ledger", "prune", "--before", "2999-01-01", "--reason", "old"])),
        ("rotate", test.run_on_terminal(&["ledger", "key", "rotate"])),
        ("rotate --json", test.run_on_terminal(&["ledger", "key", "rotate", "--json"])),
        ("seal", test.run_on_terminal(&["ledger", "key", "seal", "--passphrase-file", file])),
        ("seal again", test.run_on_terminal(&["ledger", "key", "seal", "--passphrase-file", file])),
        ("unseal", test.run_on_terminal(&["ledger", "key", "unseal", "--passphrase-file", file])),
        ("unseal again", test.run_on_terminal(&["ledger", "key", "unseal", "--passphrase-file", file])),
        ("checkpoint again", test.run(&["ledger", "checkpoint"])),
        ("verify", test.run(&["ledger", "verify"])),
    ]
}

#[test]
fn with_and_without_a_daemon_the_output_is_the_same() {
    let alone = TestContext::new();
    record_calls(&alone);
    let without = run_commands(&alone);
    let test = TestContext::new();
    record_calls(&test);
    let guard = SocketDaemon::of(&test);
    // The daemon knows that this process is an agent.
    let payload = serde_json::from_str(&test.bash("true")).unwrap();
    guard.hook("claude-code", "PreToolUse", &payload);
    for ((what, with), (_, without)) in run_commands(&test).iter().zip(&without) {
        assert_eq!(stable_output(with), stable_output(without), "{what}: {}{}", with.stdout, with.stderr);
    }
    let exits: Vec<_> = without.iter().map(|(_, ran)| ran.exit).collect();
    assert_eq!(exits, [0, 0, 0, 1, 1, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 0, 0]);
    let kinds = test.run(&["ledger", "stats", "--json"]).json()["kinds"].clone();
    assert_eq!(
        (&kinds["erase"], &kinds["prune"], &kinds["rotate"]),
        (&json!(2), &json!(1), &json!(2)),
        "{kinds}"
    );
    let found = test.run(&["ledger", "query", "--kind", "change", "--text", "key unseal", "--json"]).json();
    let unsealed = &found["leaves"][0]["leaf"];
    assert_eq!(
        (&unsealed["detail"]["authority"]["proof"], &unsealed["detail"]["authority"]["via"]),
        (&json!("tty"), &json!("socket"))
    );
}

#[test]
fn what_is_exported_beside_a_daemon_is_covered_by_a_checkpoint() {
    let test = TestContext::new();
    let guard = SocketDaemon::of(&test);
    let payload = serde_json::from_str(&test.bash("true")).unwrap();
    guard.hook("claude-code", "PreToolUse", &payload);
    let out = test.path("all.jsonl");
    let ran = test.run(&["ledger", "export", "--output", out.to_str().unwrap()]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
    let ran = test.run(&["ledger", "verify", "--file", out.to_str().unwrap(), "--json"]);
    assert_eq!((ran.exit, &ran.json()["unpublished"]), (0, &json!(0)), "{}", ran.stdout);
}

#[test]
fn over_the_api_evidence_is_changed_through_the_gate_only() {
    let test = TestContext::new();
    record_calls(&test);
    let guard = SocketDaemon::of(&test);
    let payload = serde_json::from_str(&test.bash("true")).unwrap();
    guard.hook("claude-code", "PreToolUse", &payload);
    let key = guard.request("GET", "/v1/ledger/key", &json!({})).1;
    assert_eq!(key["sealed"], false, "{key}");
    let lie = json!({"tty": true});
    for (path, body) in [
        ("/v1/ledger/erase", json!({"from": 1, "reason": "x", "proof": lie})),
        ("/v1/ledger/prune", json!({"to": 1, "reason": "x", "proof": lie})),
        ("/v1/ledger/prune", json!({"before": "2999-01-01", "reason": "x", "proof": lie})),
        ("/v1/ledger/key/rotate", json!({"proof": lie})),
        ("/v1/ledger/key/seal", json!({"passphrase": "mine", "proof": lie})),
    ] {
        let (status, answer) = guard.request("POST", path, &body);
        assert_eq!(status, 403, "{path}: {answer}");
        let refused = test.last_change();
        assert_eq!(refused["what"], "refused", "{refused}");
        assert!(refused["detail"]["action"].as_str().unwrap().starts_with("ledger "), "{refused}");
    }
    for (path, body, says) in [
        ("/v1/ledger/erase", json!({"from": 999, "reason": "x"}), "no record 999"),
        ("/v1/ledger/erase", json!({"from": 2, "to": 1, "reason": "x"}), "`to` is less than `from`"),
        ("/v1/ledger/erase", json!({"from": 1}), "missing field `reason`"),
        ("/v1/ledger/prune", json!({"reason": "x"}), "either `to` or `before` is needed"),
        ("/v1/ledger/prune", json!({"before": "soon", "reason": "x"}), "use 15m, 24h"),
        ("/v1/ledger/prune", json!({"to": 999, "reason": "x"}), "no record 999"),
    ] {
        let (status, answer) = guard.request("POST", path, &body);
        assert_eq!(status, 400, "{path}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(says), "{answer}");
    }
    assert_eq!(guard.request("GET", "/v1/ledger/key", &json!({})).1, key);
    assert!(!test.records().iter().any(|leaf| leaf["kind"] == "erase" || leaf["kind"] == "prune"));
}

#[test]
fn a_key_whose_storage_changed_since_opening_is_not_rotated() {
    let test = TestContext::new();
    record_calls(&test);
    let passphrase = test.write("passphrase", "correct horse\n");
    std::fs::set_permissions(&passphrase, std::fs::Permissions::from_mode(0o600)).unwrap();
    let guard = SocketDaemon::of(&test);
    let ran =
        test.run_on_terminal(&["ledger", "key", "seal", "--passphrase-file", passphrase.to_str().unwrap()]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let ran = test.run_on_terminal(&["ledger", "key", "rotate"]);
    assert_eq!(ran.exit, 1);
    assert!(
        ran.stderr.contains("since the daemon started") && ran.stderr.contains("tenterhook daemon restart")
    );
    let sealed = guard.request("GET", "/v1/ledger/key", &json!({})).1;
    assert_eq!(sealed["sealed"], true, "no unsealed key replaced it");
}
