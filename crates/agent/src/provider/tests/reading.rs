// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests the reply parsers with events that the scripted server does not send.

use super::super::anthropic::AnthropicProtocol;
use super::super::gemini::GeminiProtocol;
use super::super::openai::OpenAiProtocol;
use super::super::protocol::{ProviderProtocol, StreamError};
use super::*;

/// Parses events into a reply.
fn parse_events(protocol: &dyn ProviderProtocol, events: &[Value]) -> Result<ModelReply, StreamError> {
    let mut reader = protocol.reader(&request(Vec::new()));
    for event in events {
        reader.read_event(&event.to_string(), &mut |_| {})?;
    }
    assert!(reader.is_complete());
    Ok(reader.draft().take_reply("m"))
}

/// Parses a reply with a tool call whose arguments are cut off. The reply ends with the given stop reason.
fn parse_truncated_call(
    protocol: &dyn ProviderProtocol,
    anthropic: &str,
    openai: &str,
) -> Result<ModelReply, StreamError> {
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
    if openai.is_empty() { parse_events(protocol, &events) } else { parse_events(protocol, &chunks) }
}

#[test]
fn a_call_cut_off_at_the_token_limit_is_dropped() {
    for reply in [
        parse_truncated_call(&AnthropicProtocol, "max_tokens", ""),
        parse_truncated_call(&OpenAiProtocol, "", "length"),
    ] {
        let reply = reply.unwrap();
        assert_eq!((reply.stop, reply.tool_calls), (StopReason::MaxTokens, Vec::new()));
    }
}

#[test]
fn a_call_that_cannot_be_read_is_an_error() {
    for reply in [
        parse_truncated_call(&AnthropicProtocol, "tool_use", ""),
        parse_truncated_call(&OpenAiProtocol, "", "tool_calls"),
    ] {
        let Err(StreamError::Malformed(why)) = reply else { panic!("{reply:?}") };
        assert!(why.starts_with("arguments of a `Bash` call are not valid JSON"), "{why}");
    }
}

#[test]
fn an_error_within_a_stream_is_reported() {
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}});
    assert_eq!(parse_events(&AnthropicProtocol, &[overloaded]), Err(StreamError::Failed("busy".to_owned())));
    let invalid = json!({"error": {"type": "invalid_request_error", "message": "no"}});
    assert_eq!(parse_events(&OpenAiProtocol, &[invalid]), Err(StreamError::Refused("no".to_owned())));
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    let expected = StreamError::Refused("the request was blocked: SAFETY".to_owned());
    assert_eq!(parse_events(&GeminiProtocol::new(), &[blocked]), Err(expected));
}

#[test]
fn thoughts_of_gemini_count_as_output_and_their_signature_goes_back() {
    let gemini = GeminiProtocol::new();
    let call = json!({"functionCall": {"name": "Bash", "args": {}}, "thoughtSignature": "signed"});
    let parts = json!([{"text": "hm", "thought": true}, {"text": "Yes."}, call]);
    let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 3, "thoughtsTokenCount": 40});
    let event = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}], "usageMetadata": usage});
    let reply = parse_events(&gemini, &[event]).unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.output, reply.stop), ("Yes.", 43, StopReason::ToolUse));

    let calls = reply.tool_calls.into_iter().map(ContentBlock::ToolCall).collect();
    let history = vec![ChatMessage { role: ChatRole::Assistant, blocks: calls }];
    let body: Value = serde_json::from_slice(&gemini.request("", None, &request(history)).body).unwrap();
    assert_eq!(body["contents"][0]["parts"], json!([call]));
}
