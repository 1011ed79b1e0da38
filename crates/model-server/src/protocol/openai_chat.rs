// SPDX-License-Identifier: Apache-2.0 OR MIT

//! OpenAI Chat Completions: `POST …/chat/completions`.

use serde_json::{Value, json};

use crate::conversation::ToolResult;
use crate::http::{ServerResponse, Status};
use crate::protocol::{Protocol, fresh_id, is, items, pieces, string, texts};
use crate::script::ModelTurn;

pub(crate) struct ChatCompletions;

impl Protocol for ChatCompletions {
    fn serves(&self, path: &str) -> bool {
        path.ends_with("/chat/completions")
    }

    fn prompts(&self, body: &Value) -> Vec<String> {
        let users = items(body.get("messages")).filter(|message| is(message, "role", "user"));
        users.flat_map(|message| texts(message.get("content"))).collect()
    }

    fn tool_results(&self, body: &Value) -> Vec<ToolResult> {
        let results = items(body.get("messages")).filter(|message| is(message, "role", "tool"));
        // The protocol has no field that marks a failed call.
        let result = |message: &Value| ToolResult {
            call_id: string(message, "tool_call_id"),
            is_error: false,
            text: texts(message.get("content")).join("\n"),
        };
        results.map(result).collect()
    }

    fn reply(&self, _: &str, body: &Value, turn: &ModelTurn) -> ServerResponse {
        let streams = body.get("stream") == Some(&Value::Bool(true));
        let message = message(turn);
        let finish = if turn.tool_calls.is_empty() { "stop" } else { "tool_calls" };
        // In this protocol, cached tokens are part of the prompt.
        let prompt = turn.usage.input + turn.usage.cache_read;
        let usage = json!({
            "prompt_tokens": prompt, "completion_tokens": turn.usage.output,
            "total_tokens": prompt + turn.usage.output,
            "prompt_tokens_details": {"cached_tokens": turn.usage.cache_read},
        });
        let id = fresh_id("chatcmpl");
        let object = if streams { "chat.completion.chunk" } else { "chat.completion" };
        let whole = |choices: Value, usage: Option<&Value>| {
            json!({
                "id": id, "object": object, "created": 0, "model": body.get("model"),
                "choices": choices, "usage": usage,
            })
        };
        if !streams {
            let choices = json!([{"index": 0, "message": message, "finish_reason": finish}]);
            return ServerResponse::json(Status::Ok, &whole(choices, Some(&usage)));
        }
        let mut events: Vec<_> = deltas(&message)
            .into_iter()
            .map(|delta| whole(json!([{"index": 0, "delta": delta, "finish_reason": null}]), None))
            .collect();
        events.push(whole(json!([{"index": 0, "delta": {}, "finish_reason": finish}]), None));
        events.push(whole(json!([]), Some(&usage)));
        ServerResponse::data_stream(&events, Some("[DONE]"))
    }
}

/// The message in the pieces in which it is streamed: first the texts, then the header and the arguments of each
/// call.
fn deltas(message: &Value) -> Vec<Value> {
    let mut deltas = Vec::new();
    match message.get("content").and_then(Value::as_str) {
        Some(text) => {
            deltas
                .extend(pieces(text).into_iter().map(|piece| json!({"role": "assistant", "content": piece})));
        }
        None => deltas.push(json!({"role": "assistant", "content": null})),
    }
    for call in items(message.get("tool_calls")) {
        if is(call, "type", "custom") {
            deltas.push(json!({"tool_calls": [call]}));
            continue;
        }
        let arguments =
            call.get("function").map(|function| string(function, "arguments")).unwrap_or_default();
        for (count, piece) in pieces(&arguments).into_iter().enumerate() {
            let mut part = json!({"index": call.get("index"), "function": {"arguments": piece}});
            if count == 0 {
                part.clone_from(call);
                if let Some(start) = part.pointer_mut("/function/arguments") {
                    *start = piece.into();
                }
            }
            deltas.push(json!({"tool_calls": [part]}));
        }
    }
    deltas
}

fn message(turn: &ModelTurn) -> Value {
    let calls = turn.tool_calls.iter().enumerate().map(|(index, call)| {
        if let Value::String(text) = &call.input {
            let custom = json!({"name": call.name, "input": text});
            return json!({"index": index, "id": fresh_id("call"), "type": "custom", "custom": custom});
        }
        let function = json!({"name": call.name, "arguments": call.input.to_string()});
        json!({"index": index, "id": fresh_id("call"), "type": "function", "function": function})
    });
    let calls: Vec<_> = calls.collect();
    let mut message = json!({"role": "assistant", "content": turn.text});
    if let (false, Some(fields)) = (calls.is_empty(), message.as_object_mut()) {
        fields.insert("tool_calls".to_owned(), calls.into());
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_prompts_are_found_whichever_way_they_are_written() {
        let body = json!({"messages": [
            {"role": "system", "content": "rules"},
            {"role": "user", "content": "go"},
            {"role": "user", "content": [{"type": "text", "text": "on"}]},
            {"role": "assistant", "content": null, "tool_calls": []},
            {"role": "tool", "tool_call_id": "a", "content": "plain"},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "parts"}]},
        ]});
        assert_eq!(ChatCompletions.prompts(&body), ["go", "on"]);
        let results = ChatCompletions.tool_results(&body);
        let found: Vec<_> = results.into_iter().map(|result| (result.call_id, result.text)).collect();
        assert_eq!(found, [("a".into(), "plain".into()), ("b".into(), "parts".into())]);
    }

    #[test]
    fn a_turn_without_calls_has_no_list_of_them() {
        assert_eq!(message(&ModelTurn::text("bye")), json!({"role": "assistant", "content": "bye"}));
        let calls = &message(&ModelTurn::tool("bash", json!({"command": "ls"})))["tool_calls"];
        assert_eq!(calls[0]["function"], json!({"name": "bash", "arguments": r#"{"command":"ls"}"#}));
        let free = message(&ModelTurn::tool("apply_patch", json!("*** Begin Patch")));
        let custom = json!({"name": "apply_patch", "input": "*** Begin Patch"});
        assert_eq!(free["tool_calls"][0]["custom"], custom);
        assert_eq!(deltas(&free)[1]["tool_calls"][0]["custom"], custom);
    }
}
