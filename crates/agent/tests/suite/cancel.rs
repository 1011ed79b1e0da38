// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks that cancelling leaves no process running.

use std::time::{Duration, Instant};
use tenterhook_test_support::{HANG_TIMEOUT, assert_no_hang};

use tenterhook_agent::{CancelToken, PermissionMode, TurnError};
use tenterhook_engine::{Hook, response};
use tenterhook_event::EventKind;

use crate::fixture::test;

/// Whether a process is running. A zombie is not considered running.
fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').next());
    state.is_some_and(|state| !matches!(state, "Z" | "X" | ""))
}

async fn wait_until(condition: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(5) {
        if condition() {
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
    let cancel = CancelToken::new();
    let file = |name: &str| std::fs::read_to_string(test.dir.path().join(name)).unwrap_or_default();
    let (ended, ()) = tokio::join!(test.session.prompt("go", &cancel), async {
        assert!(wait_until(|| file("self").ends_with('\n')).await, "it runs");
        cancel.cancel();
    });
    assert_eq!(ended, Err(TurnError::Cancelled));
    for name in ["child", "self"] {
        let pid = file(name).trim().to_owned();
        assert!(!pid.is_empty());
        assert!(wait_until(|| !is_running(&pid)).await, "{name} {pid} is still running");
    }
    assert_eq!(test.prompt("and now?").await.unwrap(), "I am back.");
    test.session.end("exit").await.unwrap();
    let last = test.log.last_messages();
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
    let posted = test.log.calls_of(EventKind::PostTool);
    let pid =
        posted[0].event.detail.tool_output.as_ref().unwrap()["output"].as_str().unwrap().trim().to_owned();
    assert!(wait_until(|| !is_running(&pid)).await, "{pid} is still running");
}

#[tokio::test]
async fn every_wait_can_be_cancelled() {
    // The session waits for the model, for a hook, for a retry and for a subagent's tool; each wait is cancelled.
    let slow_hook = Hook::on("slow", EventKind::PreTool).run(|_| async {
        tokio::time::sleep(HANG_TIMEOUT * 2).await;
        response::none()
    });
    let again = Hook::on("again", EventKind::ToolError).run(|_| async { response::retry(HANG_TIMEOUT * 2) });
    let within = "{ Task: { description: d, prompt: p, subagent_type: general } }";
    let cases = [
        (test(), "turns: [{ say: late, pause_ms: 300000 }]".to_owned()),
        (test().hook(slow_hook), "turns: [{ call: { TodoWrite: { todos: [] } } }]".to_owned()),
        (test().hook(again), "turns: [{ call: { Read: { file_path: nowhere } } }]".to_owned()),
        (
            test().set(|settings| settings.mode = PermissionMode::BypassPermissions),
            format!(
                "turns: [{{ call: {within} }}]\nsubagents: {{ general: [{{ call: {{ Bash: {{ command: sleep 300 }} }} }}] }}"
            ),
        ),
    ];
    for (builder, script) in cases {
        let test = builder.start(&script).await.unwrap();
        let cancel = CancelToken::new();
        let began = Instant::now();
        let (ended, ()) = tokio::join!(test.session.prompt("go", &cancel), async {
            tokio::time::sleep(Duration::from_millis(60)).await;
            cancel.cancel();
        });
        assert_eq!(ended, Err(TurnError::Cancelled), "{script}");
        assert_no_hang(began, &script);
    }
}
