// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One session that fires every kind of event.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_agent::{PermissionAnswer, PermissionMode};
use tenterhook_engine::{Hook, response};
use tenterhook_event::EventKind;
use tenterhook_harness::CallMeta;
use tenterhook_harness::dialect::a3s;

use crate::fixture::{TestSession, test};

/// A script in which the agent reads a file, needs permission, is denied, fails, starts a subagent, fills the context
/// and finishes.
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

async fn run_session() -> TestSession {
    let again =
        Hook::on("again", EventKind::ToolError).run(|_| async { response::retry(Duration::from_millis(1)) });
    let builder = test()
        .hook(again)
        .answers([
            PermissionAnswer::Yes,
            PermissionAnswer::No { reason: Some("not this one".to_owned()) },
            PermissionAnswer::Yes,
        ])
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
async fn every_kind_of_event_is_fired_in_order_with_all_fields() {
    let test = run_session().await;
    let fired: BTreeSet<_> = test.log.kinds().into_iter().collect();
    let all: BTreeSet<_> = EventKind::ALL.iter().copied().filter(|kind| *kind != EventKind::Other).collect();
    assert_eq!(fired, all);

    let dir = test.dir.path().display().to_string();
    let calls = test.log.calls.lock().unwrap();
    let mut whole = String::new();
    for call in calls.iter() {
        let mut event = serde_json::to_value(&call.event).unwrap();
        let mut payload = Value::Object(call.native.as_ref().unwrap().fields.clone());
        normalize(&mut event, &dir);
        normalize(&mut payload, &dir);
        let _ = writeln!(whole, "{}\n  event   {event}\n  payload {payload}", call.event.event);
    }
    insta::assert_snapshot!(whole);
}

/// Replaces ids, times and the directory, which differ in every run.
fn normalize(value: &mut Value, dir: &str) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match key.as_str() {
                    "id" if value.as_str().is_some_and(|id| id.len() == 26) => *value = json!("[id]"),
                    "ts" | "timestamp" => *value = json!("[time]"),
                    "duration" | "duration_ms" => *value = json!("[ms]"),
                    _ => normalize(value, dir),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| normalize(item, dir)),
        Value::String(text) if text.contains(dir) => *text = text.replace(dir, "/work"),
        _ => {}
    }
}

#[tokio::test]
async fn the_payload_contains_the_same_as_the_event() {
    let test = run_session().await;
    for call in test.log.calls.lock().unwrap().iter() {
        let Some(shape) = a3s::shape_of_kind(call.event.event) else {
            assert_eq!(call.event.event, EventKind::ToolSelection, "only this has no SDK event");
            continue;
        };
        let mut door = CallMeta::new(call.event.id, call.event.ts, "");
        door.user.clone_from(&call.event.agent.user);
        let native = call.native.as_ref().unwrap();
        let mut read = a3s::event(shape, &door, "tenterhook-agent", None, &native.bytes).unwrap().event;
        let mut fired = call.event.clone();
        // Removes fields that only one of the two formats has.
        for event in [&mut read, &mut fired] {
            (event.detail.model_request, event.detail.model_response) = (None, None);
            (event.agent.parent, event.agent.model, event.cwd) = (None, None, None);
        }
        assert_eq!(read, fired, "{}", call.event.event);
    }
}

#[tokio::test]
async fn a_failed_tool_is_retried_on_request_of_a_hook_a_bounded_number_of_times() {
    let test = run_session().await;
    let attempts: Vec<_> = test
        .log
        .calls_of(EventKind::ToolError)
        .iter()
        .map(|call| call.native.as_ref().unwrap().fields["attempt"].clone())
        .collect();
    assert_eq!(attempts, [json!(1), json!(2), json!(3)]);
}
