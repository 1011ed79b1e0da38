// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Seed 000's panel, for each harness whose payloads were captured and for the reference agent's own events.

use super::*;
use crate::context::TestContext;

#[test]
fn claude_code() {
    let served = Served::new();
    let of = |name: &str| captured("claude-code", name);
    let failing = json!({"tool_input": {"command": "exit 3"}, "tool_use_id": "toolu_fake_main_4_0"});
    let second = json!({"tool_use_id": "t-2", "tool_input": {"subject": "second", "description": "d"}});
    let answered = with(second.clone(), json!({"tool_response": {"task": {"id": "2", "subject": "second"}}}));
    replay(
        &served,
        "claude-code",
        &[
            of("SessionStart"),
            of("UserPromptSubmit"),
            of("PreToolUse.Write"),
            of("PostToolUse.Write"),
            of("PreToolUse.Read"),
            of("PostToolUse.Read"),
            of("PreToolUse.Edit"),
            of("PostToolUse.Edit"),
            with(of("PreToolUse.Bash"), failing),
            of("PostToolUseFailure.Bash"),
            of("PreToolUse.TaskCreate"),
            of("PostToolUse.TaskCreate"),
            with(of("PreToolUse.TaskCreate"), second),
            with(of("PostToolUse.TaskCreate"), answered),
            of("PreToolUse.TaskUpdate"),
            of("PostToolUse.TaskUpdate"),
            of("PreToolUse.Agent"),
            of("SubagentStart"),
            of("PreToolUse.Bash.in-subagent"),
            of("PostToolUse.Bash.in-subagent"),
            of("SubagentStop"),
            of("PostToolUse.Agent"),
            of("Stop"),
            of("SessionEnd"),
        ],
    );
    let diff = served.json("/v1/sessions/s-1/diff?path=a.txt");
    let diffs: Vec<_> =
        diff["changes"].as_array().unwrap().iter().map(|change| change["diff"].as_str().unwrap()).collect();
    assert_eq!(diffs, ["@@ -0,0 +1,2 @@\n+one\n+two\n", "@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n"]);
    let session = settled(served);
    assert_eq!(
        panel(&session),
        [
            "go | - | other",
            r#"changed_files: a.txt 2 ["Write","Edit"] 3 1 false -"#,
            "changes: Write write a.txt done 2 0 toolu_fake_main_1_0 -",
            "changes: Edit edit a.txt done 1 1 toolu_fake_main_3_0 -",
            "todo_items: 1 completed subj doing",
            "todo_items: 2 pending second -",
            "agents: aa7e0758fcee4e76e general-purpose 4 1 0 15",
            "todos: 1/2",
            "tool: Agent 1 1 0 0",
            "tool: Bash 2 1 1 0",
            "tool: Edit 1 1 0 0",
            "tool: Read 1 1 0 0",
            "tool: TaskCreate 2 2 0 0",
            "tool: TaskUpdate 1 1 0 0",
            "tool: Write 1 1 0 0",
            "usage: {}",
        ]
    );
}

