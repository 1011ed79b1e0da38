// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Gemini: `POST …/models/MODEL:generateContent` and `:streamGenerateContent`.

use serde_json::{Value, json};

use crate::conversation::ToolResult;
use crate::http::{ServerResponse, Status};
use crate::protocol::{Protocol, is, items, pieces, string};
use crate::script::ModelTurn;

pub(crate) struct GenerateContent;

const STREAM_SUFFIX: &str = ":streamGenerateContent";

impl Protocol for GenerateContent {
    fn serves(&self, path: &str) -> bool {
        path.ends_with(":generateContent") || path.ends_with(STREAM_SUFFIX)
    }

    fn prompts(&self, body: &Value) -> Vec<String> {
        let users = items(body.get("contents")).filter(|content| is(content, "role", "user"));
        let parts = users.flat_map(|content| items(content.get("parts")));
        parts.filter_map(|part| Some(part.get("text")?.as_str()?.to_owned())).collect()
    }

    /// A result may have no id. Its position in the history is used instead, which is stable because the history only
    /// grows.
    fn tool_results(&self, body: &Value) -> Vec<ToolResult> {
        let parts = items(body.get("contents")).flat_map(|content| items(content.get("parts")));
        let results = parts.filter_map(|part| part.get("functionResponse")).enumerate();
        results.map(|(index, result)| tool_result(index, result)).collect()
    }

    fn reply(&self, path: &str, body: &Value, turn: &ModelTurn) -> ServerResponse {
        let model = body.get("model").and_then(Value::as_str).unwrap_or("scripted");
        // In this protocol, cached tokens are part of the prompt.
        let prompt = turn.usage.input + turn.usage.cache_read;
        let usage = json!({
            "promptTokenCount": prompt, "candidatesTokenCount": turn.usage.output,
            "totalTokenCount": prompt + turn.usage.output,
            "cachedContentTokenCount": turn.usage.cache_read,
        });
        let answer = |parts: &[Value], finish: Option<&str>| {
            let content = json!({"role": "model", "parts": parts});
            let mut candidate = json!({"index": 0, "content": content});
            if let (Some(finish), Some(fields)) = (finish, candidate.as_object_mut()) {
                fields.insert("finishReason".to_owned(), json!(finish));
            }
            json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": model})
        };
        let text = |text: String| json!({"text": text});
        let calls = turn.tool_calls.iter();
        let calls = calls.map(|call| json!({"functionCall": {"name": call.name, "args": call.input}}));
        if !path.ends_with(STREAM_SUFFIX) {
            let parts: Vec<_> = turn.text.iter().cloned().map(text).chain(calls).collect();
            return ServerResponse::json(Status::Ok, &answer(&parts, Some("STOP")));
        }
        let texts = turn.text.iter().flat_map(|text| pieces(text)).map(text);
        let parts: Vec<_> = texts.chain(calls).collect();
        let Some((last, before)) = parts.split_last() else {
            return ServerResponse::data_stream(&[answer(&[], Some("STOP"))], None);
        };
        let mut events: Vec<_> = before.iter().map(|part| answer(std::slice::from_ref(part), None)).collect();
        events.push(answer(std::slice::from_ref(last), Some("STOP")));
        ServerResponse::data_stream(&events, None)
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
