// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The user's hooks from `tenterhook.yaml`, with real processes.

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext};

fn settings(test: &TestContext, hooks: &str) {
    test.write("home/tenterhook.yaml", &format!("hooks:\n{hooks}"));
}

fn fire(test: &TestContext, command: &str) -> CommandOutput {
    test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash(command).as_bytes())
}

fn specific(ran: &CommandOutput) -> Value {
    ran.json()["hookSpecificOutput"].clone()
}

#[test]
fn a_hook_rewrites_a_command_and_the_rewritten_one_is_judged() {
    let test = TestContext::new();
    let answer = |command: &str| json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": command}}});
    test.write("answer.json", &answer("ls -a").to_string());
    let cat = format!(
        "  - {{id: rewrite, on: pre-tool, match: Bash, dialect: claude, command: 'cat {}'}}\n",
        test.path("answer.json").display()
    );
    settings(&test, &cat);
    assert_eq!(specific(&fire(&test, "ls"))["updatedInput"], json!({"command": "ls -a"}));

    test.write("answer.json", &answer("rm -rf /").to_string());
    let denied = specific(&fire(&test, "ls"));
    assert_eq!(denied["permissionDecision"], "deny");
    assert!(denied["updatedInput"].is_null());
    let ledger = test.decisions();
    let leaf = ledger.last().unwrap();
    assert_eq!(leaf["tool"]["args"], json!({"command": "ls"}), "the original command");
    assert_eq!(leaf["stored"]["tool_input"], json!({"command": "rm -rf /"}), "the rewritten command");
}

#[test]
fn a_hook_in_our_own_dialect_reads_the_normal_form() {
    let test = TestContext::new();
    let script = test.write(
        "hook.sh",
        "#!/bin/sh\nread event\ncase $event in *'\"class\":\"shell\"'*) echo '{\"decision\":\"deny\",\"reason\":\"no \
         shells\",\"nudge\":\"use Read\"}';; esac\n",
    );
    settings(
        &test,
        &format!("  - {{id: no-shell, on: [pre-tool], exec: [/bin/sh, '{}']}}\n", script.display()),
    );
    assert_eq!(
        specific(&fire(&test, "ls"))["permissionDecisionReason"],
        "no shells\n\n→ Suggested: use Read"
    );
    assert_eq!(test.decisions()[0]["trace"][0]["by"], "hook:no-shell");
}

#[test]
fn a_failing_hook_is_open_or_closed_as_configured_and_the_trace_has_the_reason() {
    let test = TestContext::new();
    settings(&test, "  - {id: broken, on: pre-tool, command: 'echo boom >&2; exit 9'}\n");
    assert_eq!(fire(&test, "ls").stdout, "");
    let step = test.decisions()[0]["trace"][0].clone();
    assert_eq!((step["status"].clone(), step["note"].clone()), (json!("failed"), json!("exit code 9: boom")));

    settings(&test, "  - {id: broken, on: pre-tool, command: 'exit 9', fail: closed}\n");
    assert_eq!(specific(&fire(&test, "ls"))["permissionDecision"], "deny");

    settings(&test, "  - {id: slow, on: pre-tool, command: 'sleep 60', timeout: 100ms, fail: closed}\n");
    let reason = specific(&fire(&test, "ls"))["permissionDecisionReason"].clone();
    assert_eq!(reason, "hook `slow` failed and is set to fail closed: no answer within 100ms");
}

#[test]
fn a_record_names_the_hooks_that_were_in_force_as_well_as_the_rules() {
    let test = TestContext::new();
    let generation = |test: &TestContext| {
        fire(test, "ls");
        test.decisions().last().unwrap()["generation"].clone()
    };
    let without = generation(&test);
    settings(&test, "  - {id: a, on: stop, command: 'true'}\n");
    let with = generation(&test);
    assert_eq!(with, generation(&test), "the same texts, the same name");
    settings(&test, "  - {id: a, on: stop, command: 'false'}\n");
    let changed = generation(&test);
    assert!(without != with && with != changed, "{without} {with} {changed}");
}

