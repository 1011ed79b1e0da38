// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Translates between a hook's view of a model call and Gemini's generate-content format.
//!
//! A hook sees text: `{model, messages: [{role, content}], config}` in the request, and `{text, candidates:
//! [{content: {role, parts: [text]}}]}` in the response. LLxprt's hook documentation (seed 002 in `docs/seeds.md`)
//! describes a different request format (`contents`, `generationConfig`). LLxprt Code never had that format, but it
//! is accepted as well.

mod seed;

use serde_json::{Map, Value, json};

use crate::js;
use crate::switches::{Profile, RequestText};

/// Keys of a generation configuration that a hook sees.
const CONFIG_KEYS: [&str; 4] = ["temperature", "maxOutputTokens", "topP", "topK"];

/// Model of a request that names none.
const DEFAULT_MODEL: &str = "gemini-2.5-flash";

/// A generate-content request as a hook sees it. Tools and parts without text are not included. The system
/// instruction and stop sequences are included only in the format of LLxprt's hook documentation.
pub fn to_hook_request(profile: &Profile, request: &Value) -> Value {
    let contents = js::field(request, "contents").map(as_list).unwrap_or_default();
    let messages: Vec<Value> = contents
        .iter()
        .filter_map(|content| {
            let (role, text) = message_of(content)?;
            Some(json!({"role": role, "content": text}))
        })
        .collect();
    let mut seen = Map::new();
    let model = js::text(request, "model").unwrap_or_else(|| DEFAULT_MODEL.to_owned());
    seen.insert("model".into(), model.into());
    seen.insert("config".into(), copy_config_keys(request.get("config")).into());
    if profile.seed_request {
        seed::show(&mut seen, &messages, request.get("config"));
    }
    seen.insert("messages".into(), messages.into());
    seen.into()
}

/// Merges a hook's request into the original request.
///
/// In the profile of LLxprt's hook documentation, only the values of `generationConfig` that the hook sets are
/// replaced, and the hook's `systemInstruction` is used. In the other profiles, a `config` from a hook replaces all
/// four keys that hooks see, so keys that the hook omits are dropped. As in the harnesses, all other keys of the
/// configuration are kept.
pub fn from_hook_request(profile: &Profile, hook: &Value, base: Option<&Value>) -> Value {
    let hook = seed::understand(hook);
    let mut request = Map::new();
    if let Some(base) = base {
        js::spread(&mut request, base);
    }
    let model = hook.get("model").and_then(Value::as_str);
    let model = model.or_else(|| base?.get("model")?.as_str()).unwrap_or(profile.fallback_model);
    request.insert("model".into(), model.into());

    let base_contents = base.and_then(|base| js::field(base, "contents"));
    let contents = match (hook.get("messages").and_then(Value::as_array), base_contents) {
        (None, base) => base.cloned().unwrap_or_else(|| json!([])),
        (Some(messages), Some(base)) if profile.request_text == RequestText::Merged => {
            merged(messages, &as_list(base)).into()
        }
        (Some(messages), _) => messages.iter().map(content_of).collect(),
    };
    request.insert("contents".into(), contents);

    let mut config = Map::new();
    if let Some(base) = base.and_then(|base| base.get("config")) {
        js::spread(&mut config, base);
    }
    let given = js::field(&hook, "config");
    if profile.merge_partial_config {
        let changes = seed::config_changes(given, &hook);
        if given.is_some() || !changes.is_empty() {
            config.extend(changes);
            request.insert("config".into(), config.into());
        }
    } else if given.is_some() {
        config.retain(|key, _| !CONFIG_KEYS.contains(&key.as_str()));
        config.extend(copy_config_keys(given));
        request.insert("config".into(), config.into());
    }
    request.into()
}

/// A generate-content response as a hook sees it. `text` is the answer without the model's thoughts; `parts` also
/// contain the thoughts.
pub fn to_hook_response(response: &Value) -> Value {
    let candidates =
        response.get("candidates").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut seen = Map::new();
    if let Some(parts) = candidates.first().and_then(parts_of).filter(|parts| !parts.is_empty()) {
        let spoken = parts.iter().filter(|part| js::field(part, "thought").is_none());
        let text: String = spoken.filter_map(|part| js::text(part, "text")).collect();
        seen.insert("text".into(), text.into());
    }
    let to_js_string = candidates.iter().map(|candidate| {
        let parts = parts_of(candidate).unwrap_or_default();
        let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
        let mut to_js_string = copy_keys(candidate, &["finishReason", "index"]);
        to_js_string.insert("content".into(), json!({"role": "model", "parts": texts}));
        if let Some(ratings) = candidate.get("safetyRatings").and_then(Value::as_array) {
            to_js_string.insert("safetyRatings".into(), ratings.iter().map(rating).collect());
        }
        Value::from(to_js_string)
    });
    seen.insert("candidates".into(), to_js_string.collect());
    if let Some(usage) = js::field(response, "usageMetadata") {
        let usage = copy_keys(usage, &["promptTokenCount", "candidatesTokenCount", "totalTokenCount"]);
        seen.insert("usageMetadata".into(), usage.into());
    }
    seen.into()
}

