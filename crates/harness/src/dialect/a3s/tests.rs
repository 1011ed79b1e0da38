// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::json;
use tenterhook_event::{EventId, Timestamp, ToolCall};

use super::*;

fn event(kind: Kind) -> Event {
    let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(7));
    let mut event = Event::new(id, ts, "claude-code", kind, "Native");
    event.harness_session_id = Some("s".into());
    event.cwd = Some("/w".into());
    event
}

fn interpret_answer(
    kind: Kind,
    code: i32,
    stdout: &str,
    stderr: &str,
) -> Result<InterpretedOutput, InvalidOutput> {
    let exited = HookExit { code: Some(code), stdout: stdout.into(), stderr: stderr.into() };
    DIALECT.interpret(&event(kind), Origin::hook("h"), &exited)
}

fn interpret_json(kind: Kind, answer: &Value) -> Result<InterpretedOutput, InvalidOutput> {
    interpret_answer(kind, 0, &answer.to_string(), "")
}

fn empty_finding() -> Finding {
    Finding::silent(Origin::hook("h"))
}

#[test]
fn silence_goes_on_and_a_block_denies() {
    assert_eq!(interpret_answer(Kind::PreTool, 0, "\n", "noise").unwrap(), empty_finding().into());
    assert_eq!(
        interpret_json(Kind::PreTool, &json!({"action": "continue"})).unwrap(),
        empty_finding().into()
    );
    let denied =
        |reason| InterpretedOutput::from(Finding::decided(Origin::hook("h"), Decision::Deny, reason));
    let block = json!({"action": "block", "reason": "no", "delay": "x"});
    assert_eq!(interpret_json(Kind::PreTool, &block).unwrap(), denied("no"));
    assert_eq!(interpret_answer(Kind::PreTool, 2, "", "stop\n").unwrap(), denied("stop"));
    assert_eq!(interpret_json(Kind::PreTool, &json!({"action": "block"})).unwrap(), denied(NO_REASON));
}

#[test]
fn after_the_tool_has_run_a_block_is_a_remark() {
    let remark = InterpretedOutput::from(Finding { message: Some("late".into()), ..empty_finding() });
    assert_eq!(
        interpret_json(Kind::PostTool, &json!({"action": "block", "reason": "late"})).unwrap(),
        remark
    );
    assert_eq!(interpret_answer(Kind::PostTool, 2, "", "late").unwrap(), remark);
    assert_eq!(
        interpret_json(Kind::PostTool, &json!({"action": "retry"})).unwrap().control,
        EngineControl::Go
    );
}

#[test]
fn retry_and_skip_are_for_the_engine() {
    let control = |answer| interpret_json(Kind::ToolError, &answer).unwrap().control;
    let retry = |ms| EngineControl::Retry { delay: Duration::from_millis(ms) };
    assert_eq!(control(json!({"action": "retry", "delay": 500})), retry(500));
    assert_eq!(control(json!({"action": "retry"})), retry(1000));
    assert_eq!(control(json!({"action": "skip"})), EngineControl::Skip);
    assert!(interpret_json(Kind::ToolError, &json!({"action": "retry", "delay": -1})).is_err());
}

#[test]
fn what_is_modified_depends_on_the_event() {
    let modified = |kind, modified: Value| {
        let heard = interpret_json(kind, &json!({"action": "continue", "modified": modified}));
        heard.map(|heard| heard.finding.modifications)
    };
    let args = json!({"command": "ls", "timeout": 30000});
    assert_eq!(
        modified(Kind::PreTool, json!({"args": args})).unwrap(),
        [Modification::ToolInput { merge: MergeMode::Replace, value: args }]
    );
    let prompt = json!({"prompt": "p", "systemPrompt": "s"});
    assert_eq!(
        modified(Kind::PreModel, prompt.clone()).unwrap(),
        [Modification::ModelRequest { merge: MergeMode::Shallow, value: prompt }]
    );
    assert_eq!(
        modified(Kind::PostModel, json!({"response": {"text": "t"}})).unwrap(),
        [Modification::ModelResponse { merge: MergeMode::Shallow, value: json!({"text": "t"}) }]
    );
    assert!(modified(Kind::PreTool, json!({"command": "ls"})).is_err(), "a silently dropped rewrite");
    assert!(modified(Kind::SessionEnd, json!({"x": 1})).is_err());
    assert_eq!(
        modified(Kind::PostTool, json!({"result": {"output": "o"}})).unwrap(),
        [Modification::ToolOutput { value: json!("o") }]
    );
    for (kind, wrong, why) in [
        (Kind::PreTool, json!({"args": 7}), "`modified.args` must be an object (at PreToolUse)"),
        (Kind::PreTool, json!({}), "`modified.args` is missing; expected an object (at PreToolUse)"),
        (Kind::PreModel, json!({"prompt": 7}), "`modified.prompt` must be a string (at GenerateStart)"),
        (
            Kind::PreModel,
            json!({"tools": ["a", 7]}),
            "`modified.tools` must be a list of strings (at GenerateStart)",
        ),
        (
            Kind::PostModel,
            json!({"response": {"toolCalls": [{"id": "1"}]}}),
            "`modified.response.toolCalls.name` is missing; expected a string (at GenerateEnd)",
        ),
        (Kind::ToolError, json!({"args": {}}), "`modified` is not allowed here (at ToolError)"),
    ] {
        assert_eq!(modified(kind, wrong.clone()).unwrap_err().0, why, "{wrong}");
    }
}

