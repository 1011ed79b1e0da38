// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Seed 000: hooks of the Claude Agent SDK: configuration, inputs, outputs, matchers, times.

use std::time::Duration;
use tenterhook_test_support::wait_until;

use serde_json::{Value, json};
use tenterhook_engine::{Engine, Hook, response};
use tenterhook_event::EventKind::{PostTool, PreTool};
use tenterhook_event::{Decision, Flow, TraceStatus};
use tenterhook_harness::dialect;

use super::{
    Notes, argument, fire, fire_profile, json_file, printing_command, tool, tool_name, write_single_hook,
};
use crate::context::TestContext;

// Seed 000, "Hook Configuration".
// seed: 000-014, 000-015
#[tokio::test]
async fn hook_configuration_with_and_without_matcher_and_timeout() {
    let (before, after) = (Notes::new(), Notes::new());
    let (writing, completed) = (before.clone(), after.clone());
    let engine = Engine::builder()
        .on(PreTool)
        .matching("Write")
        .timeout(Duration::from_mins(1))
        .run(move |event| {
            writing.add(argument(&event, "file_path"));
            async { response::none() }
        })
        .on(PostTool)
        .run(move |event| {
            completed.add(tool_name(&event));
            async { response::none() }
        })
        .build()
        .unwrap();
    for (kind, name) in [(PreTool, "Write"), (PreTool, "Read"), (PostTool, "Write"), (PostTool, "Read")] {
        let outcome = fire(&engine, tool(kind, name, json!({"file_path": format!("/{name}")}))).await;
        assert_eq!((outcome.decision, outcome.flow), (Decision::None, Flow::Go), "`continue: true`");
    }
    assert_eq!(before.all(), ["/Write"]);
    assert_eq!(after.all(), ["Write", "Read"]);
}

// Seed 000, "Hook Input Types".
// seed: 000-006, 000-008, 000-011, 000-019, 000-020, 000-021, 000-022, 000-023, 000-024, 000-025, 000-026
#[test]
fn hook_input_types_reach_a_hook_as_they_are() {
    let of_each = json!({"session_id": "s-1", "transcript_path": "/t.jsonl", "cwd": "/"});
    for (event, fields) in [
        (
            "PreToolUse",
            json!({"permission_mode": "default", "tool_name": "Read", "tool_input": {"file_path": "/a"}, "tool_use_id": "t-1"}),
        ),
        (
            "PostToolUse",
            json!({"tool_name": "Read", "tool_input": {"file_path": "/a"}, "tool_response": {"content": "x"}, "tool_use_id": "t-1"}),
        ),
        (
            "SubagentStop",
            json!({"stop_hook_active": false, "agent_id": "a-1", "agent_transcript_path": "/a.jsonl"}),
        ),
        ("UserPromptSubmit", json!({"prompt": "go"})),
        ("SessionStart", json!({"source": "startup"})),
        ("SessionEnd", json!({"reason": "other"})),
        ("Stop", json!({"stop_hook_active": true})),
        ("PreCompact", json!({"trigger": "manual", "custom_instructions": null})),
        ("SubagentStart", json!({"agent_id": "a-1", "agent_type": "general-purpose"})),
        ("Notification", json!({"message": "m"})),
    ] {
        let test = TestContext::new();
        let got = test.path("got.json");
        write_single_hook(
            &test,
            &json!({"on": event, "dialect": "claude", "command": format!("cat > '{}'", got.display())}),
        );
        let mut input = of_each.clone();
        input["hook_event_name"] = json!(event);
        input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let ran = test.run_with(&["hook", "claude-code", event], input.to_string().as_bytes());
        assert_eq!((ran.stdout.as_str(), ran.exit), ("", 0), "{event}: {}", ran.stderr);
        assert_eq!(json_file(&got), input, "{event}");
    }
}

/// Tenterhook's reply to Claude Code if the only hook prints this answer.
fn reply(event: &str, fields: &Value, answer: &Value) -> Value {
    let test = TestContext::new();
    write_single_hook(&test, &json!({"on": event, "dialect": "claude", "command": printing_command(answer)}));
    let mut input = json!({"hook_event_name": event, "session_id": "s", "cwd": "/"});
    input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let ran = test.run_with(&["hook", "claude-code", event], input.to_string().as_bytes());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    if ran.stdout.is_empty() { Value::Null } else { ran.json() }
}

fn read_call() -> Value {
    json!({"tool_name": "Read", "tool_input": {"file_path": "/a"}, "tool_use_id": "t-1"})
}

