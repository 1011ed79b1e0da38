// SPDX-License-Identifier: Apache-2.0 OR MIT

//! OpenAI chat completions, which many other servers speak too: `POST …/chat/completions`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::http::Post;
use super::wire::{
    Deltas, Draft, Progress, Reader, Trouble, Wire, arguments, count, items, json as event, put,
    put_sampling, text,
};
use super::{Block, Key, Message, ModelRequest, Role, StopReason, ToolCall, ToolChoice, ToolSpec, Usage};

pub(super) struct ChatCompletions;

impl Wire for ChatCompletions {
    fn request(&self, base_url: &str, key: Option<&Key>, request: &ModelRequest) -> Post {
        let system = request.system.iter().map(|system| json!({"role": "system", "content": system}));
        let messages = system.chain(request.messages.iter().flat_map(messages));
        let mut body = json!({
            "model": request.model,
            "stream": true,
            "stream_options": {"include_usage": true},
            "messages": messages.collect::<Vec<_>>(),
        });
        // OpenAI has renamed the field; the servers that speak its language mostly have not.
        let limit =
            if base_url.contains("//api.openai.com") { "max_completion_tokens" } else { "max_tokens" };
        put(&mut body, limit, request.max_tokens);
        if let Some(temperature) = request.temperature {
            put(&mut body, "temperature", temperature);
        }
        put_sampling(&mut body, &request.sampling, [Some("top_p"), None, Some("stop")]);
        if !request.tools.is_empty() {
            put(&mut body, "tools", request.tools.iter().map(tool).collect::<Vec<_>>());
            put(&mut body, "tool_choice", choice(request.tool_choice));
        }
        let headers = key.map(|key| ("authorization", format!("Bearer {}", key.reveal())));
        Post {
            url: format!("{base_url}/chat/completions"),
            headers: headers.into_iter().collect(),
            body: body.to_string().into_bytes(),
        }
    }

    fn reader(&self, _: &ModelRequest) -> Box<dyn Reader> {
        Box::new(Reading::default())
    }
}

fn choice(choice: ToolChoice) -> &'static str {
    match choice {
        ToolChoice::Auto => "auto",
        ToolChoice::Any => "required",
        ToolChoice::None => "none",
    }
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, schema } = tool;
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}})
}

/// What a tool returned is a message of its own here, and has no mark for a failure.
fn messages(message: &Message) -> Vec<Value> {
    let words = message.text();
    let words = (!words.trim().is_empty()).then_some(words);
    if message.role == Role::Assistant {
        let calls: Vec<_> = message.blocks.iter().filter_map(call).collect();
        let mut said = json!({"role": "assistant", "content": words});
        match (&words, calls.is_empty()) {
            (None, true) => return Vec::new(),
            (_, true) => {}
            (_, false) => put(&mut said, "tool_calls", calls),
        }
        return vec![said];
    }
    let results = message.blocks.iter().filter_map(|block| match block {
        Block::ToolResult { id, content, .. } => {
            Some(json!({"role": "tool", "tool_call_id": id, "content": content}))
        }
        _ => None,
    });
    results.chain(words.map(|words| json!({"role": "user", "content": words}))).collect()
}

fn call(block: &Block) -> Option<Value> {
    let Block::ToolCall(ToolCall { id, name, args }) = block else { return None };
    let function = json!({"name": name, "arguments": args.to_string()});
    Some(json!({"id": id, "type": "function", "function": function}))
}

#[derive(Default)]
struct Reading {
    draft: Draft,
    /// Calls that are being written, by their index: id, name, arguments so far.
    begun: BTreeMap<u64, (String, String, String)>,
}

impl Reader for Reading {
    fn take(&mut self, data: &str, deltas: &mut Deltas<'_>) -> Result<Progress, Trouble> {
        if data.trim() == "[DONE]" {
            return Ok(Progress::Over);
        }
        let chunk = event(data)?;
        if let Some(model) = text(&chunk, "model") {
            self.draft.model = Some(model.to_owned());
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            self.draft.usage = counted(usage);
        }
        for choice in items(&chunk, "choices").filter(|choice| count(choice, "index") == 0) {
            let delta = choice.get("delta").unwrap_or(&Value::Null);
            for key in ["content", "refusal"] {
                self.draft.say(text(delta, key).unwrap_or_default(), deltas);
            }
            for part in items(delta, "tool_calls") {
                self.part(part);
            }
            if let Some(word) = text(choice, "finish_reason") {
                self.end(stopped(word), deltas)?;
            }
        }
        Ok(Progress::More)
    }

    /// Some servers end without the last word; then the reason to stop is the end.
    fn is_whole(&self) -> bool {
        self.draft.stop.is_some()
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }
}

impl Reading {
    fn part(&mut self, part: &Value) {
        let function = part.get("function").unwrap_or(&Value::Null);
        let (id, name, args) = self.begun.entry(count(part, "index")).or_default();
        // Id and name come whole, some servers repeat them; the arguments come in pieces.
        if let Some(told) = text(part, "id").filter(|told| !told.is_empty()) {
            told.clone_into(id);
        }
        if let Some(told) = text(function, "name").filter(|told| !told.is_empty()) {
            told.clone_into(name);
        }
        args.push_str(text(function, "arguments").unwrap_or_default());
    }

    /// Calls are whole once the answer is. One that was cut off for want of room is none.
    fn end(&mut self, stop: StopReason, deltas: &mut Deltas<'_>) -> Result<(), Trouble> {
        for (id, name, args) in std::mem::take(&mut self.begun).into_values() {
            match arguments(&name, &args) {
                Ok(args) => self.draft.call(ToolCall { id, name, args }, deltas),
                Err(_) if stop == StopReason::MaxTokens => {}
                Err(trouble) => return Err(trouble),
            }
        }
        self.draft.stop = Some(stop);
        Ok(())
    }
}

/// What came from a cache is counted within the prompt here.
fn counted(usage: &Value) -> Usage {
    let cached = usage.pointer("/prompt_tokens_details/cached_tokens").and_then(Value::as_u64).unwrap_or(0);
    Usage {
        input: count(usage, "prompt_tokens").saturating_sub(cached),
        output: count(usage, "completion_tokens"),
        cache_read: cached,
        cache_write: 0,
    }
}

fn stopped(word: &str) -> StopReason {
    match word {
        "stop" => StopReason::EndTurn,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" => StopReason::MaxTokens,
        other => StopReason::Other(other.to_owned()),
    }
}
