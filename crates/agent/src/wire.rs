// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Requests and answers of the model in the words of hooks, and back.
//!
//! Two vocabularies stand side by side in one object: that of `docs/spec/sdk-events.md` (`prompt`,
//! `systemPrompt`, `tools`; `text`, `toolCalls`) and that of LLxprt Code and Gemini CLI (`contents`,
//! `systemInstruction`, `generationConfig`; `candidates`). A hook changes whichever it knows.

use serde_json::{Map, Value, json};
use tenterhook_event::Merge;

use crate::provider::{Block, Message, ModelReply, ModelRequest, Role, Sampling, StopReason, ToolCall};

/// A request, for hooks.
pub(crate) fn request(prompt: &str, request: &ModelRequest) -> Value {
    let names: Vec<_> = request.tools.iter().map(|tool| &tool.name).collect();
    let contents: Vec<_> = request.messages.iter().map(content).collect();
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
        let Sampling { top_p, top_k, stop_sequences } = &request.sampling;
        let stops = (!stop_sequences.is_empty()).then(|| json!(stop_sequences));
        let said = [
            ("temperature", request.temperature.map(Value::from)),
            ("topP", top_p.map(Value::from)),
            ("topK", top_k.map(Value::from)),
            ("stopSequences", stops),
        ];
        config.extend(said.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    }
    whole
}

/// An answer, for hooks: `response` has the words of the payload already.
pub(crate) fn reply(response: &Value, reply: &ModelReply) -> Value {
    let text = (!reply.text.is_empty()).then(|| json!({"text": reply.text}));
    let calls = reply.tool_calls.iter().map(call_part);
    let parts: Vec<_> = text.into_iter().chain(calls).collect();
    let finish = if reply.stop == StopReason::MaxTokens { "MAX_TOKENS" } else { "STOP" };
    let candidate = json!({"content": {"role": "model", "parts": parts}, "finishReason": finish});
    let mut whole = response.clone();
    Merge::Shallow.apply(&mut whole, &json!({"candidates": [candidate]}));
    whole
}

/// Tool calls in the words of the payload.
pub(crate) fn calls(calls: &[ToolCall]) -> Value {
    calls.iter().map(|call| json!({"id": call.id, "name": call.name, "args": call.args})).collect()
}

/// Brings a hook's change into a request. What it does not name stays.
pub(crate) fn change_request(target: &mut ModelRequest, merge: Merge, value: &Value) {
    let Value::Object(changes) = value else { return };
    let mut whole = request("", target);
    let merge = if merge == Merge::Replace { Merge::Shallow } else { merge };
    merge.apply(&mut whole, value);
    let changed = |key: &str| changes.get(key).and_then(|_| whole.get(key));
    match changed("model") {
        Some(Value::String(name)) => target.model.clone_from(name),
        Some(Value::Object(config)) => {
            let name = config.get("name").and_then(Value::as_str);
            target.model = name.map_or_else(|| target.model.clone(), ToOwned::to_owned);
            configure(target, config.get("temperature"), config.get("maxTokens"));
        }
        _ => {}
    }
    if let Some(contents) = changed("contents").and_then(Value::as_array) {
        target.messages = contents.iter().filter_map(message).collect();
    }
    if let Some(prompt) = changed("prompt").and_then(Value::as_str) {
        replace_prompt(&mut target.messages, prompt);
    }
    let system = changed("systemPrompt").and_then(Value::as_str).map(ToOwned::to_owned);
    let system =
        system.or_else(|| changed("systemInstruction").map(|it| words(it.get("parts").unwrap_or(it))));
    target.system = system.or_else(|| target.system.take());
    if let Some(config) = changed("generationConfig") {
        configure(target, config.get("temperature"), config.get("maxOutputTokens"));
        configure_sampling(&mut target.sampling, config);
    }
    if let Some(names) = changed("tools").and_then(Value::as_array) {
        target.tools.retain(|tool| names.contains(&json!(tool.name)));
    }
}