// Seed 000, "Basic Output".
// seed: 000-027, 000-029, 000-030, 000-031, 000-032
#[test]
fn basic_output_is_read_field_by_field() {
    let prompt = json!({"prompt": "go"});
    let of = |answer: Value| reply("UserPromptSubmit", &prompt, &answer);
    assert_eq!(of(json!({"continue": true})), Value::Null);
    assert_eq!(
        of(json!({"continue": false, "stopReason": "enough"})),
        json!({"continue": false, "stopReason": "enough"})
    );
    assert_eq!(of(json!({"suppressOutput": true})), json!({"suppressOutput": true}));
    assert_eq!(of(json!({"systemMessage": "hello"})), json!({"systemMessage": "hello"}));
    assert_eq!(
        of(json!({"decision": "approve", "reason": "fine"})),
        Value::Null,
        "nothing to skip at a prompt"
    );
    let approved = reply("PreToolUse", &read_call(), &json!({"decision": "approve", "reason": "fine"}));
    assert_eq!(approved["hookSpecificOutput"]["permissionDecision"], "allow");
    let block = json!({"decision": "block", "reason": "no"});
    assert_eq!(of(block.clone()), block);
}

// Seed 000, "PreToolUse Specific Output".
// seed: 000-033, 000-034, 000-035, 000-036, 000-037, 000-038
#[test]
fn pre_tool_use_specific_output_decides_and_changes() {
    for decision in ["allow", "deny", "ask"] {
        let specific = json!({"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": "r"});
        let answer = reply("PreToolUse", &read_call(), &json!({"hookSpecificOutput": specific}));
        assert_eq!(answer["hookSpecificOutput"], specific);
    }
    let changed = json!({"hookEventName": "PreToolUse", "updatedInput": {"file_path": "/b"}});
    let answer = reply("PreToolUse", &read_call(), &json!({"hookSpecificOutput": changed}));
    assert_eq!(answer, json!({"hookSpecificOutput": changed}));
}

// Seed 000, "PostToolUse Specific Output".
// seed: 000-039, 000-040
#[test]
fn post_tool_use_specific_output_adds_context_and_changes_what_an_mcp_tool_returned() {
    let mut call = json!({"tool_name": "mcp__web__get", "tool_input": {}, "tool_use_id": "t-1", "tool_response": "secret"});
    let specific =
        json!({"hookEventName": "PostToolUse", "additionalContext": "c", "updatedMCPToolOutput": "clean"});
    let answer = reply("PostToolUse", &call, &json!({"hookSpecificOutput": specific}));
    let expected =
        json!({"hookEventName": "PostToolUse", "additionalContext": "c", "updatedToolOutput": "clean"});
    assert_eq!(answer["hookSpecificOutput"], expected, "the client's newer name for the same");
    call["tool_response"] = json!({"content": [{"type": "text", "text": "secret"}]});
    let answer = reply("PostToolUse", &call, &json!({"hookSpecificOutput": specific}));
    assert_eq!(answer["hookSpecificOutput"]["additionalContext"], "c");
}

// Seed 000, "UserPromptSubmit Specific Output".
// seed: 000-041
#[test]
fn user_prompt_submit_specific_output_adds_context() {
    let specific = json!({"hookEventName": "UserPromptSubmit", "additionalContext": "c"});
    let answer =
        reply("UserPromptSubmit", &json!({"prompt": "go"}), &json!({"hookSpecificOutput": specific}));
    assert_eq!(answer, json!({"hookSpecificOutput": specific}));
}

// Seed 000, "Hook Matchers".
// seed: 000-048, 000-049, 000-050, 000-051
#[test]
fn hook_matchers_select_the_same_tools_in_a_closure_and_in_a_settings_file() {
    const TOOLS: [&str; 5] = ["Write", "Edit", "WriteAll", "mcp__web__get", "Bash"];
    for (matcher, expected) in [
        (Some("Write"), &["Write"][..]),
        (Some("Write|Edit"), &["Write", "Edit"]),
        (Some("mcp__*"), &["mcp__web__get"]),
        (Some("*"), &TOOLS),
        (None, &TOOLS),
    ] {
        for dialect in [dialect::NATIVE, dialect::find("claude").unwrap()] {
            let (admits, warning) = dialect.matcher(matcher);
            assert_eq!(warning, None, "{matcher:?}");
            let hits =
                TOOLS.into_iter().filter(|name| admits.admits(&tool(PreTool, name, json!({}))).is_ok());
            assert_eq!(hits.collect::<Vec<_>>(), expected, "{matcher:?} in {}", dialect.name);
        }
    }
}