#[test]
fn an_answer_that_means_nothing_is_a_failure() {
    for stdout in ["fine", "{}", "{\"action\":\"Block\"}", "{\"action\":\"continue\",\"modified\":7}", "[]"] {
        assert!(interpret_answer(Kind::PreTool, 0, stdout, "").is_err(), "{stdout}");
    }
    assert_eq!(
        interpret_json(Kind::PreTool, &json!({"action": "deny"})).unwrap_err().0,
        "`action` is `deny`; expected one of `continue`, `block`, `retry`, `skip`"
    );
    assert_eq!(interpret_answer(Kind::PreTool, 1, "", "boom").unwrap_err().0, "exit code 1: boom");
}

#[test]
fn a_hook_reads_seed_003_s_event() {
    let mut event = event(Kind::PostTool);
    event.tool = Some(ToolCall::new("Bash", json!({"command": "ls"})));
    event.detail.tool_output = Some(json!({"stdout": "a", "stderr": "b", "exitCode": 1}));
    event.detail.duration_ms = Some(12);
    let stdin: Value = serde_json::from_slice(&payload::stdin(&event)).unwrap();
    let expected = json!({
        "eventType": "PostToolUse", "sessionId": "s", "timestamp": 7,
        "metadata": {"source": "claude-code", "eventId": event.id.to_string(), "nativeEvent": "Native"},
        "tool": "Bash", "args": {"command": "ls"},
        "context": {
            "workingDirectory": "/w", "recentTools": [],
            "tokenUsage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0},
        },
        "result": {"success": false, "output": "a\nb", "exitCode": 1, "duration": 12},
    });
    assert_eq!(stdin, expected);
}

#[test]
fn a_model_call_reaches_a_hook_as_generation() {
    let mut event = event(Kind::PreModel);
    event.agent.model = Some("m".into());
    event.detail.model_request = Some(json!({"prompt": "p", "tools": ["Bash"]}));
    let stdin: Value = serde_json::from_slice(&payload::stdin(&event)).unwrap();
    assert_eq!(
        (&stdin["eventType"], &stdin["prompt"], &stdin["model"], &stdin["tools"]),
        (&json!("GenerateStart"), &json!("p"), &json!({"name": "m"}), &json!(["Bash"]))
    );
}

#[test]
fn text_for_the_model_is_context_and_changes_nothing() {
    for kind in [Kind::SessionStart, Kind::PreModel, Kind::PostTool, Kind::Prompt] {
        let heard =
            interpret_json(kind, &json!({"action": "continue", "modified": {"context": "it is late"}}))
                .unwrap();
        assert_eq!(heard, Finding { context: Some("it is late".into()), ..empty_finding() }.into());
    }
}

#[test]
fn a_change_with_another_action_than_continue_is_refused_and_a_block_counts() {
    let modified = json!({"args": {}});
    for action in ["skip", "retry"] {
        assert!(
            interpret_json(Kind::PreTool, &json!({"action": action, "modified": modified})).is_err(),
            "{action}"
        );
    }
    let block = interpret_json(Kind::PreTool, &json!({"action": "block", "modified": modified})).unwrap();
    assert_eq!(block.finding.decision, Decision::Deny);
}