#[test]
fn a_prompt_is_blocked() {
    let test = TestContext::new();
    settings(&test, "  - {id: quiet, on: prompt, dialect: claude, command: 'echo not today >&2; exit 2'}\n");
    let payload =
        json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "go"}).to_string();
    let ran = test.run_with(&["hook", "claude-code", "user-prompt-submit"], payload.as_bytes());
    assert_eq!(ran.json(), json!({"decision": "block", "reason": "not today"}));
}

#[test]
fn hooks_cannot_weaken_a_rule() {
    let test = TestContext::new();
    settings(
        &test,
        "  - {id: generous, on: pre-tool, priority: -100, command: 'echo {\\\"decision\\\":\\\"allow\\\"}'}\n",
    );
    let ran = fire(&test, "rm -rf /");
    assert_eq!(specific(&ran)["permissionDecision"], "deny");
}

// seed: 003-102, 003-103
#[test]
fn a_chain_passes_on_what_it_changed_and_a_condition_keeps_a_hook_out() {
    let test = TestContext::new();
    let add =
        |word: &str| format!("sed 's/.*\\(\"command\":\"[^\"]*\\).*/{{\"tool_input\":{{\\1 {word}\"}}}}/'");
    settings(
        &test,
        &format!(
            "  - {{id: one, on: pre-tool, match: Bash, chain: c, command: {}}}\n  - {{id: two, on: pre-tool, match: Bash, \
             chain: c, command: {}}}\n  - {{id: never, on: pre-tool, when: 'tool.class == \"read\"', command: 'exit 2'}}\n",
            json!(add("one")),
            json!(add("two"))
        ),
    );
    assert_eq!(specific(&fire(&test, "echo"))["updatedInput"], json!({"command": "echo one two"}));
}

#[test]
fn a_hook_of_the_a3s_dialect_blocks_rewrites_and_asks_for_a_retry() {
    let test = TestContext::new();
    let hook = |answer: &Value| {
        let script = format!("cat > {}; echo '{answer}'", test.path("seen.json").display());
        settings(
            &test,
            &format!(
                "  - {{id: a, on: PreToolUse, dialect: a3s, match: {{tool: Bash}}, command: {}}}\n",
                json!(script)
            ),
        );
    };
    hook(&json!({"action": "block", "reason": "Dangerous"}));
    assert_eq!(specific(&fire(&test, "ls"))["permissionDecisionReason"], "Dangerous");
    let seen: Value =
        serde_json::from_str(&std::fs::read_to_string(test.path("seen.json")).unwrap()).unwrap();
    assert_eq!((seen["eventType"].clone(), seen["tool"].clone()), (json!("PreToolUse"), json!("Bash")));

    hook(&json!({"action": "continue", "modified": {"args": {"command": "ls -a", "timeout": 30000}}}));
    assert_eq!(specific(&fire(&test, "ls"))["updatedInput"], json!({"command": "ls -a", "timeout": 30000}));

    hook(&json!({"action": "retry", "delay": 5}));
    let reason = specific(&fire(&test, "ls"))["permissionDecisionReason"].to_string();
    assert!(reason.contains("try again in 5 ms"), "{reason}");
}

#[test]
fn an_observer_runs_after_the_answer_and_cannot_deny() {
    let test = TestContext::new();
    let (seen, go_on) = (test.path("seen"), test.path("go-on"));
    let wait = format!("until [ -e {} ]; do sleep 0.05; done", go_on.display());
    settings(
        &test,
        &format!(
            "  - {{id: watch, on: pre-tool, async: true, fail: closed, command: '{wait}; wc -c > {}; exit 2'}}\n",
            seen.display()
        ),
    );
    assert_eq!(fire(&test, "ls").stdout, "");
    assert!(!seen.exists(), "the observer waits for the caller, and not the caller for it");
    std::fs::write(go_on, "").unwrap();
    for _ in 0..120 {
        if std::fs::read_to_string(&seen).is_ok_and(|text| !text.is_empty()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the observer never ran");
}
