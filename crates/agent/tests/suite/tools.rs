// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Calls every tool as the model does.

use serde_json::{Value, json};
use tenterhook_agent::{CancelToken, PermissionMode};

use crate::fixture::{TestSession, test};

async fn start_session() -> TestSession {
    let builder = test().set(|settings| settings.mode = PermissionMode::BypassPermissions);
    builder.start("turns: [{ say: hi }]").await.unwrap()
}

async fn run_tool(test: &TestSession, tool: &str, args: Value) -> String {
    let done = test.session.execute_tool(tool, args, &CancelToken::new()).await.unwrap();
    let mark = if done.success { "✓" } else { "✗" };
    let code = done.exit_code.map(|code| format!(" ({code})")).unwrap_or_default();
    format!("{mark}{code} {}", done.output.replace(&test.dir.path().display().to_string(), "/work"))
}

#[tokio::test]
async fn files_are_written_read_changed_and_found() {
    let test = start_session().await;
    let mut results = Vec::new();
    for (tool, args) in [
        ("Write", json!({"file_path": "src/a.rs", "content": "fn one() {}\nfn two() {}\nfn one() {}\n"})),
        ("Write", json!({"file_path": "src/b.txt", "content": "One\n"})),
        ("Read", json!({"file_path": "src/a.rs", "offset": 2, "limit": 1})),
        ("Read", json!({"file_path": "src/a.rs", "offset": 9})),
        ("Read", json!({"file_path": "nowhere"})),
        ("Read", json!({"file_path": "src"})),
        ("Read", json!({"file_path": 7})),
        ("Edit", json!({"file_path": "src/a.rs", "old_string": "one", "new_string": "three"})),
        ("Edit", json!({"file_path": "src/a.rs", "old_string": "two", "new_string": "four"})),
        ("Edit", json!({"file_path": "src/a.rs", "old_string": "nothing", "new_string": "x"})),
        (
            "Edit",
            json!({"file_path": "src/a.rs", "old_string": "one", "new_string": "three", "replace_all": true}),
        ),
        ("Glob", json!({"pattern": "**/*.rs"})),
        ("Glob", json!({"pattern": "*.md"})),
        ("Grep", json!({"pattern": "ONE|four", "-i": true, "output_mode": "content"})),
        ("Grep", json!({"pattern": "three", "glob": "*.rs", "output_mode": "count"})),
        ("Grep", json!({"pattern": "three", "glob": "*.txt"})),
        ("Grep", json!({"pattern": "("})),
        (
            "TodoWrite",
            json!({"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]}),
        ),
        ("TodoWrite", json!({"todos": [{"content": "a", "status": "done"}]})),
        ("Nonsense", json!({})),
    ] {
        results.push(format!("{tool}: {}", run_tool(&test, tool, args).await));
    }
    insta::assert_snapshot!(results.join("\n"));
}

#[tokio::test]
async fn commands_report_their_exit_and_time_out() {
    let test = start_session().await;
    let mut results = Vec::new();
    for args in [
        json!({"command": "echo out; echo err >&2"}),
        json!({"command": "echo no >&2; exit 4"}),
        json!({"command": "pwd"}),
        json!({"command": "kill -9 $$"}),
        json!({"command": "sleep 30", "timeout": 50}),
        json!({"command": "cat"}),
        json!({"cmd": "ls"}),
    ] {
        results.push(run_tool(&test, "Bash", args).await);
    }
    insta::assert_snapshot!(results.join("\n"));
    let long = run_tool(&test, "Bash", json!({"command": "yes | head -c 200000"})).await;
    assert!(long.len() < 31_000 && long.contains("more characters were left out"), "{}", long.len());
}
