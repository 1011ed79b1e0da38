// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Seed 000: common patterns, how the desktop program Chorus uses them, and best practices.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_engine::{Engine, response};
use tenterhook_event::EventKind::{PostTool, PreTool, Prompt, Stop, SubagentStop};
use tenterhook_event::{Decision, Event, TraceStatus};

use super::{Notes, argument, event, fire, fire_profile, printing_command, tool, tool_name};
use crate::context::TestContext;

// Seed 000, "Log File Changes".
// seed: 000-042
#[tokio::test]
async fn log_file_changes() {
    let changed = Notes::new();
    let emit = changed.clone();
    let engine = Engine::builder()
        .on(PostTool)
        .matching("Write|Edit")
        .run(move |event| {
            emit.add(argument(&event, "file_path"));
            async { response::none() }
        })
        .build()
        .unwrap();
    for name in ["Write", "Read", "Edit", "MultiEdit"] {
        fire(&engine, tool(PostTool, name, json!({"file_path": format!("/{name}.ts")}))).await;
    }
    assert_eq!(changed.all(), ["/Write.ts", "/Edit.ts"]);
}

// Seed 000, "Track Todo Updates".
// seed: 000-043
#[tokio::test]
async fn track_todo_updates() {
    let updates = Notes::new();
    let emit = updates.clone();
    let engine = Engine::builder()
        .on(PostTool)
        .matching("TodoWrite")
        .run(move |event| {
            emit.add(event.tool.as_ref().unwrap().args["todos"].clone());
            async { response::none() }
        })
        .build()
        .unwrap();
    let todos = json!([{"content": "A", "status": "completed"}]);
    fire(&engine, tool(PostTool, "TodoWrite", json!({"todos": todos}))).await;
    fire(&engine, tool(PostTool, "Write", json!({"todos": []}))).await;
    assert_eq!(updates.all(), [todos]);
}

// Seed 000, "Block Dangerous Commands".
// seed: 000-044, 003-061
#[tokio::test]
async fn block_dangerous_commands() {
    let engine = Engine::builder()
        .on(PreTool)
        .matching("Bash")
        .run(|event| async move {
            if argument(&event, "command").contains("rm -rf") {
                return response::deny("Dangerous command blocked");
            }
            response::none()
        })
        .build()
        .unwrap();
    let outcome = fire(&engine, tool(PreTool, "Bash", json!({"command": "cd /tmp && rm -rf x"}))).await;
    assert_eq!(outcome.decision, Decision::Deny);
    assert_eq!(outcome.reason().as_deref(), Some("Dangerous command blocked"));
    assert_eq!(
        fire(&engine, tool(PreTool, "Bash", json!({"command": "rm x"}))).await.decision,
        Decision::None
    );
    let other = fire(&engine, tool(PreTool, "Write", json!({"command": "rm -rf x"}))).await;
    assert_eq!((other.decision, other.trace.len()), (Decision::None, 0));
}

// Seed 000, "Block Dangerous Commands", as a command hook in Claude Code's own settings.
// seed: 000-044
#[test]
fn block_dangerous_commands_in_a_settings_file() {
    let test = TestContext::new();
    let deny = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "Dangerous command blocked",
    }});
    let script =
        test.write("guard.sh", &format!("case $(cat) in *'rm -rf'*) {};; esac\n", printing_command(&deny)));
    let settings = json!({"hooks": {"PreToolUse": [
        {"matcher": "Bash", "hooks": [{"type": "command", "command": format!("sh '{}'", script.display())}]},
    ]}});
    let decision = |tool: &str, command: &str| {
        let input = json!({"cwd": test.path("work"), "tool_name": tool, "tool_input": {"command": command}});
        fire_profile(&test, "claude", "PreToolUse", &settings, &input)["decision"].clone()
    };
    assert_eq!(decision("Bash", "rm -rf x"), "deny");
    assert_eq!(decision("Bash", "rm x"), "none");
    assert_eq!(decision("BashOutput", "rm -rf x"), "none");
}