/// Returns one payload for each event, with every field.
fn complete_payload(shape: &EventShape) -> Value {
    fn sample_fields(fields: &[FieldSpec]) -> Value {
        let value = |shape: &FieldShape| match shape {
            FieldShape::Text => json!("t"),
            FieldShape::Number => json!(3),
            FieldShape::Flag => json!(true),
            FieldShape::Object => json!({"command": "ls", "k": "v"}),
            FieldShape::Texts => json!(["a", "b"]),
            FieldShape::Fields(fields) => sample_fields(fields),
            FieldShape::List(fields) => json!([sample_fields(fields)]),
        };
        fields.iter().map(|field| (field.name.to_owned(), value(&field.shape))).collect()
    }
    sample_fields(shape.fields)
}

#[test]
fn every_event_that_comes_in_reaches_a_hook_whole() {
    let meta = crate::CallMeta::new(EventId::from_parts(0, 9), Timestamp::from_unix_ms(7), "");
    for shape in EVENTS {
        let mut payload = complete_payload(shape);
        payload["metadata"] = json!({"mine": 1});
        let bytes = payload.to_string().into_bytes();
        let call = super::event(shape, &meta, "my-agent", Some("s"), &bytes).unwrap();
        assert_eq!((call.event.event, call.event.source.as_str()), (shape.kind, "my-agent"));
        assert_eq!(call.event.harness_session_id.as_deref(), Some("s"));
        let told: Value =
            serde_json::from_slice(&super::payload(&call, &A3sSessionContext::default())).unwrap();
        for (key, value) in payload.as_object().unwrap().iter().filter(|(key, _)| *key != "metadata") {
            assert_eq!(&told[key], value, "{}: {key}", shape.name);
        }
        assert_eq!((&told["metadata"]["mine"], &told["metadata"]["source"]), (&json!(1), &json!("my-agent")));
        let fields = told.as_object().unwrap();
        assert_eq!(schema::find_mismatch(COMMON_FIELDS, fields, ""), None, "{told}");
        assert_eq!(schema::find_mismatch(shape.fields, fields, ""), None, "{told}");
        // Builds the same payload from the event alone. This is the case for an event that a harness sent in its own
        // format.
        let bare: Value = serde_json::from_slice(&payload::stdin(&call.event)).unwrap();
        assert_eq!(schema::find_mismatch(shape.fields, bare.as_object().unwrap(), ""), None, "{bare}");
    }
    assert_eq!(EVENTS.len(), 18);
}

#[test]
fn an_event_that_cannot_be_judged_is_not_taken() {
    let meta = crate::CallMeta::new(EventId::from_parts(0, 9), Timestamp::from_unix_ms(7), "");
    let why = |name: &str, payload: Value| {
        let bytes = payload.to_string().into_bytes();
        super::event(shape_by_name(name).unwrap(), &meta, "a", None, &bytes).unwrap_err().to_string()
    };
    for (name, payload, expected) in [
        ("PreToolUse", json!([1]), "the payload is not a JSON object but an array"),
        (
            "PreToolUse",
            json!({"tool": "Bash"}),
            "invalid `PreToolUse` event: `args` is missing; expected an object",
        ),
        (
            "pre-tool",
            json!({"tool": "Bash", "args": {}}),
            "invalid `PreToolUse` event: `args` must be an object with a command",
        ),
        (
            "PreToolUse",
            json!({"eventType": "Stop", "tool": "Read", "args": {}}),
            "invalid `PreToolUse` event: `eventType` is \"Stop\"",
        ),
        (
            "GenerateEnd",
            json!({"prompt": "p", "response": {"text": 1}}),
            "invalid `GenerateEnd` event: `response.text` must be a string",
        ),
    ] {
        assert_eq!(why(name, payload.clone()), expected, "{payload}");
    }
}

#[test]
fn the_page_about_events_matches_the_table() {
    let page = include_str!("../../../../../docs/spec/sdk-events.md");
    for shape in EVENTS.iter().take(13) {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", shape.name))).unwrap();
        let parts: Vec<_> = row.split('|').collect();
        let documented = |part: &str, field: &FieldSpec| {
            let name = format!("`{}", field.name);
            part.contains(&format!("{name}`")) || !field.needed && part.contains(&format!("{name}?`"))
        };
        for (part, fields) in [(parts[2], shape.fields), (parts[3], shape.modified)] {
            for field in fields {
                assert!(documented(part, field), "{}: `{}` is not in {part}", shape.name, field.name);
            }
        }
    }
}
