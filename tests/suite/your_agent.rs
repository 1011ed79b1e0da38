// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The examples of `docs/guide/your-agent.md` work as written. Its TypeScript is run by
//! `sdk/typescript/scripts/check-pack.mjs`, its Python by `sdk/python/tests/test_guide.py`.

use crate::context::repository;
use crate::daemon::RunningDaemon;
use crate::daemon_guide::blocks;
use tenterhook_client::Address;

include!("your_agent/run.rs");

const REASON: &str = "This would delete a whole directory tree";

fn page() -> String {
    std::fs::read_to_string(repository().join("docs/guide/your-agent.md")).unwrap()
}

/// Recorded events with their verdicts.
fn recorded_verdicts(served: &RunningDaemon) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let leaves = served.test.records().into_iter().filter(|leaf| leaf["source"] == "my-agent");
    leaves.map(|leaf| (text(&leaf["event"]), text(&leaf["verdict"]))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(event, verdict)| ((*event).to_owned(), (*verdict).to_owned())).collect()
}

#[test]
fn plain_http_works_as_written() {
    let served = RunningDaemon::new();
    let home = served.test.home();
    let page = page();
    let said: Vec<_> = blocks(&page, "sh")
        .into_iter()
        .map(|block| {
            // Only the state directory and the port differ from the guide.
            let block = block.replace("~/.local/state/tenterhook", home.to_str().unwrap());
            let block = block.replace("127.0.0.1:7878", &served.address.to_string());
            let block =
                block.replace("tenterhook ledger", &format!("{} ledger", env!("CARGO_BIN_EXE_tenterhook")));
            let command = served.test.command(std::path::Path::new("/bin/sh"), &["-c", &block]);
            let ran = served.test.run_command(command, b"");
            assert_eq!(ran.exit, 0, "{block}: {}", ran.stderr);
            ran.stdout
        })
        .collect();
    let [socket, tcp, after, query] = said.as_slice() else { panic!("a new example needs a row: {said:?}") };
    for answer in [socket, tcp] {
        let answer: Value = serde_json::from_str(answer).unwrap();
        assert_eq!(answer["decision"], "deny", "{answer}");
        assert!(answer["reasons"].to_string().contains(REASON), "{answer}");
    }
    let after: Value = serde_json::from_str(after).unwrap();
    assert_eq!(after["decision"], "none", "{after}");
    assert_eq!(
        recorded_verdicts(&served),
        pairs(&[("pre-tool", "deny"), ("pre-tool", "deny"), ("post-tool", "none")])
    );
    assert!(query.contains("Bash rm -rf /srv"), "{query}");
}

#[test]
fn the_rust_works_as_written() {
    let written = include_str!("your_agent/run.rs").split_once("\n\n").unwrap().1;
    assert_eq!(blocks(&page(), "rust"), [written], "the page shows the code that is run");
    let served = RunningDaemon::new();
    crate::sdk::run(async {
        let client = Client::new(Address::in_home(served.test.home())).unwrap();
        let done = run(&client, "Bash", json!({"command": "ls"}), |_| "README.md".to_owned()).await.unwrap();
        assert_eq!(done, "README.md");
        let refused =
            run(&client, "Bash", json!({"command": "rm -rf /srv"}), |_| panic!("it ran")).await.unwrap();
        assert!(refused.starts_with(&format!("not done: {REASON}")), "{refused}");
    });
    assert_eq!(
        recorded_verdicts(&served),
        pairs(&[("pre-tool", "none"), ("post-tool", "none"), ("pre-tool", "deny")])
    );
}

#[test]
fn missing_fields_of_an_event_are_filled_in() {
    let served = RunningDaemon::new();
    let sent =
        json!({"source": "my-agent", "event": "pre-tool", "tool": {"name": "mcp__db__query", "args": {}}});
    assert_eq!(served.post("/v1/events", &sent).status, 200);
    let leaf = served.test.records().into_iter().rfind(|leaf| leaf["source"] == "my-agent").unwrap();
    assert_eq!(leaf["tool"], json!({"name": "mcp__db__query", "class": "mcp"}));
    assert_eq!(leaf["native_event"], "pre-tool");
    // No default is used for fields that determine which rules apply.
    for missing in ["source", "event"] {
        let mut sent = sent.clone();
        sent.as_object_mut().unwrap().remove(missing);
        assert_eq!(served.post("/v1/events", &sent).status, 400, "{missing}");
    }
    let twice = br#"{"source":"a","event":"pre-tool","event":"stop"}"#;
    assert_eq!(served.request("POST", "/v1/events", &["content-type: application/json"], twice).status, 400);
}
