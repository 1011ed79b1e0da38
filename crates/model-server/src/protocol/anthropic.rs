// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Anthropic Messages: `POST /v1/messages`.

use serde_json::{Value, json};

use crate::conversation::ToolResult;
use crate::http::{ServerResponse, Status};
use crate::protocol::{Protocol, fresh_id, is, items, pieces, string, texts};
use crate::script::{ModelTurn, TurnUsage};

pub(crate) struct Messages;

impl Protocol for Messages {
    fn serves(&self, path: &str) -> bool {
        path == "/v1/messages"
    }

    fn prompts(&self, body: &Value) -> Vec<String> {
        let users = items(body.get("messages")).filter(|message| is(message, "role", "user"));
        users.flat_map(|message| texts(message.get("content"))).collect()
    }

    fn tool_results(&self, body: &Value) -> Vec<ToolResult> {
        let messages = items(body.get("messages"));
        let blocks = messages.flat_map(|message| items(message.get("content")));
        blocks.filter(|block| is(block, "type", "tool_result")).map(tool_result).collect()
    }

    fn reply(&self, _: &str, body: &Value, turn: &ModelTurn) -> ServerResponse {
        let model = body.get("model").cloned().unwrap_or(Value::Null);
        let blocks = blocks(turn);
        let stop_reason = if turn.tool_calls.is_empty() { "end_turn" } else { "tool_use" };
        if body.get("stream") == Some(&Value::Bool(true)) {
            ServerResponse::event_stream(&events(&model, &blocks, stop_reason, turn.usage))
        } else {
            ServerResponse::json(Status::Ok, &message(&model, &blocks, Some(stop_reason), turn.usage))
        }
    }
}

fn tool_result(block: &Value) -> ToolResult {
    let is_error = block.get("is_error") == Some(&Value::Bool(true));
    let text = texts(block.get("content")).join("\n");
    ToolResult { call_id: string(block, "tool_use_id"), is_error, text }
}

fn blocks(turn: &ModelTurn) -> Vec<Value> {
    let text = turn.text.iter().map(|text| json!({"type": "text", "text": text}));
    let calls = turn.tool_calls.iter().map(
        |call| json!({"type": "tool_use", "id": fresh_id("toolu"), "name": call.name, "input": call.input}),
    );
    text.chain(calls).collect()
}

fn message(model: &Value, blocks: &[Value], stop_reason: Option<&str>, usage: TurnUsage) -> Value {
    json!({
        "id": fresh_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input, "output_tokens": usage.output,
            "cache_read_input_tokens": usage.cache_read, "cache_creation_input_tokens": usage.cache_write,
        },
    })
}

fn events(
    model: &Value,
    blocks: &[Value],
    stop_reason: &str,
    usage: TurnUsage,
) -> Vec<(&'static str, Value)> {
    // The number of output tokens is only known at the end.
    let begun = TurnUsage { output: 1, ..usage };
    let start = json!({"type": "message_start", "message": message(model, &[], None, begun)});
    let mut events = vec![("message_start", start)];
    for (index, block) in blocks.iter().enumerate() {
        let (empty, text, kind, key) = if is(block, "type", "tool_use") {
            let input = block.get("input").cloned().unwrap_or_else(|| json!({})).to_string();
            (with(block, "input", json!({})), input, "input_json_delta", "partial_json")
        } else {
            (with(block, "text", json!("")), string(block, "text"), "text_delta", "text")
        };
        let start = json!({"type": "content_block_start", "index": index, "content_block": empty});
        events.push(("content_block_start", start));
        for piece in pieces(&text) {
            let delta = json!({"type": kind, key: piece});
            let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
            events.push(("content_block_delta", delta));
        }
        events.push(("content_block_stop", json!({"type": "content_block_stop", "index": index})));
    }
    let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
    let delta = json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": usage.output}});
    events.push(("message_delta", delta));
    events.push(("message_stop", json!({"type": "message_stop"})));
    events
}

fn with(block: &Value, key: &str, value: Value) -> Value {
    let mut block = block.clone();
    if let Some(fields) = block.as_object_mut() {
        fields.insert(key.to_owned(), value);
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_results_come_in_order_whichever_way_they_are_written() {
        let body = json!({"messages": [
            {"role": "user", "content": "go"},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "plain"},
                {"type": "text", "text": "not a result"},
                {"type": "tool_result", "tool_use_id": "b", "is_error": true,
                 "content": [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}]},
                {"type": "tool_result", "tool_use_id": "c"},
            ]},
        ]});
        let result = |call_id: &str, is_error, text: &str| ToolResult {
            call_id: call_id.into(),
            is_error,
            text: text.into(),
        };
        let expected =
            vec![result("a", false, "plain"), result("b", true, "one\ntwo"), result("c", false, "")];
        assert_eq!(Messages.tool_results(&body), expected);
    }

    #[test]
    fn an_empty_list_of_tools_offers_none() {
        assert!(!Messages.offers_tools(&json!({"tools": []})));
        assert!(Messages.offers_tools(&json!({"tools": [{"name": "Bash"}]})));
    }
}
