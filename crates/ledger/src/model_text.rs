// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Summarizes model requests and responses. Every request repeats the whole conversation, so records would contain
//! each message many times. Unless a user turns full text on, a record contains a hash and counts instead.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tenterhook_event::TokenCounts;

use crate::hash::encode_hex;

/// Names that model APIs use for a request's list of messages.
const MESSAGE_LISTS: &[&str] = &["messages", "contents", "input"];
/// JSON pointers to the model name in requests and responses.
const MODEL_NAMES: &[&str] = &["/model", "/model/name", "/modelVersion"];

/// Replaces model requests and responses in a payload with summaries without text. If a hook changed a
/// request or response, the changed version is replaced too.
pub(crate) fn summarize_model_text(payload: &mut Value) {
    for key in ["model_request", "model_response"] {
        if let Some(value) = payload.get_mut("detail").and_then(|detail| detail.get_mut(key)) {
            *value = summary(value);
        }
    }
    let modifications = payload.get_mut("modifications").and_then(Value::as_array_mut);
    for modification in modifications.into_iter().flatten() {
        let of = modification.get("of").and_then(Value::as_str);
        if matches!(of, Some("model-request" | "model-response"))
            && let Some(value) = modification.get_mut("value")
        {
            *value = summary(value);
        }
    }
}

/// Maximum length of a model name; a longer string is ignored.
const MAX_MODEL_NAME_BYTES: usize = 200;

/// Returns the hash and length of the JSON text and, if known, the number of messages, the model, its token
/// usage and its context limit. The keys are those that Tenterhook's own agent uses in its responses, so the
/// sessions code can read a summary like a response.
fn summary(value: &Value) -> Value {
    let text = value.to_string();
    let mut summary = Map::new();
    summary.insert("sha256".to_owned(), encode_hex(&Sha256::digest(text.as_bytes())).into());
    summary.insert("bytes".to_owned(), text.len().into());
    let messages = MESSAGE_LISTS.iter().find_map(|key| value.get(key)?.as_array());
    if let Some(messages) = messages {
        summary.insert("messages".to_owned(), messages.len().into());
    }
    let model = MODEL_NAMES.iter().find_map(|pointer| value.pointer(pointer)?.as_str());
    if let Some(model) = model.filter(|name| name.len() <= MAX_MODEL_NAME_BYTES) {
        summary.insert("model".to_owned(), model.into());
    }
    if let Some(tokens) = TokenCounts::from_response(value) {
        let usage = json!({
            "input_tokens": tokens.prompt(), "output_tokens": tokens.output,
            "cache_read_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write,
        });
        summary.insert("usage".to_owned(), usage);
    }
    if let Some(limit) = TokenCounts::context_limit(value) {
        summary.insert("context_limit".to_owned(), limit.into());
    }
    Value::Object(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_a_model_call_has_hashes_and_counts_but_no_text() {
        let request = json!({"model": "m-1", "messages": [{"role": "user", "content": "private words"}, {}]});
        let answer = json!({"modelVersion": "m-1-b", "contextWindow": 4096, "candidates": [{"finishReason": "STOP", "text": "private"}],
            "usageMetadata": {"promptTokenCount": 110, "candidatesTokenCount": 2, "cachedContentTokenCount": 100}});
        let tokens = TokenCounts::from_response(&answer);
        let change = |of: &str| json!({"of": of, "merge": "deep", "value": {"text": "private"}});
        let mut payload = json!({
            "detail": {"model_request": request, "model_response": answer, "prompt": "kept"},
            "modifications": [change("model-request"), change("model-response"),
                {"of": "tool-input", "value": {"command": "kept"}}],
        });
        summarize_model_text(&mut payload);
        assert!(!payload.to_string().contains("private"), "{payload}");
        let shown = &payload["detail"]["model_request"];
        assert_eq!((&shown["messages"], &shown["model"]), (&json!(2), &json!("m-1")));
        assert_eq!(shown["bytes"], request.to_string().len());
        assert_eq!(shown["sha256"], encode_hex(&Sha256::digest(request.to_string())));
        let shown = &payload["detail"]["model_response"];
        assert_eq!((TokenCounts::from_response(shown), &shown["model"]), (tokens, &json!("m-1-b")));
        assert!(tokens.is_some());
        assert_eq!(TokenCounts::context_limit(shown), Some(4096));
        assert_eq!(payload["detail"]["prompt"], "kept");
        assert_eq!(payload["modifications"][2]["value"]["command"], "kept");
    }

    #[test]
    fn a_piece_of_a_stream_says_nothing_of_tokens() {
        let piece = json!({"candidates": [{"text": "a"}], "usageMetadata": {"promptTokenCount": 5}});
        assert_eq!(summary(&piece).get("usage"), None);
    }
}
