// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;
use crate::find_profile;

fn asked(name: &str, payload: &Value) -> Result<BusRequest, Box<BusResponse>> {
    let message = json!({"type": REQUEST_CHANNEL, "payload": payload});
    parse_request(find_profile(name).unwrap(), &message.to_string(), &mut || "new".to_owned())
}

#[test]
fn seed_002_before_tool_example_is_taken_and_answered() {
    let input = json!({
        "session_id": "abc123", "hook_event_name": "BeforeTool", "cwd": "/home/user/project",
        "timestamp": "2025-02-18T16:30:00.000Z", "transcript_path": "", "tool_name": "write_file",
        "tool_input": {"path": "/home/user/project/file.txt", "content": "Hello, world!"},
    });
    let payload = json!({"correlationId": "c-1", "eventName": "BeforeTool", "input": input});
    let request = asked("llxprt", &payload).unwrap();
    assert_eq!(request, BusRequest { correlation_id: "c-1".into(), event: "BeforeTool", input });
    assert_eq!(request.to_message()["payload"], payload);
    let answer = request.to_response(AggregatedResult::empty()).to_message();
    let expected = json!({"type": "HOOK_EXECUTION_RESPONSE", "payload": {"correlationId": "c-1", "success": true,
        "output": {"success": true, "allOutputs": [], "errors": [], "totalDuration": 0}}});
    assert_eq!(answer, expected);
}

#[test]
fn a_missing_or_empty_id_is_made_up() {
    for payload in [
        json!({"eventName": "BeforeAgent", "input": {"prompt": ""}}),
        json!({"eventName": "BeforeAgent", "input": {"prompt": ""}, "correlationId": ""}),
    ] {
        assert_eq!(asked("llxprt", &payload).unwrap().correlation_id, "new");
    }
}

#[test]
fn what_cannot_be_carried_out_says_why() {
    let error = |line: &str| {
        let response =
            parse_request(find_profile("llxprt").unwrap(), line, &mut || "new".to_owned()).unwrap_err();
        let error = response.error.unwrap();
        (error.code.unwrap(), error.message)
    };
    let invalid = |message: &str| ("invalid_request".to_owned(), message.to_owned());
    assert_eq!(error("{}"), invalid("Missing payload"));
    assert_eq!(error(r#"{"payload":null}"#), invalid("Missing eventName or input"));
    assert_eq!(error(r#"{"payload":{"eventName":"BeforeTool"}}"#), invalid("Missing eventName or input"));
    assert_eq!(error(r#"{"type":"OTHER","payload":{}}"#), invalid("Not a HOOK_EXECUTION_REQUEST: \"OTHER\""));
    assert_eq!(error("nonsense").0, "invalid_request");
    assert_eq!(error(r#"{"payload":{"eventName":1,"input":{}}}"#).1, "Unknown event: 1");
}

#[test]
fn an_input_that_does_not_fit_fails_without_an_error_field() {
    for (event, input) in [
        ("BeforeTool", json!({"tool_name": "", "tool_input": {}})),
        ("BeforeTool", json!({"tool_name": "t", "tool_input": []})),
        ("BeforeTool", json!({"tool_name": "t", "tool_input": {}, "mcp_context": {"server_name": ""}})),
        ("AfterTool", json!({"tool_name": "t", "tool_input": {}})),
        ("BeforeAgent", json!({"prompt": 1})),
        ("AfterAgent", json!({"prompt": "", "prompt_response": "", "stop_hook_active": "no"})),
        ("BeforeModel", json!({"llm_request": null})),
        ("AfterModel", json!({"llm_request": {}})),
        ("BeforeToolSelection", json!([])),
        ("Notification", json!({"message": "m", "details": {}})),
        ("SessionStart", json!({})),
    ] {
        let response = asked("llxprt", &json!({"eventName": event, "input": input})).unwrap_err();
        let payload = response.to_message()["payload"].clone();
        assert_eq!(
            (payload.get("error"), payload["success"].clone()),
            (None, json!(false)),
            "{event} {input}"
        );
        assert_eq!(payload["output"]["errors"][0]["message"], format!("Invalid payload for event '{event}'"));
    }
}

#[test]
fn session_events_pass_where_the_seed_offers_them() {
    for (event, input) in [
        ("SessionStart", json!({"source": "startup"})),
        ("SessionEnd", json!({"reason": "exit"})),
        ("PreCompress", json!({"trigger": "auto"})),
    ] {
        let payload = json!({"eventName": event, "input": input});
        assert!(asked("llxprt", &payload).is_ok(), "{event}");
        assert!(asked("llxprt-2026-08", &payload).is_err(), "{event}");
    }
}
