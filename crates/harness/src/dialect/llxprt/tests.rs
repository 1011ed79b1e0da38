// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::json;
use tenterhook_event::{EventId, HookCall, NativePayload, Timestamp, ToolCall};

use super::*;
use crate::dialect::find;

fn event(kind: Kind) -> Event {
    let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, ts, "claude-code", kind, "Whatever");
    event.harness_session_id = Some("s".into());
    event.cwd = Some("/w".into());
    event
}

fn interpret_exit_at(
    kind: Kind,
    dialect: &str,
    code: Option<i32>,
    out: &str,
    err: &str,
) -> Result<Finding, String> {
    let exited = HookExit { code, stdout: out.into(), stderr: err.into() };
    let heard = find(dialect).unwrap().interpret(&event(kind), Origin::hook("h"), &exited);
    heard.map(|heard| heard.finding).map_err(|misheard| misheard.0)
}

fn interpret_exit(dialect: &str, code: Option<i32>, out: &str, err: &str) -> Result<Finding, String> {
    interpret_exit_at(Kind::PreTool, dialect, code, out, err)
}

fn interpret_json(stdout: &Value) -> Result<Finding, String> {
    interpret_exit("llxprt", Some(0), &stdout.to_string(), "")
}

#[test]
fn a_hook_that_does_not_object_does_not_vouch_for_anything() {
    for dialect in ["llxprt", "llxprt-2026-08", "gemini"] {
        let finding = interpret_exit(dialect, Some(0), "all fine\n", "").unwrap();
        assert_eq!((finding.decision, finding.message.as_deref()), (Decision::None, Some("all fine")));
        assert_eq!(interpret_exit(dialect, Some(0), "", "").unwrap().decision, Decision::None);
        assert_eq!(interpret_exit(dialect, Some(0), "{}", "").unwrap().decision, Decision::None);
    }
    assert_eq!(interpret_json(&json!({"decision": "allow"})).unwrap().decision, Decision::Allow);
    assert_eq!(interpret_json(&json!({"decision": "approve"})).unwrap().decision, Decision::Allow);
}

#[test]
fn every_refusing_decision_is_recognised_and_no_other_is_guessed() {
    for (word, decision) in [("block", Decision::Deny), ("deny", Decision::Deny), ("ask", Decision::Ask)] {
        assert_eq!(interpret_json(&json!({"decision": word})).unwrap().decision, decision);
    }
    assert_eq!(
        interpret_json(&json!({"decision": "DENY"})).unwrap_err(),
        "`decision` is `DENY`; expected one of `allow`, `approve`, `ask`, `deny`, `block`"
    );
    assert_eq!(
        interpret_json(&json!({"decision": true})).unwrap_err(),
        "`decision` is true; expected a string"
    );
    assert!(interpret_json(&json!({"continue": "false"})).is_err());
    assert!(interpret_exit("llxprt", Some(0), "{\"decision\": \"deny\", cut", "").is_err(), "broken JSON");
    assert!(interpret_exit("gemini", Some(0), "[]", "").is_err(), "a list is not an answer");
}

#[test]
fn a_deny_is_not_lost_because_of_other_fields() {
    let finding = interpret_json(&json!({"decision": "deny", "systemMessage": 7, "continue": "no"})).unwrap();
    assert_eq!((finding.decision, finding.reason.as_deref()), (Decision::Deny, Some(NO_REASON)));
}

#[test]
fn exit_2_denies_in_every_row_with_any_output() {
    for dialect in ["llxprt", "llxprt-2026-08", "gemini"] {
        let finding = interpret_exit(dialect, Some(2), "{\"decision\":\"allow\"}", "stop").unwrap();
        assert_eq!(
            (finding.decision, finding.reason.as_deref()),
            (Decision::Deny, Some("stop")),
            "{dialect}"
        );
        assert!(interpret_exit(dialect, Some(2), "", "").unwrap().reason.is_some(), "{dialect}");
    }
    let finding =
        interpret_exit("gemini", Some(2), "{\"decision\":\"deny\",\"reason\":\"json\"}", "stderr").unwrap();
    assert_eq!(finding.reason.as_deref(), Some("json"));
}

#[test]
fn a_failure_is_for_fail_to_decide() {
    assert_eq!(interpret_exit("llxprt", Some(1), "", "boom\nmore").unwrap_err(), "exit code 1: boom");
    assert_eq!(interpret_exit("llxprt", Some(127), "", "not found").unwrap_err(), "exit code 127: not found");
    assert_eq!(interpret_exit("llxprt", None, "", "").unwrap_err(), "ended by a signal");
    assert!(interpret_exit("gemini", None, "partial", "").is_err());
    let denied = interpret_exit("gemini", Some(3), "", "odd").unwrap();
    assert_eq!((denied.decision, denied.reason.as_deref()), (Decision::Deny, Some("odd")));
    let json = interpret_exit("gemini", Some(1), "{\"decision\":\"deny\"}", "").unwrap();
    assert_eq!(json.decision, Decision::Deny, "JSON counts at every exit code in Gemini CLI");
}