#[test]
fn codex() {
    let served = Served::new();
    let of = |name: &str| captured("codex", name);
    let update = "*** Begin Patch\n*** Update File: new.txt\n@@\n-patched line\n+patched twice\n+more\n*** Delete File: sh.txt\n*** End Patch\n";
    let patch = json!({"tool_use_id": "call_2", "tool_input": {"command": update}});
    let plan = json!({
        "tool_name": "update_plan", "tool_use_id": "call_3",
        "tool_input": {"explanation": "as asked", "plan": [{"step": "look", "status": "completed"}, {"step": "mend", "status": "in_progress"}, {"step": "test", "status": "pending"}]},
    });
    replay(
        &served,
        "codex",
        &[
            of("SessionStart"),
            of("UserPromptSubmit"),
            of("PreToolUse.Bash"),
            of("PostToolUse.Bash"),
            of("PreToolUse.apply_patch"),
            of("PostToolUse.apply_patch"),
            with(of("PreToolUse.apply_patch"), patch.clone()),
            with(of("PostToolUse.apply_patch"), patch),
            with(of("PreToolUse.Bash"), plan.clone()),
            with(of("PostToolUse.Bash"), plan),
            of("Stop"),
            of("SessionEnd"),
        ],
    );
    let diff = served.json("/v1/sessions/s-1/diff?path=new.txt");
    let diffs: Vec<_> =
        diff["changes"].as_array().unwrap().iter().map(|change| change["diff"].as_str().unwrap()).collect();
    assert_eq!(diffs, ["+patched line\n", "@@\n-patched line\n+patched twice\n+more\n"]);
    let shell = served.json("/v1/sessions/s-1/diff?path=sh.txt");
    assert_eq!(
        (&shell["changes"][0]["diff"], &shell["changes"][0]["why"]),
        (&json!(null), &json!("unknown"))
    );
    let session = settled(served);
    assert_eq!(
        panel(&session),
        [
            "do the thing | gpt-5.5 | other",
            r#"changed_files: sh.txt 2 ["Bash","apply_patch"] 0 0 true -"#,
            r#"changed_files: new.txt 2 ["apply_patch"] 3 1 false -"#,
            "changes: Bash write sh.txt done - - call_0_0 -",
            "changes: apply_patch write new.txt done 1 0 call_1_0 -",
            "changes: apply_patch write new.txt done 2 1 call_2 -",
            "changes: apply_patch delete sh.txt done - - call_2 -",
            "todo_items: - completed look -",
            "todo_items: - in_progress mend -",
            "todo_items: - pending test -",
            "todos: 1/3",
            "tool: Bash 1 1 0 0",
            "tool: apply_patch 2 2 0 0",
            "tool: update_plan 1 1 0 0",
            "usage: {}",
        ]
    );
}

#[test]
fn gemini_cli() {
    let test = TestContext::new();
    // A model that the table compiled in does not price.
    let own = "version: 1\nprices:\n  - {model: gemini-2.5-flash, input: 0.3, output: 2.5}\n";
    std::fs::write(test.home().join("prices.yaml"), own).unwrap();
    let served = Served::in_home(test, &[]);
    let of = |name: &str| captured("gemini", name);
    let todos = json!({
        "tool_name": "write_todos",
        "tool_input": {"todos": [{"description": "look", "status": "completed"}, {"description": "mend", "status": "cancelled"}, {"description": "test", "status": "pending"}]},
    });
    let replaced = json!({
        "tool_name": "replace",
        "tool_input": {"file_path": "/home/dev/full/work/new.txt", "old_string": "written", "new_string": "replaced"},
    });
    let outside = json!({"tool_response": {"returnDisplay": {"originalContent": "somebody else\nwritten\n", "newContent": "somebody else\nreplaced\n"}}});
    replay(
        &served,
        "gemini",
        &[
            of("SessionStart"),
            of("BeforeAgent"),
            of("BeforeModel"),
            of("AfterModel"),
            of("BeforeTool.run_shell_command"),
            of("AfterTool.run_shell_command"),
            of("BeforeTool.write_file"),
            of("AfterTool.write_file"),
            of("BeforeTool.read_file"),
            of("AfterTool.read_file"),
            with(of("BeforeTool.write_file"), todos.clone()),
            with(of("AfterTool.write_file"), with(todos, json!({"tool_response": {"llmContent": "ok"}}))),
            with(of("BeforeTool.write_file"), replaced.clone()),
            with(of("AfterTool.write_file"), with(replaced, outside)),
            of("AfterModel"),
            of("AfterAgent"),
            of("SessionEnd"),
        ],
    );
    let diff = served.json("/v1/sessions/s-1/diff?path=new.txt");
    let diffs: Vec<_> =
        diff["changes"].as_array().unwrap().iter().map(|change| change["diff"].as_str().unwrap()).collect();
    assert_eq!(
        diffs,
        ["@@ -0,0 +1 @@\n+written\n", "@@ -1,2 +1,2 @@\n somebody else\n-written\n+replaced\n"]
    );
    let session = settled(served);
    assert_eq!(
        panel(&session),
        [
            "do the thing | gemini-2.5-flash | exit",
            r#"changed_files: sh.txt 1 ["run_shell_command"] 0 0 false -"#,
            r#"changed_files: new.txt 2 ["write_file","replace"] 2 1 false unseen"#,
            "changes: run_shell_command write sh.txt done - - - -",
            "changes: write_file write new.txt done 1 0 - -",
            "changes: replace edit new.txt done 1 1 - -",
            "todo_items: - completed look -",
            "todo_items: - cancelled mend -",
            "todo_items: - pending test -",
            "todos: 1/3",
            "tool: read_file 1 1 0 0",
            "tool: replace 1 1 0 0",
            "tool: run_shell_command 1 1 0 0",
            "tool: write_file 1 1 0 0",
            "tool: write_todos 1 1 0 0",
            r#"usage: {"answers":2,"context_tokens":100,"cost_usd":0.00011,"input_tokens":200,"output_tokens":20}"#,
        ]
    );
}

