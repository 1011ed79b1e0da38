// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs every payload captured from a real client through the pipeline, and checks the reply.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tenterhook_event::{
    Attributed, Decision, EventId, EventKind, Flow, MergeMode, Modification, Origin, Outcome, Timestamp,
};
use tenterhook_harness::{CallMeta, DenySupport, Harness, find_harness};

use crate::context::repository;

fn captured(harness: &str) -> Vec<(String, Vec<u8>)> {
    let dir = repository().join("tests/fixtures").join(harness);
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        // `_env` and `statusLine` are not hook payloads.
        .filter(|(name, _)| !name.starts_with('_') && !name.starts_with("statusLine"))
        .collect();
    files.sort();
    files
}

fn call_meta() -> CallMeta {
    CallMeta::new(EventId::from_parts(1_700_000_000_000, 7), Timestamp::from_unix_ms(1_700_000_000_000), "")
}

fn claude() -> &'static Harness {
    find_harness("claude-code").unwrap()
}

#[test]
fn every_captured_payload_is_decoded_and_its_bytes_are_kept() {
    let files = captured("claude-code");
    assert_eq!(files.len(), 60);
    let mut kinds = BTreeMap::new();
    for (name, bytes) in files {
        let call = claude().decode(&call_meta(), &bytes).unwrap();
        assert_eq!(call.native.as_ref().unwrap().bytes, bytes, "{name}");
        let native = name.split('.').next().unwrap();
        assert_eq!(call.event.native_event, native, "{name}");
        assert!(call.event.harness_session_id.is_some(), "{name}");
        assert_eq!(
            call.event.tool.is_some(),
            name.contains("Tool") && native != "PostToolBatch" || native.starts_with("Permission"),
            "{name}"
        );
        let wire: Value = serde_json::to_value(&call.event).unwrap();
        assert_eq!(serde_json::from_value::<tenterhook_event::Event>(wire).unwrap(), call.event, "{name}");
        *kinds.entry(call.event.event.name()).or_insert(0) += 1;
    }
    insta::assert_debug_snapshot!(kinds, @r#"
    {
        "notification": 1,
        "other": 14,
        "permission-denied": 1,
        "permission-request": 2,
        "post-compact": 1,
        "post-tool": 13,
        "pre-compact": 1,
        "pre-tool": 14,
        "prompt": 1,
        "session-end": 3,
        "session-start": 3,
        "stop": 1,
        "subagent-start": 1,
        "subagent-stop": 1,
        "tool-error": 3,
    }
    "#);
}

// seed: 001-043, 001-044, 001-045, 001-046
#[test]
fn fields_of_a_payload_are_in_the_normal_form() {
    let event = |name: &str| {
        let path = repository().join("tests/fixtures/claude-code").join(name);
        claude().decode(&call_meta(), &std::fs::read(path).unwrap()).unwrap().event
    };
    insta::assert_json_snapshot!(event("PreToolUse.Bash.in-subagent.json"), @r#"
    {
      "v": 1,
      "id": "01HF7YAT000000000000000007",
      "ts": "2023-11-14T22:13:20.000Z",
      "source": "claude-code",
      "event": "pre-tool",
      "native_event": "PreToolUse",
      "harness_session_id": "89917c00-1a49-493b-9066-28df723315f3",
      "turn_id": "f35d02e0-8f24-4c7a-a162-86bcb1f1b14c",
      "tool_use_id": "toolu_fake_sub_0_0",
      "cwd": "/home/dev/work",
      "project": "/home/dev/work",
      "tool": {
        "name": "Bash",
        "class": "shell",
        "args": {
          "command": "echo from sub",
          "description": "d"
        }
      },
      "agent": {
        "id": "aa7e0758fcee4e76e",
        "type": "general-purpose"
      }
    }
    "#);
    assert_eq!(event("Stop.json").detail.response.as_deref(), Some("finished"));
    assert_eq!(event("SessionStart.compact.json").detail.cause.as_deref(), Some("compact"));
    assert_eq!(event("PreModelSwitch.json").agent.model.as_deref(), Some("claude-sonnet-5"));
    assert_eq!(event("PostToolUse.Bash.json").detail.tool_output.unwrap()["stdout"], "hi");
    assert_eq!(event("PostToolUseFailure.Bash.json").detail.error.as_deref(), Some("Exit code 3"));
    assert_eq!(event("PreToolUse.mcp__fake__echo.json").tool.unwrap().mcp.unwrap().server, "fake");
}

fn attributed<T>(what: T) -> Attributed<T> {
    Attributed { by: Origin::rule("r"), value: what }
}

/// Every outcome: five decisions, continuing or stopping, with and without all other fields.
fn outcomes() -> Vec<Outcome> {
    use Decision::{Allow, Ask, Defer, Deny, None};
    let mut all = Vec::new();
    for decision in [None, Allow, Defer, Ask, Deny] {
        for stop in [false, true] {
            for rich in [false, true] {
                let mut outcome = Outcome { decision, ..Outcome::default() };
                if stop {
                    outcome.flow = Flow::Stop { reason: Some("enough".into()) };
                }
                if decision != None {
                    outcome.reasons = vec![attributed("because".to_owned())];
                }
                if rich {
                    outcome.nudges = vec![attributed("do otherwise".to_owned())];
                    outcome.context = vec![attributed("for the model".to_owned())];
                    outcome.messages = vec![attributed("for the person".to_owned())];
                    outcome.tool_input = Some(json!({"command": "ls"}));
                    let value = json!({"command": "ls"});
                    outcome.modifications = vec![
                        attributed(Modification::ToolInput { merge: MergeMode::Replace, value }),
                        attributed(Modification::ToolOutput { value: json!({"stdout": "other"}) }),
                    ];
                }
                all.push(outcome);
            }
        }
    }
    all
}

/// Clients silently drop replies that are slightly wrong. Every reply to every event is therefore compared with the
/// replies that the client accepts, as measured.
// seed: 001-006, 001-056
#[test]
fn every_outcome_at_every_event_is_a_reply_the_client_reads() {
    for (name, bytes) in captured("claude-code") {
        let call = claude().decode(&call_meta(), &bytes).unwrap();
        let row = claude().event(&call.event.native_event).unwrap();
        for outcome in outcomes() {
            let reply = claude().encode(&call, &outcome);
            let at = format!("{name}: {outcome:?}\n→ {reply:?}");
            let json: Value = match reply.stdout.trim() {
                "" => Value::Null,
                text => {
                    assert!(text.starts_with('{') && text.ends_with('}') && !text.contains('\n'), "{at}");
                    serde_json::from_str(text).unwrap()
                }
            };
            let specific = &json["hookSpecificOutput"];
            assert!(specific.is_null() || specific["hookEventName"] == row.native, "{at}");

            // The reply contains every part of the outcome that the harness supports; other parts are reported as lost.
            let prevented = specific["permissionDecision"] == "deny"
                || specific["decision"]["behavior"] == "deny"
                || specific["action"] == "decline"
                || json["decision"] == "block"
                || reply.exit == 2;
            if outcome.decision == Decision::Deny {
                let lost = reply.lost.iter().any(|what| what.starts_with("deny"));
                assert_ne!(prevented, lost, "{at}");
                assert_eq!(lost, row.deny == DenySupport::Impossible, "{at}");
            }
            if outcome.decision <= Decision::Allow && outcome.flow == Flow::Go {
                assert!(!prevented && reply.exit == 0, "{at}");
                assert!(!reply.stdout.contains("Suggested"), "only a deny carries a suggestion: {at}");
            }
            if outcome.decision == Decision::Deny && outcome.flow == Flow::Go {
                assert_ne!(json["continue"], json!(false), "a plain deny lets the agent go on: {at}");
            }
            if row.kind == EventKind::PreTool && outcome.flow != Flow::Go {
                assert!(prevented && json["continue"] == false, "stop also stops this tool: {at}");
            }
            assert!(
                !prevented || specific["updatedInput"].is_null(),
                "a denied call has no other input: {at}"
            );
        }
    }
}

// seed: 001-006, 001-054
#[test]
fn the_replies_at_the_gate_match_the_contract() {
    let bytes = std::fs::read(repository().join("tests/fixtures/claude-code/PreToolUse.Bash.json")).unwrap();
    let call = claude().decode(&call_meta(), &bytes).unwrap();
    let denied = Outcome {
        decision: Decision::Deny,
        reasons: vec![attributed("too much".to_owned())],
        nudges: vec![attributed("less".to_owned())],
        ..Outcome::default()
    };
    let reply = claude().encode(&call, &denied);
    assert_eq!(
        reply.stdout,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\
         \"permissionDecisionReason\":\"too much\\n\\n→ Suggested: less\"}}\n"
    );
    assert_eq!((reply.stderr.as_str(), reply.exit), ("", 0));
    let rewritten = Outcome { tool_input: Some(json!({"command": "ls"})), ..Outcome::default() };
    assert_eq!(
        claude().encode(&call, &rewritten).stdout,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"updatedInput\":{\"command\":\"ls\"}}}\n"
    );
}
