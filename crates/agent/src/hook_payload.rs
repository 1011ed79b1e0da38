// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts model requests and replies to hook payloads, and applies the changes that hooks return.
//!
//! A payload contains the keys of two formats: those of `docs/spec/sdk-events.md` (`prompt`, `systemPrompt`, `tools`;
//! `text`, `toolCalls`) and those of LLxprt Code and Gemini CLI (`contents`, `systemInstruction`, `generationConfig`;
//! `candidates`). A hook may change the keys of either format.

use serde_json::{Map, Value, json};
use tenterhook_event::MergeMode;

use crate::provider::{
    ChatMessage, ChatRole, ContentBlock, ModelReply, ModelRequest, ModelToolCall, SamplingOptions, StopReason,
};

/// Converts a model request to the JSON that hooks read.
pub(crate) fn request_json(prompt: &str, request: &ModelRequest) -> Value {
    let names: Vec<_> = request.tools.iter().map(|tool| &tool.name).collect();
    let contents: Vec<_> = request.messages.iter().map(content_json).collect();
    let mut whole = json!({
        "prompt": prompt, "model": request.model, "tools": names, "contents": contents,
        "generationConfig": {"maxOutputTokens": request.max_tokens},
    });
    if let (Some(fields), Some(system)) = (whole.as_object_mut(), &request.system) {
        fields.insert("systemPrompt".to_owned(), json!(system));
        let instruction = json!({"role": "system", "parts": [{"text": system}]});
        fields.insert("systemInstruction".to_owned(), instruction);
    }
    if let Some(Value::Object(config)) = whole.get_mut("generationConfig") {
        let SamplingOptions { top_p, top_k, stop_sequences } = &request.sampling;
        let stops = (!stop_sequences.is_empty()).then(|| json!(stop_sequences));
        let options = [
            ("temperature", request.temperature.map(Value::from)),
            ("topP", top_p.map(Value::from)),
            ("topK", top_k.map(Value::from)),
            ("stopSequences", stops),
        ];
        config.extend(options.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    }
    whole
}

/// Converts a model reply to the JSON that hooks read. `response` already contains the keys of the SDK format.
pub(crate) fn reply_json(response: &Value, reply: &ModelReply) -> Value {
    let text = (!reply.text.is_empty()).then(|| json!({"text": reply.text}));
    let calls = reply.tool_calls.iter().map(function_call_json);
    let parts: Vec<_> = text.into_iter().chain(calls).collect();
    let finish = if reply.stop == StopReason::MaxTokens { "MAX_TOKENS" } else { "STOP" };
    let candidate = json!({"content": {"role": "model", "parts": parts}, "finishReason": finish});
    let mut whole = response.clone();
    MergeMode::Shallow.apply(&mut whole, &json!({"candidates": [candidate]}));
    whole
}

/// Converts tool calls to the SDK format.
pub(crate) fn tool_calls_json(calls: &[ModelToolCall]) -> Value {
    calls.iter().map(|call| json!({"id": call.id, "name": call.name, "args": call.args})).collect()
}

/// Applies a hook's change to a request. Keys that the hook left out keep their values.
pub(crate) fn apply_request_change(target: &mut ModelRequest, merge: MergeMode, value: &Value) {
    let Value::Object(changes) = value else { return };
    let mut whole = request_json("", target);
    let merge = if merge == MergeMode::Replace { MergeMode::Shallow } else { merge };
    merge.apply(&mut whole, value);
    let changed = |key: &str| changes.get(key).and_then(|_| whole.get(key));
    match changed("model") {
        Some(Value::String(name)) => target.model.clone_from(name),
        Some(Value::Object(config)) => {
            let name = config.get("name").and_then(Value::as_str);
            target.model = name.map_or_else(|| target.model.clone(), ToOwned::to_owned);
            set_temperature_and_max_tokens(target, config.get("temperature"), config.get("maxTokens"));
        }
        _ => {}
    }
    if let Some(contents) = changed("contents").and_then(Value::as_array) {
        target.messages = contents.iter().filter_map(parse_message).collect();
    }
    if let Some(prompt) = changed("prompt").and_then(Value::as_str) {
        replace_prompt(&mut target.messages, prompt);
    }
    let system = changed("systemPrompt").and_then(Value::as_str).map(ToOwned::to_owned);
    let system = system
        .or_else(|| changed("systemInstruction").map(|it| join_text_parts(it.get("parts").unwrap_or(it))));
    target.system = system.or_else(|| target.system.take());
    if let Some(config) = changed("generationConfig") {
        set_temperature_and_max_tokens(target, config.get("temperature"), config.get("maxOutputTokens"));
        set_sampling(&mut target.sampling, config);
    }
    if let Some(names) = changed("tools").and_then(Value::as_array) {
        target.tools.retain(|tool| names.contains(&json!(tool.name)));
    }
}

/// Applies a hook's change to a reply.
pub(crate) fn apply_reply_change(target: &mut ModelReply, merge: MergeMode, value: &Value) {
    let Value::Object(changes) = value else { return };
    let whole = merge == MergeMode::Replace;
    let candidate = changes.get("candidates").and_then(|all| all.get(0));
    if let Some(parts) = candidate.and_then(|candidate| candidate.pointer("/content/parts")) {
        target.text = join_text_parts(parts);
        let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
        target.tool_calls = (1..)
            .zip(parts)
            .filter_map(|(at, part)| parse_tool_call(at, part.get("functionCall")?))
            .collect();
    }
    if let Some(text) = changes.get("text").and_then(Value::as_str) {
        text.clone_into(&mut target.text);
        if whole && !changes.contains_key("toolCalls") {
            target.tool_calls.clear();
        }
    }
    if let Some(calls) = changes.get("toolCalls").and_then(Value::as_array) {
        target.tool_calls = (1..).zip(calls).filter_map(|(at, call)| parse_tool_call(at, call)).collect();
    }
    target.stop = match (&target.stop, target.tool_calls.is_empty()) {
        (_, false) => StopReason::ToolUse,
        (StopReason::ToolUse, true) => StopReason::EndTurn,
        (other, true) => other.clone(),
    };
}

fn set_temperature_and_max_tokens(
    target: &mut ModelRequest,
    temperature: Option<&Value>,
    max_tokens: Option<&Value>,
) {
    target.temperature = temperature.and_then(Value::as_f64).or(target.temperature);
    let limit = max_tokens.and_then(Value::as_u64).and_then(|limit| u32::try_from(limit).ok());
    target.max_tokens = limit.unwrap_or(target.max_tokens);
}

/// Applies sampling options. Options that the hook left out keep their values.
fn set_sampling(target: &mut SamplingOptions, config: &Value) {
    target.top_p = config.get("topP").and_then(Value::as_f64).or(target.top_p);
    let top_k = config.get("topK").and_then(Value::as_u64).and_then(|top_k| u32::try_from(top_k).ok());
    target.top_k = top_k.or(target.top_k);
    if let Some(stops) = config.get("stopSequences").and_then(Value::as_array) {
        target.stop_sequences = stops.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect();
    }
}

/// Replaces the text of the last user message.
fn replace_prompt(messages: &mut [ChatMessage], prompt: &str) {
    let users = messages.iter_mut().rev().filter(|message| message.role == ChatRole::User);
    for message in users {
        if let Some(ContentBlock::Text(text)) =
            message.blocks.iter_mut().find(|block| matches!(block, ContentBlock::Text(_)))
        {
            prompt.clone_into(text);
            return;
        }
    }
}

fn content_json(message: &ChatMessage) -> Value {
    let role = if message.role == ChatRole::User { "user" } else { "model" };
    let parts = message.blocks.iter().map(|block| match block {
        ContentBlock::Text(text) => json!({"text": text}),
        ContentBlock::ToolCall(call) => function_call_json(call),
        ContentBlock::ToolResult { id, content, is_error } => {
            let key = if *is_error { "error" } else { "output" };
            json!({"functionResponse": {"id": id, "response": {key: content}}})
        }
    });
    json!({"role": role, "parts": parts.collect::<Vec<_>>()})
}

fn function_call_json(call: &ModelToolCall) -> Value {
    json!({"functionCall": {"id": call.id, "name": call.name, "args": call.args}})
}

/// Parses a message in the Gemini format. A message without content is dropped.
fn parse_message(content: &Value) -> Option<ChatMessage> {
    let role = if content.get("role").and_then(Value::as_str) == Some("model") {
        ChatRole::Assistant
    } else {
        ChatRole::User
    };
    let parts = content.get("parts").and_then(Value::as_array)?;
    let blocks: Vec<_> = (1..).zip(parts).filter_map(|(at, part)| parse_block(at, part)).collect();
    (!blocks.is_empty()).then_some(ChatMessage { role, blocks })
}

fn parse_block(at: u32, part: &Value) -> Option<ContentBlock> {
    if let Some(call) = part.get("functionCall") {
        return parse_tool_call(at, call).map(ContentBlock::ToolCall);
    }
    if let Some(response) = part.get("functionResponse") {
        let error = response.pointer("/response/error");
        let value = error.or_else(|| response.pointer("/response/output"))?;
        let content = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        let id = response.get("id").and_then(Value::as_str)?.to_owned();
        return Some(ContentBlock::ToolResult { id, content, is_error: error.is_some() });
    }
    part_text(part).map(|text| ContentBlock::Text(text.to_owned()))
}

fn parse_tool_call(at: u32, call: &Value) -> Option<ModelToolCall> {
    let name = call.get("name").and_then(Value::as_str)?.to_owned();
    let id = call.get("id").and_then(Value::as_str).map_or_else(|| format!("hook_{at}"), ToOwned::to_owned);
    let args = call.get("args").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    Some(ModelToolCall { id, name, args })
}

/// Joins the text of a list of parts. A plain string is returned unchanged.
fn join_text_parts(parts: &Value) -> String {
    match parts {
        Value::Array(parts) => parts.iter().filter_map(part_text).collect::<Vec<_>>().join(""),
        other => part_text(other).unwrap_or_default().to_owned(),
    }
}

fn part_text(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| part.get("text")?.as_str())
}