#[test]
fn the_reference_agent() {
    let served = Served::new();
    let number = std::cell::Cell::new(0);
    let fire = |kind: &str, native: &str, more: Value| {
        number.set(number.get() + 1);
        let event = json!({
            "v": 1, "id": format!("01M7F3GRZQ00000000000000{:02}", number.get()), "ts": format!("2026-11-15T08:00:{:02}.000Z", number.get()),
            "source": "agent", "event": kind, "native_event": native, "harness_session_id": "s-1", "cwd": "/work/shop", "project": "/work/shop",
            "agent": {"model": "scripted"},
        });
        let answer = served.post("/v1/events", &with(event, more));
        assert_eq!(answer.status, 200, "{answer:?}");
    };
    let call = |id: &str, name: &str, class: &str, args: Value| json!({"tool_use_id": id, "tool": {"name": name, "class": class, "args": args}});
    let ran = |call: &Value, output: Value| {
        with(call.clone(), json!({"detail": {"tool_output": output, "duration_ms": 5}}))
    };
    fire("session-start", "SessionStart", json!({"detail": {"cause": "startup"}}));
    fire("prompt", "UserPromptSubmit", json!({"detail": {"prompt": "\nTidy the shop up\nplease"}}));
    let answer = json!({"model": "scripted", "text": "…", "usage": {"input_tokens": 100, "output_tokens": 20, "context_limit": 1000}});
    fire("post-model", "GenerateEnd", json!({"detail": {"model_response": answer}}));
    let todos = call(
        "c1",
        "TodoWrite",
        "todo",
        json!({"todos": [
            {"content": "Tidy", "status": "completed", "activeForm": "Tidying"},
            {"content": "Test", "status": "in_progress", "activeForm": "Testing"},
            {"content": "Ship", "status": "pending", "activeForm": "Shipping"},
        ]}),
    );
    fire("pre-tool", "PreToolUse", todos.clone());
    fire("post-tool", "PostToolUse", ran(&todos, json!({"ok": true})));
    let write = call("c2", "Write", "write", json!({"file_path": "src/lib.rs", "content": "fn a() {}\n"}));
    fire("pre-tool", "PreToolUse", write.clone());
    fire("post-tool", "PostToolUse", ran(&write, json!({"type": "create"})));
    fire("pre-tool", "PreToolUse", call("c3", "Bash", "shell", json!({"command": "rm -rf /"})));
    let moved =
        call("c4", "Bash", "shell", json!({"command": "mv src/lib.rs src/shop.rs && echo done >> log.txt"}));
    fire("pre-tool", "PreToolUse", moved.clone());
    fire("post-tool", "PostToolUse", ran(&moved, json!({"exit_code": 0})));
    fire("session-end", "SessionEnd", json!({"detail": {"cause": "done"}}));
    let session = settled(served);
    assert_eq!(
        panel(&session),
        [
            "Tidy the shop up | scripted | done",
            r#"changed_files: src/lib.rs 2 ["Write","Bash"] 1 0 true -"#,
            r#"changed_files: src/shop.rs 1 ["Bash"] 0 0 false -"#,
            r#"changed_files: log.txt 1 ["Bash"] 0 0 false -"#,
            "changes: Write write src/lib.rs done 1 0 c2 -",
            "changes: Bash delete src/lib.rs done - - c4 -",
            "changes: Bash write src/shop.rs done - - c4 -",
            "changes: Bash write log.txt done - - c4 -",
            "todo_items: - completed Tidy Tidying",
            "todo_items: - in_progress Test Testing",
            "todo_items: - pending Ship Shipping",
            "denials: Bash rm -rf / other",
            "todos: 1/3",
            "tool: Bash 2 1 0 1",
            "tool: TodoWrite 1 1 0 0",
            "tool: Write 1 1 0 0",
            r#"usage: {"answers":1,"context_limit":1000,"context_share":0.1,"context_tokens":100,"input_tokens":100,"output_tokens":20,"unpriced":1}"#,
        ]
    );
}
