// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decisions that a hook made without a daemon are imported exactly once, and are refused if another account wrote
//! them. The tests cover same-user mode, in which an attacker who can read the key in the state directory can forge
//! decisions.

use serde_json::{Value, json};
use tenterhook_event::{DecidedCall, Event, EventId, EventKind, HookCall, Outcome, Timestamp, ToolCall};
use tenterhook_ledger::{Ledger, LedgerEntry, LedgerOptions};

use crate::context::TestContext;

fn hook(test: &TestContext, command: &str) {
    test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash(command).as_bytes());
}

/// The file and the content of the spooled decision.
fn decision(test: &TestContext) -> (std::path::PathBuf, String) {
    let mut files = std::fs::read_dir(test.home().join("spool")).unwrap();
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        text.contains("\"kind\":\"decision\"").then_some((path, text))
    };
    files.find_map(|file| read(file.unwrap().path())).unwrap()
}

fn refusals(test: &TestContext) -> Vec<Value> {
    test.records().into_iter().filter(|leaf| leaf["what"] == "spool-refused").collect()
}

#[test]
fn a_forged_file_is_set_aside_and_recorded_once() {
    let test = TestContext::new();
    hook(&test, "rm -rf /");
    let (path, text) = decision(&test);
    let forgeries = [
        (text.replace("\\\"deny\\\"", "\\\"allow\\\""), "its seal is not valid for this home"),
        (text.lines().next().unwrap().to_owned(), "it has no seal"),
        (
            format!("{}\n{}", text.lines().next().unwrap(), "0".repeat(64)),
            "its seal is not valid for this home",
        ),
        ("{\"spool\":1".to_owned(), "it has no seal"),
    ];
    for (number, (forged, _)) in forgeries.iter().enumerate() {
        let name = format!("01ARZ3NDEKTSV4RRFFQ69G5FA{number}.json");
        std::fs::write(test.home().join("spool").join(name), forged).unwrap();
    }
    // A copy of a valid decision under the file name of another event.
    std::fs::copy(&path, test.home().join("spool/01ARZ3NDEKTSV4RRFFQ69G5FAV.json")).unwrap();
    assert_eq!(test.decisions().len(), 1, "the valid one");
    let told = refusals(&test);
    assert_eq!(told.len(), forgeries.len() + 1);
    for (leaf, (_, why)) in told.iter().zip(&forgeries) {
        assert_eq!(leaf["detail"]["reason"], *why, "{leaf}");
        assert!(leaf["detail"]["file"].as_str().unwrap().contains(".json"));
    }
    assert_eq!(told.last().unwrap()["detail"]["reason"], "its name does not match its event id");
    let stats = test.run(&["ledger", "stats", "--json"]).json();
    assert_eq!(stats["spool"], json!({"waiting": 0, "refused": 5}));
    assert_eq!(refusals(&test).len(), 5, "reported once");
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
}

#[test]
fn an_event_decided_twice_is_counted_once_as_delivered() {
    let test = TestContext::new();
    hook(&test, "rm -rf /");
    let (path, _) = decision(&test);
    let id: EventId = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    // The daemon also decided about the call, but the hook had stopped waiting for it.
    let mut event = Event::new(
        id,
        Timestamp::from_unix_ms(id.unix_ms()),
        "claude-code",
        EventKind::PreTool,
        "PreToolUse",
    );
    event.tool = Some(ToolCall::new("Bash", json!({"command": "rm -rf /"})));
    let (call, outcome) = (HookCall { event, native: None }, Outcome::default());
    let (outcome, touched) = (&outcome, None);
    let decided =
        DecidedCall { call: &call, outcome, generation: "", took_us: 1, facts: None, file_effects: touched };
    let ledger = Ledger::open(&test.home().join("ledger"), LedgerOptions::new(|| 1)).unwrap().ledger;
    ledger.append(LedgerEntry::decision(&decided, &|_| Vec::new())).unwrap();
    ledger.close().unwrap();

    let leaves = test.decisions();
    assert_eq!(leaves.len(), 2);
    assert_eq!((&leaves[0]["verdict"], &leaves[1]["verdict"]), (&json!("none"), &json!("deny")));
    assert_eq!(leaves[1]["links"], json!([id.to_string()]));
    assert_eq!(leaves[1]["detail"]["supersedes"], id.to_string());
    let stats = test.run(&["ledger", "stats", "--json"]).json();
    assert_eq!(stats["verdicts"], json!({"deny": 1}));
    assert_eq!(stats["undelivered"], 1);
    let found = test.run(&["ledger", "query", "--kind", "decision", "--json"]).json();
    let marks: Vec<_> = found["leaves"].as_array().unwrap().iter().map(|leaf| &leaf["undelivered"]).collect();
    assert_eq!(marks, [&json!(false), &json!(true)]);
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
}

#[test]
fn without_a_key_no_spooled_decision_is_accepted() {
    let test = TestContext::new();
    hook(&test, "ls");
    std::fs::remove_file(test.home().join("seal.key")).unwrap();
    assert_eq!(test.decisions().len(), 0);
    assert!(!refusals(&test).is_empty());
}

#[test]
fn a_spool_that_grows_without_a_daemon_is_imported_automatically() {
    use tenterhook_guard::{LedgerHandle, Spool};
    use tenterhook_home::{Home, call_meta};
    use tenterhook_records::secrets;
    let test = TestContext::new();
    // One record creates the ledger. Then the test adds more files than the spool should hold.
    hook(&test, "ls");
    assert_eq!(test.decisions().len(), 1);
    let home = Home::in_dir(test.home());
    let ledger = LedgerHandle::of(&home).writer().unwrap();
    let sealing = ledger.sealing().clone();
    ledger.close().unwrap();
    for number in 0..300 {
        let door = call_meta::mint().unwrap();
        let entry =
            LedgerEntry::change(door.id, door.ts, &format!("waits {number}"), "test", Value::Null, &secrets);
        Spool::of(&home).write(&entry.seal(&sealing).unwrap()).unwrap();
    }
    let began = std::time::Instant::now();
    hook(&test, "rm -rf /");
    assert!(
        began.elapsed() < std::time::Duration::from_secs(10),
        "the answer does not wait: {:?}",
        began.elapsed()
    );
    let waiting = || Spool::of(&home).count().0;
    crate::terminal_user::until("the spool is imported", || (waiting() == 0).then_some(()));
    let leaves = test.records();
    let of = |what: &str| {
        leaves.iter().filter(|leaf| leaf["what"].as_str().is_some_and(|said| said.starts_with(what))).count()
    };
    assert_eq!((of("waits "), test.decisions().len()), (300, 2), "each one once");
    // A small number of files is not imported yet; they wait for the next import or for a daemon.
    hook(&test, "ls");
    assert!(waiting() >= 1);
}