// Seed 000, "Modify Tool Input".
// seed: 000-045
#[tokio::test]
async fn modify_tool_input_adds_a_header_to_all_written_files() {
    let engine = Engine::builder()
        .on(PreTool)
        .matching("Write")
        .run(|event| async move {
            let mut input = event.tool.as_ref().unwrap().args.clone();
            input["content"] = json!(format!("// Auto-generated\n{}", argument(&event, "content")));
            response::allow("").tool_input(input)
        })
        .build()
        .unwrap();
    let outcome = fire(&engine, tool(PreTool, "Write", json!({"file_path": "/a.ts", "content": "x"}))).await;
    assert_eq!(outcome.decision, Decision::Allow);
    assert_eq!(
        outcome.tool_input,
        Some(json!({"file_path": "/a.ts", "content": "// Auto-generated\nx"})),
        "the rest of the input is kept"
    );
}

// Seed 000, "Subagent Coordination".
// seed: 000-046
#[tokio::test]
async fn subagent_coordination_notifies_the_orchestrator() {
    let completed = Notes::new();
    let notify = completed.clone();
    let engine = Engine::builder()
        .on(SubagentStop)
        .run(move |event| {
            notify.add(event.agent.id.clone().unwrap());
            async { response::none() }
        })
        .build()
        .unwrap();
    let mut done = event(SubagentStop);
    done.agent.id = Some("agent-7".into());
    assert_eq!(fire(&engine, done).await.decision, Decision::None);
    fire(&engine, event(Stop)).await;
    assert_eq!(completed.all(), ["agent-7"]);
}

// Seed 000, "Add Context to Prompts".
// seed: 000-047
#[tokio::test]
async fn add_context_to_prompts() {
    let engine = Engine::builder()
        .on(Prompt)
        .run(|event| async move { response::none().context(format!("Current time: {}", event.ts)) })
        .build()
        .unwrap();
    let outcome = fire(&engine, event(Prompt)).await;
    assert_eq!(outcome.context_text().as_deref(), Some("Current time: 1970-01-01T00:00:00.000Z"));
    assert_eq!(outcome.decision, Decision::None);
}

/// Chorus's state: files and to-dos of each conversation.
#[derive(Default)]
struct ChorusStore {
    files: BTreeMap<String, Vec<String>>,
    todos: BTreeMap<String, Value>,
}

fn in_conversation(mut event: Event, id: &str, tool_use: &str) -> Event {
    event.harness_session_id = Some(id.into());
    event.tool_use_id = Some(tool_use.into());
    event
}

// Seed 000, "File Change Tracking", "TodoWrite Interception", "Renderer State Updates".
// seed: 000-055, 000-056, 000-057, 000-062
#[tokio::test]
async fn chorus_tracks_files_and_todos_of_each_conversation() {
    let (sent, store) = (Notes::new(), Arc::new(Mutex::new(ChorusStore::default())));
    let (send, files, todos) = (sent.clone(), Arc::clone(&store), Arc::clone(&store));
    let engine = Engine::builder()
        .on(PostTool)
        .run(move |event| {
            if ["Write", "Edit"].contains(&tool_name(&event).as_str()) {
                let (conversation, file) =
                    (event.harness_session_id.clone().unwrap(), argument(&event, "file_path"));
                send.add((conversation.clone(), file.clone(), event.tool_use_id.clone().unwrap()));
                let mut store = files.lock().unwrap();
                let files = store.files.entry(conversation).or_default();
                if !files.contains(&file) {
                    files.push(file);
                }
            }
            async { response::none() }
        })
        .on(PostTool)
        .matching("TodoWrite")
        .run(move |event| {
            let list = event.tool.as_ref().unwrap().args["todos"].clone();
            todos.lock().unwrap().todos.insert(event.harness_session_id.clone().unwrap(), list);
            async { response::none() }
        })
        .build()
        .unwrap();
    for (tool_use, name, path) in
        [("t1", "Write", "/a"), ("t2", "Edit", "/a"), ("t3", "Edit", "/b"), ("t4", "Read", "/c")]
    {
        let event = tool(PostTool, name, json!({"file_path": path}));
        fire(&engine, in_conversation(event, "c1", tool_use)).await;
    }
    for todos in [json!([{"content": "A"}, {"content": "B"}]), json!([{"content": "B"}])] {
        let event = tool(PostTool, "TodoWrite", json!({"todos": todos}));
        fire(&engine, in_conversation(event, "c1", "t5")).await;
    }
    let sent = sent.all();
    let sent: Vec<_> = sent.iter().map(|(c, f, t)| (c.as_str(), f.as_str(), t.as_str())).collect();
    assert_eq!(sent, [("c1", "/a", "t1"), ("c1", "/a", "t2"), ("c1", "/b", "t3")]);
    let store = store.lock().unwrap();
    assert_eq!(store.files["c1"], ["/a", "/b"], "each one once");
    assert_eq!(store.todos["c1"], json!([{"content": "B"}]), "the whole list is replaced");
}

