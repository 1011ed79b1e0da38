// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs every action of a hook for every kind of event.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use tenterhook_agent::{PermissionMode, TurnError};
use tenterhook_engine::{Hook, InterpretedOutput, response};
use tenterhook_event::{Decision, EventKind, SelectionMode};

use crate::fixture::{TestBuilder, TestSession, test};

const ACTIONS: &[&str] = &["continue", "modified", "block", "retry", "skip", "stop", "ask"];

/// One tool call, then the final reply.
const PLAIN: &str = r#"
turns:
  - { say: working, call: { Bash: { command: "echo ran" } } }
  - say: finished
summary: a summary
"#;
const FAILS: &str = r#"
turns:
  - { say: working, call: { Bash: { command: "echo x >> tries; exit 7" } } }
  - say: finished
"#;
const SUBAGENT: &str = r"
turns:
  - { say: working, call: { Task: { description: d, prompt: p, subagent_type: general } } }
  - say: finished
subagents:
  general: [ { say: looked } ]
";
const LONG: &str = r#"
turns:
  - { say: working, call: { Bash: { command: "echo ran" } }, usage: { input: 960, output: 10 } }
  - say: finished
summary: a summary
"#;

fn setup_for(kind: EventKind) -> (TestBuilder, &'static str) {
    let free =
        |builder: TestBuilder| builder.set(|settings| settings.mode = PermissionMode::BypassPermissions);
    match kind {
        EventKind::ToolError => (free(test()), FAILS),
        EventKind::SubagentStart | EventKind::SubagentStop => (free(test()), SUBAGENT),
        EventKind::PreCompact | EventKind::PostCompact | EventKind::ContextWarning => {
            (free(test()).set(|settings| settings.context_window = 1000), LONG)
        }
        EventKind::PermissionRequest | EventKind::PermissionGranted | EventKind::Notification => {
            (test(), PLAIN)
        }
        EventKind::PermissionDenied => {
            (test().set(|settings| settings.mode = PermissionMode::DontAsk), PLAIN)
        }
        _ => (free(test()), PLAIN),
    }
}

/// The hook's output. For stop events, only the first output blocks, because the session would never end if all did.
fn hook_output(kind: EventKind, action: &str, time: u32) -> InterpretedOutput {
    let nothing = response::none();
    if time > 1 && matches!(kind, EventKind::Stop | EventKind::SubagentStop) {
        return nothing.into();
    }
    let changed = match kind {
        EventKind::PreTool | EventKind::PermissionRequest => {
            response::none().tool_input(json!({"command": "echo HOOK"}))
        }
        EventKind::PostTool | EventKind::ToolError => response::none().tool_output(json!("HOOK")),
        EventKind::PreModel => response::none().model_request(json!({"systemPrompt": "HOOK"})),
        EventKind::PostModel => response::none().model_response(json!({"text": "HOOK"})),
        EventKind::ToolSelection => response::none().tools(SelectionMode::Auto, ["Read"]),
        _ => response::none().context("HOOK"),
    };
    match action {
        "modified" => changed.into(),
        "block" => response::deny("HOOK").into(),
        "retry" if time == 1 => response::retry(Duration::from_millis(2)).into(),
        "continue" | "retry" => nothing.into(),
        "skip" => response::skip().into(),
        "stop" => nothing.stop("HOOK").into(),
        "ask" => response::ask("HOOK").into(),
        other => panic!("{other}"),
    }
}

/// Runs a session with one action for one kind of event. Returns a line that describes the result.
async fn run_case(kind: EventKind, action: &'static str) -> String {
    let (builder, script) = setup_for(kind);
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let says = Hook::on("says", kind).run(move |_| {
        let time = count.fetch_add(1, Ordering::Relaxed) + 1;
        async move { hook_output(kind, action, time) }
    });
    // A hook with a lower priority, which the action `skip` skips.
    let later = Hook::on("later", kind).priority(9).run(|_| async { response::none().message("LATER") });
    let (ended, test) = match builder.hook(says).hook(later).start(script).await {
        Ok(test) => (test.prompt("do it").await, Some(test)),
        Err(ended) => (Err(ended), None),
    };
    let mut line = match &ended {
        Ok(text) => format!("said {text:?}"),
        Err(ended) => ended.to_string(),
    };
    if let Some(test) = test {
        if ended.is_ok() || !matches!(ended, Err(TurnError::Unguarded(_))) {
            test.session.end("exit").await.unwrap();
        }
        let _ = write!(line, "{}", describe_log(&test, kind));
    }
    format!("{kind:<19} {action:<9} {line}")
}

fn describe_log(test: &TestSession, kind: EventKind) -> String {
    let mut line = String::new();
    for (kind, word) in [(EventKind::PostTool, "ran"), (EventKind::ToolError, "failed")] {
        let calls = test.log.calls_of(kind);
        let about = calls.iter().filter_map(|call| call.event.tool.as_ref());
        let about: Vec<_> =
            about.map(|tool| if tool.name == "Task" { "Task".into() } else { tool.gist() }).collect();
        if !about.is_empty() {
            let _ = write!(line, "; {word} {}", about.join(", ").replace("echo x >> tries; ", ""));
        }
    }
    let asked = test.log.questions.lock().unwrap().len();
    if asked > 0 {
        let _ = write!(line, "; the user was asked {asked}×");
    }
    let requests = test.log.requests.lock().unwrap();
    let affected = requests
        .iter()
        .filter(|request| format!("{:?}{:?}", request.system, request.messages).contains("HOOK"))
        .count();
    if affected > 0 {
        let _ = write!(line, "; in {affected} model requests");
    }
    let fired = test.log.calls_of(kind).len();
    if fired > 1 {
        let _ = write!(line, "; fired {fired}×");
    }
    let outcomes = test.log.outcomes.lock().unwrap();
    if outcomes.iter().all(|outcome| outcome.message_text().is_none()) {
        line += "; later hooks were skipped";
    }
    if outcomes.iter().any(|outcome| outcome.decision == Decision::Deny) && !line.contains("HOOK") {
        line += "; denied";
    }
    line
}

#[tokio::test]
async fn every_action_is_honoured_at_every_event() {
    let mut table = String::new();
    for kind in EventKind::ALL.iter().filter(|kind| **kind != EventKind::Other) {
        for action in ACTIONS {
            table += &run_case(*kind, action).await;
            table.push('\n');
        }
        table.push('\n');
    }
    insta::assert_snapshot!(table);
}
