// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every answer a hook can give, at every gate there is.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use tenterhook_agent::{Ended, PermissionMode};
use tenterhook_engine::{Heard, Hook, say};
use tenterhook_event::{Decision, EventKind, SelectionMode};

use crate::common::{Builder, Test, test};

const ACTIONS: &[&str] = &["continue", "modified", "block", "retry", "skip", "stop", "ask"];

/// A tool, and the last word.
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

fn scene(kind: EventKind) -> (Builder, &'static str) {
    let free = |builder: Builder| builder.set(|settings| settings.mode = PermissionMode::BypassPermissions);
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

/// The hook's answer; the first time only where it would go on for ever.
fn answer(kind: EventKind, action: &str, time: u32) -> Heard {
    let nothing = say::nothing();
    if time > 1 && matches!(kind, EventKind::Stop | EventKind::SubagentStop) {
        return nothing.into();
    }
    let changed = match kind {
        EventKind::PreTool | EventKind::PermissionRequest => {
            say::nothing().tool_input(json!({"command": "echo HOOK"}))
        }
        EventKind::PostTool | EventKind::ToolError => say::nothing().tool_output(json!("HOOK")),
        EventKind::PreModel => say::nothing().model_request(json!({"systemPrompt": "HOOK"})),
        EventKind::PostModel => say::nothing().model_response(json!({"text": "HOOK"})),
        EventKind::ToolSelection => say::nothing().tools(SelectionMode::Auto, ["Read"]),
        _ => say::nothing().context("HOOK"),
    };
    match action {
        "modified" => changed.into(),
        "block" => say::deny("HOOK").into(),
        "retry" if time == 1 => say::retry(Duration::from_millis(2)).into(),
        "continue" | "retry" => nothing.into(),
        "skip" => say::skip().into(),
        "stop" => nothing.stop("HOOK").into(),
        "ask" => say::ask("HOOK").into(),
        other => panic!("{other}"),
    }
}

/// What came of one answer at one gate, in one line.
async fn played(kind: EventKind, action: &'static str) -> String {
    let (builder, script) = scene(kind);
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let says = Hook::on("says", kind).run(move |_| {
        let time = count.fetch_add(1, Ordering::Relaxed) + 1;
        async move { answer(kind, action, time) }
    });
    // A later hook, which `skip` passes over.
    let later = Hook::on("later", kind).priority(9).run(|_| async { say::nothing().message("LATER") });
    let (ended, test) = match builder.hook(says).hook(later).start(script).await {
        Ok(test) => (test.prompt("do it").await, Some(test)),
        Err(ended) => (Err(ended), None),
    };
    let mut line = match &ended {
        Ok(text) => format!("said {text:?}"),
        Err(ended) => ended.to_string(),
    };
    if let Some(test) = test {
        if ended.is_ok() || !matches!(ended, Err(Ended::Unguarded(_))) {
            test.session.end("exit").await.unwrap();
        }
        let _ = write!(line, "{}", seen(&test, kind));
    }
    format!("{kind:<19} {action:<9} {line}")
}

fn seen(test: &Test, kind: EventKind) -> String {
    let mut line = String::new();
    for (kind, word) in [(EventKind::PostTool, "ran"), (EventKind::ToolError, "failed")] {
        let calls = test.seen.of(kind);
        let about = calls.iter().filter_map(|call| call.event.tool.as_ref());
        let about: Vec<_> =
            about.map(|tool| if tool.name == "Task" { "Task".into() } else { tool.gist() }).collect();
        if !about.is_empty() {
            let _ = write!(line, "; {word} {}", about.join(", ").replace("echo x >> tries; ", ""));
        }
    }
    let asked = test.seen.questions.lock().unwrap().len();
    if asked > 0 {
        let _ = write!(line, "; a person was asked {asked}×");
    }
    let requests = test.seen.requests.lock().unwrap();
    let heard = requests
        .iter()
        .filter(|request| format!("{:?}{:?}", request.system, request.messages).contains("HOOK"))
        .count();
    if heard > 0 {
        let _ = write!(line, "; the model read it {heard}×");
    }
    let told = test.seen.of(kind).len();
    if told > 1 {
        let _ = write!(line, "; told {told}×");
    }
    let outcomes = test.seen.outcomes.lock().unwrap();
    if outcomes.iter().all(|outcome| outcome.message_text().is_none()) {
        line += "; later hooks did not count";
    }
    if outcomes.iter().any(|outcome| outcome.decision == Decision::Deny) && !line.contains("HOOK") {
        line += "; denied";
    }
    line
}

#[tokio::test]
async fn every_answer_is_honoured_at_every_gate() {
    let mut table = String::new();
    for kind in EventKind::ALL.iter().filter(|kind| **kind != EventKind::Other) {
        for action in ACTIONS {
            table += &played(*kind, action).await;
            table.push('\n');
        }
        table.push('\n');
    }
    insta::assert_snapshot!(table);
}
