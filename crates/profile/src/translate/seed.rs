// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The shape of a model request seed 002 documents: `contents`, `generationConfig`.

use serde_json::{Map, Value, json};

use crate::js;

/// Adds that shape beside the one hooks really get.
pub(super) fn show(seen: &mut Map<String, Value>, messages: &[Value]) {
    let contents = messages.iter().map(|message| {
        let text = message.get("content").unwrap_or(&Value::Null);
        json!({"role": message.get("role"), "parts": [{"text": text}]})
    });
    seen.insert("contents".into(), contents.collect());
    if let Some(config) = seen.get("config").cloned() {
        seen.insert("generationConfig".into(), config);
    }
}

/// A request in that shape, in the one the originals read. What is in both counts as they read it.
pub(super) fn understand(hook: &Value) -> Value {
    let mut understood = Map::new();
    js::spread(&mut understood, hook);
    if let (None, Some(contents)) = (hook.get("messages"), hook.get("contents").and_then(Value::as_array)) {
        understood.insert("messages".into(), contents.iter().map(message).collect());
    }
    if let (None, Some(config)) = (hook.get("config"), hook.get("generationConfig")) {
        understood.insert("config".into(), config.clone());
    }
    understood.into()
}

/// A part is text or `{text}`.
fn message(content: &Value) -> Value {
    let parts = content.get("parts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text: String = parts.iter().filter_map(|part| part.get("text").unwrap_or(part).as_str()).collect();
    json!({"role": content.get("role"), "content": text})
}
