// SPDX-License-Identifier: Apache-2.0 OR MIT

use tenterhook_event::{EventId, Timestamp, ToolCall};

use super::*;

fn event(kind: EventKind, native: &str) -> Event {
    let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    Event::new(id, ts, "claude-code", kind, native)
}

fn interpret_exit(code: i32, stdout: &str, stderr: &str) -> Result<Finding, InvalidOutput> {
    let exited = HookExit { code: Some(code), stdout: stdout.into(), stderr: stderr.into() };
    interpret(&DIALECT, &event(EventKind::PreTool, "PreToolUse"), Origin::hook("h"), &exited)
        .map(|heard| heard.finding)
}

fn deny(name: &str) -> String {
    json!({"hookSpecificOutput": {"hookEventName": name, "permissionDecision": "deny",
        "permissionDecisionReason": "no"}})
    .to_string()
}

#[test]
fn exit_2_denies_with_any_json() {
    let finding = interpret_exit(2, &json!({"decision": "approve"}).to_string(), "stop\n").unwrap();
    assert_eq!((finding.decision, finding.reason.as_deref()), (Decision::Deny, Some("stop")));
    let finding = interpret_exit(2, &deny("PreToolUse"), "ignored").unwrap();
    assert_eq!(finding.reason.as_deref(), Some("no"));
}

#[test]
fn json_decides_at_any_other_exit_code() {
    for code in [0, 1, 3] {
        assert_eq!(interpret_exit(code, &deny("PreToolUse"), "").unwrap().decision, Decision::Deny);
    }
    assert!(interpret_exit(1, "", "crash").is_err(), "a plain failure is for `fail:` to decide");
}

#[test]
fn a_shape_the_client_would_drop_is_a_failure() {
    for stdout in [
        deny("PostToolUse"),
        json!({"hookSpecificOutput": {"permissionDecision": "deny"}}).to_string(),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "DENY"}})
            .to_string(),
        "{bad}".to_owned(),
    ] {
        assert!(interpret_exit(0, &stdout, "").is_err(), "{stdout}");
    }
    let noise = format!("log line\n{}", deny("PreToolUse"));
    assert_eq!(
        interpret_exit(0, &noise, "").unwrap().decision,
        Decision::None,
        "text, not JSON, as in the client"
    );
}

#[test]
fn every_field_of_a_hook_output_is_read() {
    let finding = interpret_exit(
        0,
        &json!({"continue": false, "stopReason": "enough", "systemMessage": "m", "suppressOutput": true,
            "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
                "updatedInput": {"command": "ls"}, "additionalContext": "c"}})
        .to_string(),
        "",
    )
    .unwrap();
    let expected = Finding {
        decision: Decision::Allow,
        flow: Flow::Stop { reason: Some("enough".into()) },
        modifications: vec![Modification::ToolInput {
            merge: MergeMode::Replace,
            value: json!({"command": "ls"}),
        }],
        context: Some("c".into()),
        message: Some("m".into()),
        suppress_output: true,
        ..Finding::silent(Origin::hook("h"))
    };
    assert_eq!(finding, expected);
}

#[test]
fn plain_text_reaches_the_model_at_prompts_only() {
    let exited = HookExit { code: Some(0), stdout: b"it is noon\n".to_vec(), stderr: Vec::new() };
    let context = |kind, native| {
        interpret(&DIALECT, &event(kind, native), Origin::Engine, &exited).unwrap().finding.context
    };
    assert_eq!(context(EventKind::Prompt, "UserPromptSubmit").as_deref(), Some("it is noon"));
    assert_eq!(context(EventKind::PreTool, "PreToolUse"), None);
}

#[test]
fn another_harness_s_event_reaches_a_claude_hook_in_claude_s_format() {
    let mut event = event(EventKind::PreTool, "BeforeTool");
    event.source = "gemini".into();
    event.tool = Some(ToolCall::new("run_shell_command", json!({"command": "ls"})));
    let stdin: Value = serde_json::from_slice(&stdin(&event)).unwrap();
    assert_eq!(stdin["hook_event_name"], "PreToolUse");
    assert_eq!(stdin["tool_input"], json!({"command": "ls"}));
}

#[test]
fn a_hook_that_goes_into_the_background_decides_nothing() {
    let interpret_json = |stdout: &str, code| {
        let exited = HookExit { code: Some(code), stdout: stdout.into(), stderr: Vec::new() };
        interpret(&DIALECT, &event(EventKind::PreTool, "PreToolUse"), Origin::hook("h"), &exited).unwrap()
    };
    let heard = interpret_json("{\"async\":true,\"asyncTimeout\":2500,\"decision\":\"block\"}", 0);
    assert_eq!(heard.finding, Finding::silent(Origin::hook("h")));
    assert_eq!(heard.control, EngineControl::Detach { limit: Duration::from_millis(2500) });
    assert_eq!(
        interpret_json("{\"async\":true}", 0).control,
        EngineControl::Detach { limit: DEFAULT_DETACHED_TIMEOUT }
    );
    assert_eq!(
        interpret_json("{\"async\":true}", 2).finding.decision,
        Decision::Deny,
        "exit 2 is no background"
    );
}

#[test]
fn going_into_the_background_is_known_from_the_first_line() {
    let limit = Some(Duration::from_millis(50));
    assert_eq!(detaches(b"{\"async\":true,\"asyncTimeout\":50}\nlater"), limit);
    assert_eq!(detaches(b"{\"async\":true}"), Some(DEFAULT_DETACHED_TIMEOUT));
    for stdout in ["", "{\"async\":tr", "{\"async\":false}", "{}", "text\n{\"async\":true}"] {
        assert_eq!(detaches(stdout.as_bytes()), None, "{stdout}");
    }
}