#[test]
fn the_compatible_permission_decision_counts_where_the_row_allows_it() {
    let stdout = json!({"hookSpecificOutput":
        {"permissionDecision": "deny", "permissionDecisionReason": "no"}})
    .to_string();
    for dialect in ["llxprt", "llxprt-2026-08"] {
        let finding = interpret_exit(dialect, Some(0), &stdout, "").unwrap();
        assert_eq!((finding.decision, finding.reason.as_deref()), (Decision::Deny, Some("no")));
    }
    assert_eq!(
        interpret_exit("gemini", Some(0), &stdout, "").unwrap_err(),
        "`permissionDecision` is not supported here; use `decision`"
    );
    let both = json!({"decision": "allow", "hookSpecificOutput": {"permissionDecision": "deny"}});
    assert_eq!(interpret_json(&both).unwrap().decision, Decision::Deny, "the stricter stands");
}

#[test]
fn every_field_of_a_hook_output_is_read() {
    let finding = interpret_json(&json!({
        "continue": false, "stopReason": "enough", "suppressOutput": true, "systemMessage": "m",
        "hookSpecificOutput": {"additionalContext": "c", "tool_input": {"path": "/b"}},
    }));
    let expected = Finding {
        flow: Flow::Stop { reason: Some("enough".into()) },
        modifications: vec![Modification::ToolInput {
            merge: MergeMode::Shallow,
            value: json!({"path": "/b"}),
        }],
        context: Some("c".into()),
        message: Some("m".into()),
        suppress_output: true,
        ..Finding::silent(Origin::hook("h"))
    };
    assert_eq!(finding, Ok(expected));
}

#[test]
fn model_and_tool_selection_are_changed_at_their_own_events() {
    let at = |kind, dialect, specific: Value| {
        let stdout = json!({"hookSpecificOutput": specific}).to_string();
        interpret_exit_at(kind, dialect, Some(0), &stdout, "").unwrap().modifications
    };
    let value = json!({"x": 1});
    let specific = json!({"llm_request": value, "llm_response": value, "tool_input": value});
    let response = Modification::ModelResponse { merge: MergeMode::Replace, value: value.clone() };
    assert_eq!(
        at(Kind::PreModel, "gemini", specific.clone()),
        [Modification::ModelRequest { merge: MergeMode::Shallow, value }, response.clone()]
    );
    assert_eq!(at(Kind::PostModel, "gemini", specific), [response]);
    let tools = |mode, allowed: &[&str]| Modification::ToolSelection {
        mode,
        allowed: allowed.iter().map(|name| (*name).to_owned()).collect(),
    };
    let config = json!({"toolConfig": {"mode": "ANY", "allowedFunctionNames": ["a"]}});
    assert_eq!(at(Kind::ToolSelection, "llxprt", config), [tools(SelectionMode::Any, &["a"])]);
    let none = json!({"toolConfig": {"allowedFunctionNames": []}});
    assert_eq!(at(Kind::ToolSelection, "llxprt-2026-08", none.clone()), [tools(SelectionMode::None, &[])]);
    assert_eq!(at(Kind::ToolSelection, "gemini", none), [tools(SelectionMode::Auto, &[])]);
}

#[test]
fn another_harness_s_event_arrives_in_the_family_s_format() {
    let mut event = event(Kind::PostTool);
    event.tool = Some(ToolCall::new("mcp__files__read", json!({"path": "/p"})));
    event.detail.tool_output = Some(json!({"stdout": "hi", "stderr": "", "interrupted": false}));
    let call = HookCall { event, native: None };
    let stdin: Value = serde_json::from_slice(&find("gemini").unwrap().stdin(&call)).unwrap();
    let expected = json!({
        "session_id": "s", "transcript_path": "", "cwd": "/w", "hook_event_name": "AfterTool",
        "timestamp": "1970-01-01T00:00:00.000Z", "tool_name": "mcp__files__read",
        "tool_input": {"path": "/p"}, "mcp_context": {"server_name": "files", "tool_name": "read"},
        "tool_response": {"llmContent": "hi", "returnDisplay": "hi"},
    });
    assert_eq!(stdin, expected);
}

#[test]
fn the_harness_s_own_bytes_are_passed_on_untouched() {
    let mut event = event(Kind::PreTool);
    event.source = "gemini".into();
    let bytes = b"{ \"odd\" : 1.0 }".to_vec();
    let call = HookCall { event, native: Some(NativePayload { bytes: bytes.clone(), fields: Map::new() }) };
    assert_eq!(find("gemini").unwrap().stdin(&call), bytes);
    assert_ne!(find("llxprt").unwrap().stdin(&call), bytes);
    assert_ne!(find("native").unwrap().stdin(&call), bytes);
}

#[test]
fn every_dialect_knows_its_own_names() {
    for (dialect, name, kind) in [
        ("gemini", "AfterTool", Kind::PostTool),
        ("llxprt", "AfterAgent", Kind::Stop),
        ("a3s", "GenerateEnd", Kind::PostModel),
        ("claude", "UserPromptSubmit", Kind::Prompt),
        ("native", "pre-tool", Kind::PreTool),
    ] {
        assert_eq!(find(dialect).unwrap().kind(name), Some(kind), "{dialect} {name}");
        assert_eq!(find(dialect).unwrap().kind("Nonsense"), None);
    }
}