// Seed 000, "1. Keep Hooks Fast".
// seed: 000-053
#[tokio::test]
async fn heavy_processing_need_not_hold_up_the_agent() {
    let finished = Notes::new();
    let analysed = finished.clone();
    let engine = Engine::builder()
        .on(PostTool)
        .observing()
        .run(move |_| {
            let analysed = analysed.clone();
            async move {
                tokio::time::sleep(Duration::from_millis(200)).await;
                analysed.add(());
                response::deny("nobody hears this")
            }
        })
        .build()
        .unwrap();
    let outcome = fire(&engine, tool(PostTool, "Write", json!({}))).await;
    assert_eq!((outcome.decision, outcome.trace[0].status), (Decision::None, TraceStatus::Detached));
    assert_eq!(finished.all().len(), 0);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(finished.all().len(), 1);
}

// Seed 000, "2. Handle Errors Gracefully".
// seed: 000-065
#[tokio::test]
async fn an_error_in_a_hook_does_not_block_execution() {
    let engine = Engine::builder()
        .on(PostTool)
        .id("notify")
        .run(|event| async move {
            assert!(event.tool.is_none(), "the notification could not be sent");
            response::none()
        })
        .build()
        .unwrap();
    let outcome = fire(&engine, tool(PostTool, "Write", json!({}))).await;
    assert_eq!(outcome.decision, Decision::None);
    assert_eq!(outcome.trace[0].status, TraceStatus::Failed, "the failure is visible");
}

// Seed 000, "3. Use Matchers to Reduce Overhead".
// seed: 000-066
#[tokio::test]
async fn a_matcher_keeps_a_hook_from_being_called_at_all() {
    let calls = Notes::new();
    let called = calls.clone();
    let engine = Engine::builder()
        .on(PreTool)
        .matching("Write")
        .run(move |event| {
            called.add(tool_name(&event));
            async { response::none() }
        })
        .build()
        .unwrap();
    for name in ["Read", "Write", "Bash"] {
        fire(&engine, tool(PreTool, name, json!({}))).await;
    }
    assert_eq!(calls.all(), ["Write"]);
}

/// Adds a note when it is dropped.
struct DropNote(Notes<&'static str>);

impl Drop for DropNote {
    fn drop(&mut self) {
        self.0.add("aborted");
    }
}

// Seed 000, "4. Respect AbortSignal": in Rust, dropping the future is the signal.
// seed: 000-064
#[tokio::test]
async fn a_hook_out_of_time_is_aborted_where_it_waits() {
    let notes = Notes::new();
    let signal = notes.clone();
    let engine = Engine::builder()
        .on(PreTool)
        .timeout(Duration::from_millis(20))
        .run(move |_| {
            let signal = DropNote(signal.clone());
            async move {
                tokio::time::sleep(Duration::from_secs(30)).await;
                signal.0.add("fetched");
                response::none()
            }
        })
        .build()
        .unwrap();
    fire(&engine, tool(PreTool, "Bash", json!({}))).await;
    assert_eq!(notes.all(), ["aborted"]);
}
