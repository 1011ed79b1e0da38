// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The format of a model request in LLxprt's hook documentation (seed 002 in `docs/seeds.md`): `contents`,
//! `generationConfig`.

use serde_json::{Map, Value, json};

use super::{as_list, copy_keys};
use crate::js;

/// Keys of `generationConfig`.
const GENERATION_CONFIG: [&str; 5] = ["temperature", "maxOutputTokens", "topP", "topK", "stopSequences"];

/// Adds the fields of the documented format to the request that hooks receive.
pub(super) fn show(seen: &mut Map<String, Value>, messages: &[Value], config: Option<&Value>) {
    let contents = messages.iter().map(|message| {
        let text = message.get("content").unwrap_or(&Value::Null);
        json!({"role": message.get("role"), "parts": [{"text": text}]})
    });
    seen.insert("contents".into(), contents.collect());
    let generation = config.map(|config| copy_keys(config, &GENERATION_CONFIG)).unwrap_or_default();
    seen.insert("generationConfig".into(), generation.into());
    if let Some(instruction) = config.and_then(|config| js::field(config, "systemInstruction")) {
        seen.insert("systemInstruction".into(), system_instruction(instruction));
    }
}

/// Values of a request's configuration that a hook changes. Callers keep the other values.
pub(super) fn config_changes(given: Option<&Value>, hook: &Value) -> Map<String, Value> {
    let mut changes = given.map(|given| copy_keys(given, &GENERATION_CONFIG)).unwrap_or_default();
    if let Some(instruction) = js::field(hook, "systemInstruction") {
        changes.insert("systemInstruction".into(), system_instruction(instruction));
    }
    changes
}

/// Normalizes a system instruction, which may be a string, a list of parts, or an object with parts.
fn system_instruction(given: &Value) -> Value {
    let parts = as_list(given.get("parts").unwrap_or(given));
    let parts: Vec<_> = parts.iter().map(|part| json!({"text": part.get("text").unwrap_or(part)})).collect();
    json!({"role": "system", "parts": parts})
}

/// Converts a request in the documented format to the format that the harnesses read. Fields in the harnesses' format
/// take precedence.
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

/// Converts an entry of `contents` to a message. A part is a string or `{text}`.
fn message(content: &Value) -> Value {
    let parts = content.get("parts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text: String = parts.iter().filter_map(|part| part.get("text").unwrap_or(part).as_str()).collect();
    json!({"role": content.get("role"), "content": text})
}
