// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sessions show which of their records were erased, redacted or superseded.

use tenterhook_event::{
    DecidedCall, Decision, Event, EventId, Finding, HookCall, Origin, Outcome, Timestamp,
};
use tenterhook_guard::Spool;
use tenterhook_home::Home;
use tenterhook_ledger::{LedgerEntry, RedactionKey, SealingOptions};
use tenterhook_records::secrets;

use super::*;

#[test]
fn erased_content_is_gone_from_the_session_and_marked() {
    let served = RunningDaemon::new();
    served.call(
        "UserPromptSubmit",
        &json!({"prompt": concat!("the key is AKIA", "Q3EGRZ7LWQ2NFKXT, keep it")}),
    );
    let write = json!({"tool_name": "Write", "tool_input": {"file_path": "a.txt", "content": "x\n"}, "tool_use_id": "t-1"});
    served.call("PreToolUse", &write);
    served.call("PostToolUse", &with_fields(write, json!({"tool_response": {"type": "create"}})));
    let before = served.json("/v1/sessions/s-1");
    assert_eq!(before["title"], "the key is [aws-access-key], keep it");
    assert_eq!(before["changes"][0]["state"], "done");
    let decisions = served.test.records().into_iter().filter(|leaf| leaf["kind"] == "decision");
    let seqs: Vec<_> = decisions.map(|leaf| leaf["seq"].to_string()).collect();
    let erased = served.test.run_on_terminal(&[
        "ledger",
        "erase",
        &format!("{}..{}", seqs[0], seqs[1]),
        "--reason",
        "a test",
    ]);
    assert_eq!(erased.exit, 0, "{}", erased.stderr);
    let session = until("sessions are rebuilt", || {
        let session = served.get("/v1/sessions/s-1");
        (session.status == 200).then(|| session.json()).filter(|session| session["erased"] == 2)
    });
    assert_eq!((&session["title"], &session["erased"]), (&json!(null), &json!(2)));
    assert_eq!(
        (&session["prompt_texts"][0]["text"], &session["prompt_texts"][0]["gone"]),
        (&json!(null), &json!("erased"))
    );
    let timeline = served.json("/v1/sessions/s-1/timeline");
    assert_eq!(
        (&timeline["steps"][0]["erased"], &timeline["steps"][0]["said"]),
        (&json!(true), &json!(null))
    );
}

/// The record of an event, by its kind.
fn leaf_of(served: &RunningDaemon, event: &str) -> String {
    let leaf = served.test.records().into_iter().rfind(|leaf| leaf["event"] == event);
    leaf.unwrap()["seq"].to_string()
}

fn erase(served: &RunningDaemon, leaf: &str, erased: u64) {
    let ran = served.test.run_on_terminal(&["ledger", "erase", leaf, "--reason", "a test"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    until("sessions are rebuilt", || {
        let session = served.get("/v1/sessions/s-1");
        (session.status == 200 && session.json()["erased"] == erased).then_some(())
    });
}

#[test]
fn erased_content_is_in_no_diff() {
    let served = RunningDaemon::new();
    let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": "a.txt", "old_string": "one", "new_string": "two"}, "tool_use_id": "t-1"});
    served.call("PreToolUse", &edit);
    let patch = json!({"oldStart": 7, "oldLines": 2, "newStart": 7, "newLines": 2, "lines": [" before", "-one", "+two"]});
    let answer = json!({"filePath": "a.txt", "originalFile": "before\none\n", "structuredPatch": [patch]});
    served.call("PostToolUse", &with_fields(edit, json!({"tool_response": answer})));
    let diff = || served.json("/v1/sessions/s-1/diff?path=a.txt")["changes"].clone();
    assert_eq!(diff()[0]["diff"], "@@ -7,2 +7,2 @@\n before\n-one\n+two\n");
    erase(&served, &leaf_of(&served, "post-tool"), 1);
    let left = diff();
    assert_eq!(left[0]["diff"], "@@ -1 +1 @@\n-one\n+two\n", "the arguments are present, the result is not");
    erase(&served, &leaf_of(&served, "pre-tool"), 2);
    let none = served.get("/v1/sessions/s-1/diff?path=a.txt");
    assert_eq!((none.status, none.message().as_str()), (404, "session `s-1` changed no file `a.txt`"));
    let session = served.json("/v1/sessions/s-1");
    assert_eq!((&session["files"]["changed"], &session["files"]["left_out"]), (&json!(0), &json!(1)));
    assert_same_everywhere(served);
}

#[test]
fn an_undelivered_decision_is_not_counted() {
    let served = RunningDaemon::new();
    let id: EventId = "01M7F3GRZQ0000000000000001".parse().unwrap();
    let args = json!({"command": "echo one > made.txt"});
    let event: Event = serde_json::from_value(json!({
        "v": 1, "id": id, "ts": Timestamp::from_unix_ms(id.unix_ms()), "source": "claude-code", "event": "pre-tool",
        "native_event": "PreToolUse", "harness_session_id": "s-1", "tool_use_id": "t-1", "cwd": "/work/shop",
        "tool": {"name": "Bash", "class": "shell", "args": args},
    }))
    .unwrap();
    let answer = served.post("/v1/events", &serde_json::to_value(&event).unwrap());
    assert_eq!(answer.status, 200, "{answer:?}");
    served.call("UserPromptSubmit", &json!({"prompt": "go on"}));
    let before = served.json("/v1/sessions/s-1");
    assert_eq!((&before["verdicts"], &before["files"]["changed"]), (&json!({"none": 2}), &json!(1)));
    // The hook did not wait for the daemon and made a different decision itself.
    let outcome = tenterhook_engine::fold::strengthen(
        Outcome::default(),
        Finding::decided(Origin::Engine, Decision::Deny, "nobody answered"),
    );
    let (call, home) = (HookCall { event, native: None }, Home::in_dir(served.test.home()));
    let decided = DecidedCall {
        call: &call,
        outcome: &outcome,
        generation: "",
        took_us: 1,
        facts: None,
        file_effects: None,
    };
    let key = RedactionKey::open(&home.ledger()).unwrap();
    let sealing = SealingOptions { key, keep_raw: false, max_payload: 1 << 20, keep_model_text: false };
    Spool::of(&home).write(&LedgerEntry::decision(&decided, &secrets).seal(&sealing).unwrap()).unwrap();
    until("it is imported", || {
        let session = served.json("/v1/sessions/s-1");
        (session["verdicts"] == json!({"none": 1, "deny": 1})).then_some(())
    });
    let session = assert_same_everywhere(served);
    assert_eq!((&session["events"], &session["files"]["changed"]), (&json!(2), &json!(0)));
    assert_eq!(session["calls"], json!({"calls": 1, "ok": 0, "failed": 0, "denied": 1, "asked": 0}));
    assert_eq!(session["denials"][0]["reason"], "nobody answered");
}
