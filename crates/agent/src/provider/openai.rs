// SPDX-License-Identifier: Apache-2.0 OR MIT

//! OpenAI chat completions (`POST …/chat/completions`), which many other servers implement too.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::http::ProviderHttpRequest;
use super::protocol::{
    DeltaSink, ProviderProtocol, ReplyDraft, ReplyReader, StreamError, StreamProgress, array_items,
    count_field, insert_field, insert_sampling, parse_arguments, parse_event, text_field,
};
use super::{
    ApiKey, ChatMessage, ChatRole, ContentBlock, ModelRequest, ModelToolCall, ModelUsage, StopReason,
    ToolChoice, ToolSpec,
};

pub(super) struct OpenAiProtocol;

impl ProviderProtocol for OpenAiProtocol {
    fn request(&self, base_url: &str, key: Option<&ApiKey>, request: &ModelRequest) -> ProviderHttpRequest {
        let system = request.system.iter().map(|system| json!({"role": "system", "content": system}));
        let messages = system.chain(request.messages.iter().flat_map(messages_json));
        let mut body = json!({
            "model": request.model,
            "stream": true,
            "stream_options": {"include_usage": true},
            "messages": messages.collect::<Vec<_>>(),
        });
        // OpenAI has renamed the field for the token limit; most compatible servers still use the old name.
        let limit =
            if base_url.contains("//api.openai.com") { "max_completion_tokens" } else { "max_tokens" };
        insert_field(&mut body, limit, request.max_tokens);
        if let Some(temperature) = request.temperature {
            insert_field(&mut body, "temperature", temperature);
        }
        insert_sampling(&mut body, &request.sampling, [Some("top_p"), None, Some("stop")]);
        if !request.tools.is_empty() {
            insert_field(&mut body, "tools", request.tools.iter().map(tool_json).collect::<Vec<_>>());
            insert_field(&mut body, "tool_choice", tool_choice_name(request.tool_choice));
        }
        let headers = key.map(|key| ("authorization", format!("Bearer {}", key.reveal())));
        ProviderHttpRequest {
            url: format!("{base_url}/chat/completions"),
            headers: headers.into_iter().collect(),
            body: body.to_string().into_bytes(),
        }
    }

    fn reader(&self, _: &ModelRequest) -> Box<dyn ReplyReader> {
        Box::new(OpenAiReader::default())
    }
}

fn tool_choice_name(choice: ToolChoice) -> &'static str {
    match choice {
        ToolChoice::Auto => "auto",
        ToolChoice::Any => "required",
        ToolChoice::None => "none",
    }
}

fn tool_json(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, schema } = tool;
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}})
}

/// Converts a message. Each tool result becomes a separate message; the API has no flag for failures.
fn messages_json(message: &ChatMessage) -> Vec<Value> {
    let text = message.text();
    let text = (!text.trim().is_empty()).then_some(text);
    if message.role == ChatRole::Assistant {
        let calls: Vec<_> = message.blocks.iter().filter_map(tool_call_json).collect();
        let mut assistant = json!({"role": "assistant", "content": text});
        match (&text, calls.is_empty()) {
            (None, true) => return Vec::new(),
            (_, true) => {}
            (_, false) => insert_field(&mut assistant, "tool_calls", calls),
        }
        return vec![assistant];
    }
    let results = message.blocks.iter().filter_map(|block| match block {
        ContentBlock::ToolResult { id, content, .. } => {
            Some(json!({"role": "tool", "tool_call_id": id, "content": content}))
        }
        _ => None,
    });
    results.chain(text.map(|text| json!({"role": "user", "content": text}))).collect()
}

fn tool_call_json(block: &ContentBlock) -> Option<Value> {
    let ContentBlock::ToolCall(ModelToolCall { id, name, args }) = block else { return None };
    let function = json!({"name": name, "arguments": args.to_string()});
    Some(json!({"id": id, "type": "function", "function": function}))
}

#[derive(Default)]
struct OpenAiReader {
    draft: ReplyDraft,
    /// Incomplete tool calls by index, each with its id, its name and the arguments received so far.
    begun: BTreeMap<u64, (String, String, String)>,
}

impl ReplyReader for OpenAiReader {
    fn read_event(&mut self, data: &str, deltas: &mut DeltaSink<'_>) -> Result<StreamProgress, StreamError> {
        if data.trim() == "[DONE]" {
            return Ok(StreamProgress::Over);
        }
        let chunk = parse_event(data)?;
        if let Some(model) = text_field(&chunk, "model") {
            self.draft.model = Some(model.to_owned());
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            self.draft.usage = parse_usage(usage);
        }
        for choice in array_items(&chunk, "choices").filter(|choice| count_field(choice, "index") == 0) {
            let delta = choice.get("delta").unwrap_or(&Value::Null);
            for key in ["content", "refusal"] {
                self.draft.push_text(text_field(delta, key).unwrap_or_default(), deltas);
            }
            for part in array_items(delta, "tool_calls") {
                self.push_call_part(part);
            }
            if let Some(word) = text_field(choice, "finish_reason") {
                self.finish(parse_stop_reason(word), deltas)?;
            }
        }
        Ok(StreamProgress::More)
    }

    /// Returns whether the reply is complete. Some servers do not send `[DONE]`. Their reply is complete when a
    /// finish reason has arrived.
    fn is_complete(&self) -> bool {
        self.draft.stop.is_some()
    }

    fn draft(&mut self) -> &mut ReplyDraft {
        &mut self.draft
    }
}

impl OpenAiReader {
    fn push_call_part(&mut self, part: &Value) {
        let function = part.get("function").unwrap_or(&Value::Null);
        let (id, name, args) = self.begun.entry(count_field(part, "index")).or_default();
        // Id and name arrive complete, and some servers repeat them; the arguments arrive in pieces.
        if let Some(value) = text_field(part, "id").filter(|value| !value.is_empty()) {
            value.clone_into(id);
        }
        if let Some(value) = text_field(function, "name").filter(|value| !value.is_empty()) {
            value.clone_into(name);
        }
        args.push_str(text_field(function, "arguments").unwrap_or_default());
    }

    /// Completes the tool calls at the end of the reply. A call that was cut off at the token limit is dropped.
    fn finish(&mut self, stop: StopReason, deltas: &mut DeltaSink<'_>) -> Result<(), StreamError> {
        for (id, name, args) in std::mem::take(&mut self.begun).into_values() {
            match parse_arguments(&name, &args) {
                Ok(args) => self.draft.push_call(ModelToolCall { id, name, args }, deltas),
                Err(_) if stop == StopReason::MaxTokens => {}
                Err(error) => return Err(error),
            }
        }
        self.draft.stop = Some(stop);
        Ok(())
    }
}

/// Parses token counts. The prompt count includes cached tokens.
fn parse_usage(usage: &Value) -> ModelUsage {
    let cached = usage.pointer("/prompt_tokens_details/cached_tokens").and_then(Value::as_u64).unwrap_or(0);
    ModelUsage {
        input: count_field(usage, "prompt_tokens").saturating_sub(cached),
        output: count_field(usage, "completion_tokens"),
        cache_read: cached,
        cache_write: 0,
    }
}

fn parse_stop_reason(word: &str) -> StopReason {
    match word {
        "stop" => StopReason::EndTurn,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" => StopReason::MaxTokens,
        other => StopReason::Other(other.to_owned()),
    }
}
