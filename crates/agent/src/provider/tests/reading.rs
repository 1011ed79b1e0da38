// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a scripted server does not say: events fed to the readers by hand.

use super::super::anthropic::Messages;
use super::super::gemini::GenerateContent;
use super::super::openai::ChatCompletions;
use super::super::wire::{Trouble, Wire};
use super::*;

/// The reply to these events, or what was wrong with one of them.
fn read(wire: &dyn Wire, events: &[Value]) -> Result<ModelReply, Trouble> {
    let mut reader = wire.reader(&request(Vec::new()));
    for event in events {
        reader.take(&event.to_string(), &mut |_| {})?;
    }
    assert!(reader.is_whole());
    Ok(reader.draft().reply("m"))
}

/// A call whose arguments end in the middle, and why the answer ended.
fn half_a_call(wire: &dyn Wire, anthropic: &str, openai: &str) -> Result<ModelReply, Trouble> {
    let block = json!({"type": "tool_use", "id": "c", "name": "Bash", "input": {}});
    let call = json!({"index": 0, "id": "c", "function": {"name": "Bash", "arguments": "{\"comm"}});
    let choice = |delta: Value, finish: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let chunks = [choice(json!({"tool_calls": [call]}), Value::Null), choice(json!({}), json!(openai))];
    let events = [
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"partial_json": "{\"comm"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": anthropic}}),
        json!({"type": "message_stop"}),
    ];
    if openai.is_empty() { read(wire, &events) } else { read(wire, &chunks) }
}

#[test]
fn a_call_for_which_there_was_no_room_is_none() {
    for reply in [half_a_call(&Messages, "max_tokens", ""), half_a_call(&ChatCompletions, "", "length")] {
        let reply = reply.unwrap();
        assert_eq!((reply.stop, reply.tool_calls), (StopReason::MaxTokens, Vec::new()));
    }
}

#[test]
fn a_call_that_cannot_be_read_is_an_error() {
    for reply in [half_a_call(&Messages, "tool_use", ""), half_a_call(&ChatCompletions, "", "tool_calls")] {
        let Err(Trouble::Malformed(why)) = reply else { panic!("{reply:?}") };
        assert!(why.starts_with("the arguments of a call of `Bash` are not JSON"), "{why}");
    }
}

#[test]
fn an_error_within_a_stream_is_told_as_one() {
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}});
    assert_eq!(read(&Messages, &[overloaded]), Err(Trouble::Failed("busy".to_owned())));
    let invalid = json!({"error": {"type": "invalid_request_error", "message": "no"}});
    assert_eq!(read(&ChatCompletions, &[invalid]), Err(Trouble::Refused("no".to_owned())));
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    let expected = Trouble::Refused("the request was blocked: SAFETY".to_owned());
    assert_eq!(read(&GenerateContent::new(), &[blocked]), Err(expected));
}

#[test]
fn what_gemini_thinks_is_paid_but_not_said_and_its_signature_goes_back() {
    let gemini = GenerateContent::new();
    let call = json!({"functionCall": {"name": "Bash", "args": {}}, "thoughtSignature": "signed"});
    let parts = json!([{"text": "hm", "thought": true}, {"text": "Yes."}, call]);
    let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 3, "thoughtsTokenCount": 40});
    let event = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}], "usageMetadata": usage});
    let reply = read(&gemini, &[event]).unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.output, reply.stop), ("Yes.", 43, StopReason::ToolUse));

    let calls = reply.tool_calls.into_iter().map(Block::ToolCall).collect();
    let history = vec![Message { role: Role::Assistant, blocks: calls }];
    let body: Value = serde_json::from_slice(&gemini.request("", None, &request(history)).body).unwrap();
    assert_eq!(body["contents"][0]["parts"], json!([call]));
}
