// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Seed 000's panel, for each harness whose payloads were captured, and for the reference agent.

use super::*;
use crate::context::TestContext;

#[test]
fn claude_code() {
    let served = RunningDaemon::new();
    let of = |name: &str| captured_payload("claude-code", name);
    let failing = json!({"tool_input": {"command": "exit 3"}, "tool_use_id": "toolu_fake_main_4_0"});
    let second = json!({"tool_use_id": "t-2", "tool_input": {"subject": "second", "description": "d"}});
    let answered =
        with_fields(second.clone(), json!({"tool_response": {"task": {"id": "2", "subject": "second"}}}));
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
            with_fields(of("PreToolUse.Bash"), failing),
            of("PostToolUseFailure.Bash"),
            of("PreToolUse.TaskCreate"),
            of("PostToolUse.TaskCreate"),
            with_fields(of("PreToolUse.TaskCreate"), second),
            with_fields(of("PostToolUse.TaskCreate"), answered),
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
    let session = assert_same_everywhere(served);
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
    let served = RunningDaemon::new();
    let of = |name: &str| captured_payload("codex", name);
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
            with_fields(of("PreToolUse.apply_patch"), patch.clone()),
            with_fields(of("PostToolUse.apply_patch"), patch),
            with_fields(of("PreToolUse.Bash"), plan.clone()),
            with_fields(of("PostToolUse.Bash"), plan),
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
    let session = assert_same_everywhere(served);
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
    // A model that the built-in price table does not contain.
    let own = "version: 1\nprices:\n  - {model: gemini-2.5-flash, input: 0.3, output: 2.5}\n";
    std::fs::write(test.home().join("prices.yaml"), own).unwrap();
    let served = RunningDaemon::in_home(test, &[]);
    let of = |name: &str| captured_payload("gemini", name);
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
            with_fields(of("BeforeTool.write_file"), todos.clone()),
            with_fields(
                of("AfterTool.write_file"),
                with_fields(todos, json!({"tool_response": {"llmContent": "ok"}})),
            ),
            with_fields(of("BeforeTool.write_file"), replaced.clone()),
            with_fields(of("AfterTool.write_file"), with_fields(replaced, outside)),
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
    let session = assert_same_everywhere(served);
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

/// Replies and calls of the reference agent's model, turn by turn.
const SCRIPT: &str = r#"
model: scripted-1
turns:
  - say: First a plan.
    call:
      TodoWrite:
        todos:
          - { content: Tidy, status: completed, activeForm: Tidying }
          - { content: Test, status: in_progress, activeForm: Testing }
          - { content: Ship, status: pending, activeForm: Shipping }
    usage: { input: 100, output: 20 }
  - { call: { Write: { file_path: src/lib.rs, content: "fn a() {}\nfn b() {}\n" } }, usage: { input: 200, output: 30 } }
  - { call: { Edit: { file_path: src/lib.rs, old_string: "fn b() {}\n", new_string: "" } }, usage: { input: 210, output: 10 } }
  - { call: { Bash: { command: rm -rf / } }, usage: { input: 220, output: 5 } }
  - { call: { Bash: { command: "mv src/lib.rs src/shop.rs && echo done >> log.txt" } }, usage: { input: 230, output: 6 } }
  - { call: { Bash: { command: exit 3 } }, usage: { input: 240, output: 7 } }
  - { call: { Task: { description: look, prompt: look around, subagent_type: general } }, usage: { input: 250, output: 8 } }
  - { say: Done., usage: { input: 260, output: 9 } }
subagents:
  general:
    - { call: { Read: { file_path: log.txt } }, usage: { input: 50, output: 2 } }
    - { say: It says done., usage: { input: 60, output: 3 } }
"#;

/// The sum of all numbers in the script that follow this word.
fn numbers_after(word: &str) -> u64 {
    let number =
        |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse::<u64>().unwrap();
    SCRIPT.split(word).skip(1).map(number).sum()
}

#[test]
fn the_reference_agent() {
    let served = RunningDaemon::new();
    let provider = format!("scripted:{}", served.test.write("script.yaml", SCRIPT).display());
    let said = ["agent", "run", "-p", "\nTidy the shop up\nplease", "--provider", &provider, "--json"];
    let ran = served.test.run(&[&said[..], &["--permission-mode", "bypassPermissions"]].concat());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let first: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    let id = first["session"].as_str().unwrap();
    // The files on disk show the agent's real changes, independently of the session panel.
    let on_disk = |name: &str| std::fs::read_to_string(served.test.path("work").join(name)).ok();
    assert_eq!(on_disk("src/shop.rs").as_deref(), Some("fn a() {}\n"));
    assert_eq!((on_disk("src/lib.rs"), on_disk("log.txt").as_deref()), (None, Some("done\n")));
    let diff = served.json(&format!("/v1/sessions/{id}/diff?path=src/lib.rs"));
    let diffs: Vec<_> = diff["changes"].as_array().unwrap().iter().map(|change| &change["diff"]).collect();
    assert_eq!(
        diffs,
        [
            &json!("@@ -0,0 +1,2 @@\n+fn a() {}\n+fn b() {}\n"),
            &json!("@@ -1 +0,0 @@\n-fn b() {}\n"),
            &json!(null)
        ]
    );
    let session = assert_same_everywhere_by_id(served, id);
    assert_eq!(
        panel(&session),
        [
            "Tidy the shop up | scripted-1 | exit",
            r#"changed_files: src/lib.rs 3 ["Write","Edit","Bash"] 2 1 true -"#,
            r#"changed_files: src/shop.rs 1 ["Bash"] 0 0 false -"#,
            r#"changed_files: log.txt 1 ["Bash"] 0 0 false -"#,
            "changes: Write write src/lib.rs done 2 - call_2_1 -",
            "changes: Edit edit src/lib.rs done 0 1 call_3_1 -",
            "changes: Bash delete src/lib.rs done - - call_5_1 -",
            "changes: Bash write src/shop.rs done - - call_5_1 -",
            "changes: Bash write log.txt done - - call_5_1 -",
            "todo_items: - completed Tidy Tidying",
            "todo_items: - in_progress Test Testing",
            "todo_items: - pending Ship Shipping",
            "agents: agent-1 general 10 1 0 -",
            "denials: Bash rm -rf / other",
            "todos: 1/3",
            "tool: Bash 3 1 1 1",
            "tool: Edit 1 1 0 0",
            "tool: Read 1 1 0 0",
            "tool: Task 1 1 0 0",
            "tool: TodoWrite 1 1 0 0",
            "tool: Write 1 1 0 0",
            r#"usage: {"answers":10,"context_tokens":260,"input_tokens":1820,"output_tokens":100,"unpriced":10}"#,
        ]
    );
    for (tool, calls) in session["tools"].as_object().unwrap() {
        assert_eq!(SCRIPT.matches(&format!(" {tool}:")).count() as u64, *calls, "{tool}");
    }
    let usage = &session["usage"];
    assert_eq!(
        (&usage["input_tokens"], &usage["output_tokens"]),
        (&json!(numbers_after("input: ")), &json!(numbers_after("output: ")))
    );
}