/// Brings a hook's change into an answer.
pub(crate) fn change_reply(target: &mut ModelReply, merge: Merge, value: &Value) {
    let Value::Object(changes) = value else { return };
    let whole = merge == Merge::Replace;
    let candidate = changes.get("candidates").and_then(|all| all.get(0));
    if let Some(parts) = candidate.and_then(|candidate| candidate.pointer("/content/parts")) {
        target.text = words(parts);
        let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
        target.tool_calls =
            (1..).zip(parts).filter_map(|(at, part)| read_call(at, part.get("functionCall")?)).collect();
    }
    if let Some(text) = changes.get("text").and_then(Value::as_str) {
        text.clone_into(&mut target.text);
        if whole && !changes.contains_key("toolCalls") {
            target.tool_calls.clear();
        }
    }
    if let Some(calls) = changes.get("toolCalls").and_then(Value::as_array) {
        target.tool_calls = (1..).zip(calls).filter_map(|(at, call)| read_call(at, call)).collect();
    }
    target.stop = match (&target.stop, target.tool_calls.is_empty()) {
        (_, false) => StopReason::ToolUse,
        (StopReason::ToolUse, true) => StopReason::EndTurn,
        (other, true) => other.clone(),
    };
}

fn configure(target: &mut ModelRequest, temperature: Option<&Value>, max_tokens: Option<&Value>) {
    target.temperature = temperature.and_then(Value::as_f64).or(target.temperature);
    let most = max_tokens.and_then(Value::as_u64).and_then(|most| u32::try_from(most).ok());
    target.max_tokens = most.unwrap_or(target.max_tokens);
}

/// What a hook leaves out stays.
fn configure_sampling(target: &mut Sampling, config: &Value) {
    target.top_p = config.get("topP").and_then(Value::as_f64).or(target.top_p);
    let top_k = config.get("topK").and_then(Value::as_u64).and_then(|top_k| u32::try_from(top_k).ok());
    target.top_k = top_k.or(target.top_k);
    if let Some(stops) = config.get("stopSequences").and_then(Value::as_array) {
        target.stop_sequences = stops.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect();
    }
}

/// The person's last words are others.
fn replace_prompt(messages: &mut [Message], prompt: &str) {
    let users = messages.iter_mut().rev().filter(|message| message.role == Role::User);
    for message in users {
        if let Some(Block::Text(text)) =
            message.blocks.iter_mut().find(|block| matches!(block, Block::Text(_)))
        {
            prompt.clone_into(text);
            return;
        }
    }
}

fn content(message: &Message) -> Value {
    let role = if message.role == Role::User { "user" } else { "model" };
    let parts = message.blocks.iter().map(|block| match block {
        Block::Text(text) => json!({"text": text}),
        Block::ToolCall(call) => call_part(call),
        Block::ToolResult { id, content, is_error } => {
            let key = if *is_error { "error" } else { "output" };
            json!({"functionResponse": {"id": id, "response": {key: content}}})
        }
    });
    json!({"role": role, "parts": parts.collect::<Vec<_>>()})
}

fn call_part(call: &ToolCall) -> Value {
    json!({"functionCall": {"id": call.id, "name": call.name, "args": call.args}})
}

/// A message out of a hook's words; one without anything in it is none.
fn message(content: &Value) -> Option<Message> {
    let role = if content.get("role").and_then(Value::as_str) == Some("model") {
        Role::Assistant
    } else {
        Role::User
    };
    let parts = content.get("parts").and_then(Value::as_array)?;
    let blocks: Vec<_> = (1..).zip(parts).filter_map(|(at, part)| block(at, part)).collect();
    (!blocks.is_empty()).then_some(Message { role, blocks })
}

fn block(at: u32, part: &Value) -> Option<Block> {
    if let Some(call) = part.get("functionCall") {
        return read_call(at, call).map(Block::ToolCall);
    }
    if let Some(response) = part.get("functionResponse") {
        let error = response.pointer("/response/error");
        let said = error.or_else(|| response.pointer("/response/output"))?;
        let content = said.as_str().map_or_else(|| said.to_string(), ToOwned::to_owned);
        let id = response.get("id").and_then(Value::as_str)?.to_owned();
        return Some(Block::ToolResult { id, content, is_error: error.is_some() });
    }
    part_text(part).map(|text| Block::Text(text.to_owned()))
}

fn read_call(at: u32, call: &Value) -> Option<ToolCall> {
    let name = call.get("name").and_then(Value::as_str)?.to_owned();
    let id = call.get("id").and_then(Value::as_str).map_or_else(|| format!("hook_{at}"), ToOwned::to_owned);
    let args = call.get("args").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    Some(ToolCall { id, name, args })
}

/// All the words of a list of parts, or of a text.
fn words(parts: &Value) -> String {
    match parts {
        Value::Array(parts) => parts.iter().filter_map(part_text).collect::<Vec<_>>().join(""),
        other => part_text(other).unwrap_or_default().to_owned(),
    }
}

fn part_text(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| part.get("text")?.as_str())
}
