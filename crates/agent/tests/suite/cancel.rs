// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whoever says stop leaves nothing behind.

use std::time::{Duration, Instant};

use tenterhook_agent::{Cancel, Ended, PermissionMode};
use tenterhook_engine::{Hook, say};
use tenterhook_event::EventKind;

use crate::common::test;

/// Whether a process is still there, other than as one that nobody has waited for.
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').next());
    state.is_some_and(|state| !matches!(state, "Z" | "X" | ""))
}

async fn until(what: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(5) {
        if what() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}

#[tokio::test]
async fn a_command_ends_with_its_children_and_the_conversation_can_go_on() {
    let script = r#"
turns:
  - call: { Bash: { command: "sleep 60 & echo $! > child; echo $$ > self; sleep 60" } }
  - say: I am back.
"#;
    let test =
        test().set(|settings| settings.mode = PermissionMode::BypassPermissions).start(script).await.unwrap();
    let cancel = Cancel::new();
    let file = |name: &str| std::fs::read_to_string(test.dir.path().join(name)).unwrap_or_default();
    let (ended, ()) = tokio::join!(test.session.prompt("go", &cancel), async {
        assert!(until(|| file("self").ends_with('\n')).await, "it runs");
        cancel.cancel();
    });
    assert_eq!(ended, Err(Ended::Cancelled));
    for name in ["child", "self"] {
        let pid = file(name).trim().to_owned();
        assert!(!pid.is_empty());
        assert!(until(|| !lives(&pid)).await, "{name} {pid} is still there");
    }
    assert_eq!(test.prompt("and now?").await.unwrap(), "I am back.");
    test.session.end("exit").await.unwrap();
    let last = test.seen.last_messages();
    let text = format!("{last:?}");
    assert!(text.contains("not run: cancelled"), "the call has an answer: {text}");
}

#[tokio::test]
async fn what_a_command_leaves_running_ends_with_it() {
    let script = r#"
turns:
  - call: { Bash: { command: "sleep 60 >/dev/null 2>&1 & echo $!" } }
  - say: done
"#;
    let test =
        test().set(|settings| settings.mode = PermissionMode::BypassPermissions).start(script).await.unwrap();
    test.prompt("go").await.unwrap();
    let posted = test.seen.of(EventKind::PostTool);
    let pid =
        posted[0].event.detail.tool_output.as_ref().unwrap()["output"].as_str().unwrap().trim().to_owned();
    assert!(until(|| !lives(&pid)).await, "{pid} is still there");
}

#[tokio::test]
async fn every_wait_can_be_cancelled() {
    // The model, a hook, a retry, a subagent's tool.
    let slow_hook = Hook::on("slow", EventKind::PreTool).run(|_| async {
        tokio::time::sleep(Duration::from_secs(40)).await;
        say::nothing()
    });
    let again =
        Hook::on("again", EventKind::ToolError).run(|_| async { say::retry(Duration::from_secs(40)) });
    let within = "{ Task: { description: d, prompt: p, subagent_type: general } }";
    let scenes = [
        (test(), "turns: [{ say: late, pause_ms: 40000 }]".to_owned()),
        (test().hook(slow_hook), "turns: [{ call: { TodoWrite: { todos: [] } } }]".to_owned()),
        (test().hook(again), "turns: [{ call: { Read: { file_path: nowhere } } }]".to_owned()),
        (
            test().set(|settings| settings.mode = PermissionMode::BypassPermissions),
            format!(
                "turns: [{{ call: {within} }}]\nsubagents: {{ general: [{{ call: {{ Bash: {{ command: sleep 50 }} }} }}] }}"
            ),
        ),
    ];
    for (builder, script) in scenes {
        let test = builder.start(&script).await.unwrap();
        let cancel = Cancel::new();
        let began = Instant::now();
        let (ended, ()) = tokio::join!(test.session.prompt("go", &cancel), async {
            tokio::time::sleep(Duration::from_millis(60)).await;
            cancel.cancel();
        });
        assert_eq!(ended, Err(Ended::Cancelled), "{script}");
        assert!(began.elapsed() < Duration::from_secs(20), "half of the shortest wait: {script}");
    }
}
