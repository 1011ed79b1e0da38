// SPDX-License-Identifier: Apache-2.0 OR MIT

//! OpenAI Responses: `POST …/responses`.

use serde_json::{Value, json};

use crate::conversation::ToolResult;
use crate::http::{ServerResponse, Status};
use crate::protocol::{Protocol, fresh_id, is, items, string, texts};
use crate::script::{ModelTurn, ScriptedCall, TurnUsage};

pub(crate) struct Responses;

impl Protocol for Responses {
    fn serves(&self, path: &str) -> bool {
        path.ends_with("/responses")
    }

    fn prompts(&self, body: &Value) -> Vec<String> {
        match body.get("input") {
            Some(Value::String(text)) => vec![text.clone()],
            input => {
                let users = items(input).filter(|item| is(item, "role", "user"));
                users.flat_map(|item| texts(item.get("content"))).collect()
            }
        }
    }

    fn tool_results(&self, body: &Value) -> Vec<ToolResult> {
        let results = items(body.get("input")).filter(|item| {
            is(item, "type", "function_call_output") || is(item, "type", "custom_tool_call_output")
        });
        // The protocol has no field that marks a failed call.
        let result = |item: &Value| ToolResult {
            call_id: string(item, "call_id"),
            is_error: false,
            text: texts(item.get("output")).join("\n"),
        };
        results.map(result).collect()
    }

    fn reply(&self, _: &str, body: &Value, turn: &ModelTurn) -> ServerResponse {
        let output: Vec<_> = turn.text.iter().map(message).chain(turn.tool_calls.iter().map(call)).collect();
        let whole = response(body, &output, "completed", turn.usage);
        if body.get("stream") != Some(&Value::Bool(true)) {
            return ServerResponse::json(Status::Ok, &whole);
        }
        let created = response(body, &[], "in_progress", turn.usage);
        let mut events = vec![("response.created", json!({"type": "response.created", "response": created}))];
        for (index, item) in output.iter().enumerate() {
            for name in ["response.output_item.added", "response.output_item.done"] {
                events.push((name, json!({"type": name, "output_index": index, "item": item})));
            }
        }
        events.push(("response.completed", json!({"type": "response.completed", "response": whole})));
        ServerResponse::event_stream(&events)
    }
}

fn message(text: &String) -> Value {
    let part = json!({"type": "output_text", "text": text, "annotations": []});
    json!({"type": "message", "id": fresh_id("msg"), "role": "assistant", "status": "completed", "content": [part]})
}

fn call(call: &ScriptedCall) -> Value {
    if let Value::String(text) = &call.input {
        let (id, call_id) = (fresh_id("ctc"), fresh_id("call"));
        return json!({
            "type": "custom_tool_call", "id": id, "call_id": call_id, "status": "completed",
            "name": call.name, "input": text,
        });
    }
    let mut item = json!({
        "type": "function_call",
        "id": fresh_id("fc"),
        "call_id": fresh_id("call"),
        "status": "completed",
        "name": call.name,
        "arguments": call.input.to_string(),
    });
    if let (Some(namespace), Some(fields)) = (&call.namespace, item.as_object_mut()) {
        fields.insert("namespace".to_owned(), json!(namespace));
    }
    item
}

fn response(body: &Value, output: &[Value], status: &str, usage: TurnUsage) -> Value {
    // In this protocol, cached tokens are part of the input.
    let input = usage.input + usage.cache_read;
    json!({
        "id": fresh_id("resp"),
        "object": "response",
        "created_at": 0,
        "status": status,
        "model": body.get("model"),
        "output": output,
        "usage": {
            "input_tokens": input, "input_tokens_details": {"cached_tokens": usage.cache_read},
            "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input + usage.output,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_prompts_are_found_whichever_way_they_are_written() {
        let body = json!({"input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "rules"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
            {"type": "function_call", "call_id": "a", "name": "x", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "plain"},
            {"type": "custom_tool_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "parts"}]},
        ]});
        assert_eq!(Responses.prompts(&body), ["go"]);
        let found: Vec<_> =
            Responses.tool_results(&body).into_iter().map(|result| (result.call_id, result.text)).collect();
        assert_eq!(found, [("a".into(), "plain".into()), ("b".into(), "parts".into())]);
    }

    #[test]
    fn a_tool_in_a_group_says_so() {
        let grouped = call(&ScriptedCall::new("echo", json!({"text": "x"})).in_namespace("mcp__files"));
        assert_eq!(
            (&grouped["namespace"], &grouped["arguments"]),
            (&json!("mcp__files"), &json!(r#"{"text":"x"}"#))
        );
        assert_eq!(call(&ScriptedCall::new("echo", json!({}))).get("namespace"), None);
        let free = call(&ScriptedCall::new("apply_patch", json!("*** Begin Patch")));
        assert_eq!((&free["type"], &free["input"]), (&json!("custom_tool_call"), &json!("*** Begin Patch")));
    }
}
