// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `audit --import`: past sessions appear in the ledger and in the session view.

use serde_json::{Value, json};

use crate::audit::home_with_transcripts;
use crate::context::TestContext;
use crate::daemon::{RunningDaemon, until};

fn import(test: &TestContext) -> Value {
    let ran = test.run(&["audit", "--import", "--json"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    ran.json()["imported"].clone()
}

#[test]
fn imported_records_are_distinct_from_decisions() {
    let test = home_with_transcripts();
    assert_eq!(import(&test), json!({"events": 85, "known": 0, "guarded": 0, "spooled": false}));
    let leaves: Vec<_> = test.records().into_iter().filter(|leaf| leaf["kind"] == "seen").collect();
    assert_eq!(leaves.len(), 85);
    let deletion =
        leaves.iter().find(|leaf| leaf["stored"]["args"]["command"] == "rm -rf /home/dev/precious").unwrap();
    assert_eq!(deletion["origin"], "transcript");
    assert_eq!(deletion["ts"], "2026-11-15T19:51:48.989Z", "the time of the event, not of the import");
    assert_eq!(deletion["verdict"], Value::Null, "an imported event has no decision");
    assert_eq!(test.decisions(), [] as [Value; 0], "there are no decisions");

    let stats = test.run(&["ledger", "stats", "--json"]).json();
    assert_eq!(stats["verdicts"], json!({}), "{stats}");
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
    let shown = test.run(&["ledger", "query", "--kind", "seen", "--limit", "1"]).stdout;
    assert!(shown.contains(" copilot      –              bash timeout 15"), "{shown}");
    // `policy backtest` replays decisions only, so it skips imported records.
    test.write("work/rules.yaml", "version: 1\nrules: []\n");
    assert_eq!(test.run(&["policy", "backtest", "rules.yaml", "--json"]).json()["replayed"], 0);
}

#[test]
fn the_same_event_is_imported_once() {
    let test = home_with_transcripts();
    assert_eq!(import(&test)["events"], 85);
    assert_eq!(import(&test), json!({"events": 0, "known": 85, "guarded": 0, "spooled": false}));
    // The session continues, and only its new events are imported.
    let path = test.path("person/.codex/sessions/2026/11/15");
    let file = std::fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()).min().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let last = json!({"timestamp": "2026-11-15T20:00:00Z", "type": "response_item", "payload": {
        "type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}", "call_id": "later",
    }});
    std::fs::write(&file, format!("{text}{last}\n")).unwrap();
    assert_eq!(import(&test), json!({"events": 1, "known": 85, "guarded": 0, "spooled": false}));
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
}

#[test]
fn a_guarded_session_is_not_imported_again() {
    let test = home_with_transcripts();
    let session = "861cdcc5-2d89-41f0-8a3c-c34d6213dc7d";
    let payload = test.bash("ls").replace("s-1", session);
    test.run_with(&["hook", "claude-code", "pre-tool-use"], payload.as_bytes());
    assert_eq!(import(&test), json!({"events": 68, "known": 0, "guarded": 17, "spooled": false}));
}

#[test]
fn a_daemon_imports_the_sessions_and_shows_them() {
    let served = RunningDaemon::in_home(home_with_transcripts(), &[]);
    let spooled = json!({"events": 85, "known": 0, "guarded": 0, "spooled": true});
    assert_eq!(import(&served.test), spooled);
    until("past sessions", || {
        let sessions = served.json("/v1/sessions?limit=100");
        (sessions["sessions"].as_array().map_or(0, Vec::len) >= 5).then_some(())
    });
    let session = served.json("/v1/sessions/861cdcc5-2d89-41f0-8a3c-c34d6213dc7d");
    assert_eq!(session["harness"], "claude-code", "{session:#}");
    until("all of them", || (import(&served.test)["known"] == 85).then_some(()));
}

#[test]
fn secrets_do_not_reach_the_ledger() {
    let test = TestContext::new();
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let call = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": format!("GH_TOKEN={token} gh pr list")}});
    let line = json!({
        "type": "assistant", "sessionId": "s", "cwd": "/w", "timestamp": "2026-11-02T08:00:00Z",
        "message": {"content": [call]},
    });
    test.write("person/.claude/projects/-w/s.jsonl", &line.to_string());
    assert_eq!(import(&test)["events"], 2);
    let leaves = Value::from(test.records()).to_string();
    assert!(leaves.contains("gh pr list") && !leaves.contains("a1B2c3"), "{leaves}");
}
