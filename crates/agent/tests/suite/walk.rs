// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One session through every kind of event there is.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_agent::{Answer, PermissionMode};
use tenterhook_engine::{Hook, say};
use tenterhook_event::EventKind;
use tenterhook_harness::Door;
use tenterhook_harness::dialect::a3s;

use crate::common::{Test, test};

/// Reads, is asked about, is refused, fails, starts a subagent, grows too long, and is done.
const SCRIPT: &str = r#"
turns:
  - say: I look first.
    call: { Read: { file_path: notes.txt } }
  - call: { Bash: { command: "echo hello" } }
  - call: { Bash: { command: "echo never" } }
  - call: { Bash: { command: "exit 3" } }
  - say: A subagent should look at it.
    call: { Task: { description: look, prompt: look at notes.txt, subagent_type: general } }
  - call: { TodoWrite: { todos: [ { content: finish, status: completed } ] } }
    usage: { input: 950, output: 10 }
  - say: All done.
subagents:
  general:
    - call: { Grep: { pattern: one, output_mode: content } }
    - say: It says one.
summary: Notes were read, one command was refused, one failed.
"#;

async fn walked() -> Test {
    let again =
        Hook::on("again", EventKind::ToolError).run(|_| async { say::retry(Duration::from_millis(1)) });
    let builder = test()
        .hook(again)
        .answers([Answer::Yes, Answer::No { reason: Some("not this one".to_owned()) }, Answer::Yes])
        .set(|settings| {
            settings.mode = PermissionMode::Default;
            settings.temperature = Some(0.2);
            settings.context_window = 1000;
        });
    std::fs::write(builder.dir.path().join("notes.txt"), "one\ntwo\n").unwrap();
    let test = builder.start(SCRIPT).await.unwrap();
    assert_eq!(test.prompt("look at the notes").await.unwrap(), "All done.");
    test.session.end("exit").await.unwrap();
    test
}

// seed: 003-003, 003-011, 003-012
#[tokio::test]
async fn every_kind_of_event_is_told_in_order_with_all_it_carries() {
    let test = walked().await;
    let told: BTreeSet<_> = test.seen.kinds().into_iter().collect();
    let all: BTreeSet<_> = EventKind::ALL.iter().copied().filter(|kind| *kind != EventKind::Other).collect();
    assert_eq!(told, all);

    let dir = test.dir.path().display().to_string();
    let calls = test.seen.calls.lock().unwrap();
    let mut whole = String::new();
    for call in calls.iter() {
        let mut event = serde_json::to_value(&call.event).unwrap();
        let mut payload = Value::Object(call.native.as_ref().unwrap().fields.clone());
        steady(&mut event, &dir);
        steady(&mut payload, &dir);
        let _ = writeln!(whole, "{}\n  event   {event}\n  payload {payload}", call.event.event);
    }
    insta::assert_snapshot!(whole);
}

/// Ids, times and the directory are others every time.
fn steady(value: &mut Value, dir: &str) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match key.as_str() {
                    "id" if value.as_str().is_some_and(|id| id.len() == 26) => *value = json!("[id]"),
                    "ts" | "timestamp" => *value = json!("[time]"),
                    "duration" | "duration_ms" => *value = json!("[ms]"),
                    _ => steady(value, dir),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| steady(item, dir)),
        Value::String(text) if text.contains(dir) => *text = text.replace(dir, "/work"),
        _ => {}
    }
}

#[tokio::test]
async fn the_payload_says_what_the_event_says() {
    let test = walked().await;
    for call in test.seen.calls.lock().unwrap().iter() {
        let Some(shape) = a3s::of(call.event.event) else {
            assert_eq!(call.event.event, EventKind::ToolSelection, "only this has no SDK event");
            continue;
        };
        let mut door = Door::new(call.event.id, call.event.ts, "");
        door.user.clone_from(&call.event.agent.user);
        let native = call.native.as_ref().unwrap();
        let mut read = a3s::event(shape, &door, "tenterhook-agent", None, &native.bytes).unwrap().event;
        let mut told = call.event.clone();
        // What only one of them has room for.
        for event in [&mut read, &mut told] {
            (event.detail.model_request, event.detail.model_response) = (None, None);
            (event.agent.parent, event.agent.model, event.cwd) = (None, None, None);
        }
        assert_eq!(read, told, "{}", call.event.event);
    }
}

#[tokio::test]
async fn a_tool_that_failed_is_tried_again_as_a_hook_wants_it_but_not_for_ever() {
    let test = walked().await;
    let attempts: Vec<_> = test
        .seen
        .of(EventKind::ToolError)
        .iter()
        .map(|call| call.native.as_ref().unwrap().fields["attempt"].clone())
        .collect();
    assert_eq!(attempts, [json!(1), json!(2), json!(3)]);
}