/// A hook's response in generate-content format. A part may be a string, or `{text}` as in LLxprt's hook
/// documentation.
pub fn from_hook_response(hook: &Value) -> Value {
    let candidates = hook.get("candidates").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut response = copy_keys(hook, &["text", "usageMetadata"]);
    let given = candidates.iter().map(|candidate| {
        let parts = parts_of(candidate).unwrap_or_default();
        let parts: Vec<Value> =
            parts.iter().map(|part| json!({"text": part.get("text").unwrap_or(part)})).collect();
        let mut given = copy_keys(candidate, &["finishReason", "index", "safetyRatings"]);
        given.insert("content".into(), json!({"role": "model", "parts": parts}));
        Value::from(given)
    });
    response.insert("candidates".into(), given.collect());
    response.into()
}

/// A tool configuration as a hook sees it.
pub fn to_hook_tool_config(config: &Value) -> Value {
    let calling = config.get("functionCallingConfig").unwrap_or(&Value::Null);
    copy_keys(calling, &["mode", "allowedFunctionNames"]).into()
}

/// A hook's tool configuration in generate-content format; empty if the hook sets nothing.
pub fn from_hook_tool_config(hook: &Value) -> Value {
    let calling = copy_keys(hook, &["mode", "allowedFunctionNames"]);
    if calling.is_empty() { json!({}) } else { json!({"functionCallingConfig": calling}) }
}

fn as_list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_else(|| vec![value.clone()])
}

/// Copies the given keys, except those that are absent or `null`.
fn copy_keys(value: &Value, keys: &[&str]) -> Map<String, Value> {
    let there =
        |key: &&str| Some(((*key).to_owned(), value.get(key).filter(|value| !value.is_null())?.clone()));
    keys.iter().filter_map(there).collect()
}

fn copy_config_keys(config: Option<&Value>) -> Map<String, Value> {
    config.map(|config| copy_keys(config, &CONFIG_KEYS)).unwrap_or_default()
}

fn parts_of(candidate: &Value) -> Option<&[Value]> {
    Some(candidate.get("content")?.get("parts")?.as_array()?.as_slice())
}

fn rating(rating: &Value) -> Value {
    let text = |key| js::text(rating, key).unwrap_or_default();
    json!({"category": text("category"), "probability": text("probability")})
}

/// Text of a part.
fn text_of(part: &Value) -> Option<&str> {
    part.get("text")?.as_str()
}

/// The role and text of an entry of `contents`; `None` if the entry has no text.
fn message_of(content: &Value) -> Option<(&'static str, String)> {
    if let Value::String(text) = content {
        return Some(("user", text.clone()));
    }
    let parts = as_list(content.get("parts")?);
    let role = match content.get("role")?.as_str() {
        Some("model") => "model",
        Some("system") => "system",
        _ => "user",
    };
    let text: String = parts.iter().filter_map(text_of).collect();
    (!text.is_empty()).then_some((role, text))
}

fn content_of(message: &Value) -> Value {
    let text = message.get("content").map(js::to_js_string).unwrap_or_default();
    json!({"role": message.get("role"), "parts": [{"text": text}]})
}

/// Puts the text of messages into the original entries. Entries that the hook did not see are kept, and so are
/// entries for which it sent no message. So a hook cannot remove entries.
fn merged(messages: &[Value], base: &[Value]) -> Vec<Value> {
    let mut messages = messages.iter();
    let mut merged: Vec<Value> = base
        .iter()
        .map(|content| {
            if let Value::String(text) = content {
                let kept = || json!({"role": "user", "parts": [{"text": text}]});
                return messages.next().map_or_else(kept, content_of);
            }
            let Some(parts) = content.get("role").and(content.get("parts")) else {
                return json!({"role": "user", "parts": [content]});
            };
            let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
            if !parts.iter().any(|part| text_of(part).is_some()) {
                return content.clone();
            }
            let Some(message) = messages.next() else { return content.clone() };
            let mut entry = Map::new();
            js::spread(&mut entry, content);
            js::spread(&mut entry, &content_of(message));
            if let Some(Value::Array(all)) = entry.get_mut("parts") {
                all.extend(parts.iter().filter(|part| text_of(part).is_none()).cloned());
            }
            entry.into()
        })
        .collect();
    merged.extend(messages.map(content_of));
    merged
}

#[cfg(test)]
mod tests;
