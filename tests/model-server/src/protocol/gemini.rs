// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Gemini: `POST …/models/MODEL:generateContent` and `:streamGenerateContent`.

use serde_json::{Value, json};

use crate::conversation::ToolResult;
use crate::http::{Response, Status};
use crate::protocol::{Protocol, is, items, string};
use crate::script::Turn;

pub(crate) struct GenerateContent;

const STREAMED: &str = ":streamGenerateContent";

impl Protocol for GenerateContent {
    fn serves(&self, path: &str) -> bool {
        path.ends_with(":generateContent") || path.ends_with(STREAMED)
    }

    fn prompts(&self, body: &Value) -> Vec<String> {
        let users = items(body.get("contents")).filter(|content| is(content, "role", "user"));
        let parts = users.flat_map(|content| items(content.get("parts")));
        parts.filter_map(|part| Some(part.get("text")?.as_str()?.to_owned())).collect()
    }

    /// A result need not have an id; its place in the history, which only grows, is one.
    fn tool_results(&self, body: &Value) -> Vec<ToolResult> {
        let parts = items(body.get("contents")).flat_map(|content| items(content.get("parts")));
        let results = parts.filter_map(|part| part.get("functionResponse")).enumerate();
        results.map(|(index, result)| tool_result(index, result)).collect()
    }

    fn reply(&self, path: &str, body: &Value, turn: &Turn) -> Response {
        let texts = turn.text.iter().map(|text| json!({"text": text}));
        let calls = turn.tool_calls.iter();
        let calls = calls.map(|call| json!({"functionCall": {"name": call.name, "args": call.input}}));
        let parts: Vec<_> = texts.chain(calls).collect();
        let answer = json!({
            "candidates": [{
                "index": 0,
                "content": {"role": "model", "parts": parts},
                "finishReason": "STOP",
            }],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
            "modelVersion": body.get("model").and_then(Value::as_str).unwrap_or("scripted"),
        });
        if path.ends_with(STREAMED) {
            Response::data_stream(&[answer], None)
        } else {
            Response::json(Status::Ok, &answer)
        }
    }
}

fn tool_result(index: usize, result: &Value) -> ToolResult {
    let response = result.get("response");
    let field = |name: &str| response.and_then(|response| response.get(name)?.as_str());
    let text = field("error").or_else(|| field("output"));
    let whole = || response.map(ToString::to_string).unwrap_or_default();
    ToolResult {
        call_id: format!("{index} {}", string(result, "name")),
        is_error: field("error").is_some(),
        text: text.map_or_else(whole, ToOwned::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_prompts_are_found_whichever_way_they_are_written() {
        let result =
            |name: &str, response: Value| json!({"functionResponse": {"name": name, "response": response}});
        let body = json!({"contents": [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}}}]},
            {"role": "user", "parts": [result("a", json!({"output": "fine"})), result("a", json!({"error": "no"}))]},
            {"role": "user", "parts": [result("b", json!({"rows": 1}))]},
        ]});
        assert_eq!(GenerateContent.prompts(&body), ["go"]);
        let results = GenerateContent.tool_results(&body);
        let found: Vec<_> = results.iter().map(|result| (result.is_error, result.text.as_str())).collect();
        assert_eq!(found, [(false, "fine"), (true, "no"), (false, r#"{"rows":1}"#)]);
        assert_ne!(results[0].call_id, results[1].call_id);
    }
}