// Seed 000, "Hook Matchers", through the program.
// seed: 000-048, 000-049, 000-050, 000-051
#[test]
fn hook_matchers_in_a_settings_file_run_or_do_not() {
    let test = TestContext::new();
    let group = |matcher: &str| json!({"matcher": matcher, "hooks": [{"type": "command", "command": format!(": {matcher:?}")}]});
    let groups = ["Write", "Write|Edit", "mcp__*", "*"].map(group);
    let settings = json!({"hooks": {"PostToolUse": groups}});
    for (name, expected) in [
        ("Write", [true, true, false, true]),
        ("Edit", [false, true, false, true]),
        ("mcp__web__get", [false, false, true, true]),
    ] {
        let answer = fire_profile(&test, "claude", "PostToolUse", &settings, &json!({"tool_name": name}));
        let matched: Vec<_> =
            answer["plan"].as_array().unwrap().iter().map(|step| step["matched"] == true).collect();
        assert_eq!(matched, expected, "{name}");
    }
}

// Seed 000, "Timeouts".
// seed: 000-016, 000-052
#[tokio::test]
async fn the_default_timeout_is_60_seconds_and_can_be_overridden() {
    assert_eq!(dialect::find("claude").unwrap().timeout, Duration::from_mins(1));
    let hook =
        Hook::on("patient", PreTool).timeout(Duration::from_mins(2)).run(|_| async { response::none() });
    assert_eq!(hook.timeout, Duration::from_mins(2));
    let engine = Engine::builder()
        .on(PreTool)
        .id("slow")
        .timeout(Duration::from_millis(20))
        .run(|_| async {
            tokio::time::sleep(Duration::from_secs(30)).await;
            response::deny("too late")
        })
        .build()
        .unwrap();
    let outcome = fire(&engine, tool(PreTool, "Bash", json!({}))).await;
    assert_eq!((outcome.decision, outcome.trace[0].status), (Decision::None, TraceStatus::TimedOut));
}

// Seed 000, "Async Hooks".
// seed: 000-053
#[test]
fn an_async_hook_goes_on_while_the_tool_runs() {
    let test = TestContext::new();
    let (go, done) = (test.path("go"), test.path("done"));
    let script = test.write(
        "slow.sh",
        &format!(
            "echo '{{\"async\": true, \"asyncTimeout\": 20000}}'\nwhile [ ! -e '{}' ]; do sleep 0.02; done\n: > '{}'\n",
            go.display(),
            done.display()
        ),
    );
    write_single_hook(
        &test,
        &json!({"on": "PreToolUse", "match": "Bash", "dialect": "claude", "command": format!("sh '{}'", script.display())}),
    );
    let ran = test.run_with(&["hook", "claude-code", "PreToolUse"], test.bash("ls").as_bytes());
    assert_eq!((ran.stdout.as_str(), ran.exit), ("", 0), "{}", ran.stderr);
    assert_eq!(test.decisions()[0]["trace"][0]["status"], "detached");
    assert!(!done.exists(), "the call did not wait for it");
    std::fs::write(go, "").unwrap();
    wait_until("the hook outlives the call", || done.exists().then_some(()));
}

// Seed 000, "4. Respect AbortSignal": `return { continue: false }`.
// seed: 000-028, 000-068
#[tokio::test]
async fn continue_false_on_abort_ends_the_turn() {
    let engine =
        Engine::builder().on(PreTool).run(|_| async { response::none().stop("aborted") }).build().unwrap();
    let outcome = fire(&engine, tool(PreTool, "Bash", json!({}))).await;
    assert_eq!(outcome.flow, Flow::Stop { reason: Some("aborted".into()) });
    let answer = reply("PreToolUse", &read_call(), &json!({"continue": false, "stopReason": "aborted"}));
    assert_eq!((&answer["continue"], &answer["stopReason"]), (&json!(false), &json!("aborted")));
    let decision = &answer["hookSpecificOutput"]["permissionDecision"];
    assert_eq!(decision, "deny", "the client would still run the tool");
}

// Seed 000, "Available Hook Events".
// seed: 000-002, 000-004, 000-012, 000-013
#[test]
fn hooks_block_where_the_table_allows_it() {
    let block = json!({"decision": "block", "reason": "no"});
    let prompt = reply("UserPromptSubmit", &json!({"prompt": "go"}), &block);
    assert_eq!(prompt, block);
    let before = reply("PreToolUse", &read_call(), &block);
    assert_eq!(before["hookSpecificOutput"]["permissionDecision"], "deny");
    let asked = reply("PermissionRequest", &read_call(), &block);
    assert_eq!(asked["hookSpecificOutput"]["decision"], json!({"behavior": "deny", "message": "no"}));
    for (event, fields) in [
        ("SubagentStart", json!({"agent_id": "a", "agent_type": "x"})),
        ("SessionStart", json!({"source": "startup"})),
        ("SessionEnd", json!({"reason": "other"})),
        ("Notification", json!({"message": "m"})),
    ] {
        assert_eq!(reply(event, &fields, &block), Value::Null, "{event}");
    }
}
