// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Anthropic Messages: `POST /v1/messages`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::http::ProviderHttpRequest;
use super::protocol::{
    DeltaSink, ProviderProtocol, ReplyDraft, ReplyReader, StreamError, StreamProgress, count_field,
    insert_field, insert_sampling, parse_arguments, parse_event, text_field,
};
use super::{
    ApiKey, ChatMessage, ChatRole, ContentBlock, ModelRequest, ModelToolCall, StopReason, ToolChoice,
    ToolSpec,
};

/// Value of the `anthropic-version` header.
const API_VERSION: &str = "2023-06-01";

pub(super) struct AnthropicProtocol;

impl ProviderProtocol for AnthropicProtocol {
    fn request(&self, base_url: &str, key: Option<&ApiKey>, request: &ModelRequest) -> ProviderHttpRequest {
        let mut body = json!({
            "model": request.model,
            "max_tokens": request.max_tokens,
            "stream": true,
            "messages": request.messages.iter().filter_map(message_json).collect::<Vec<_>>(),
        });
        if let Some(system) = &request.system {
            insert_field(&mut body, "system", system.as_str());
        }
        if let Some(temperature) = request.temperature {
            insert_field(&mut body, "temperature", temperature);
        }
        insert_sampling(&mut body, &request.sampling, ["top_p", "top_k", "stop_sequences"].map(Some));
        if !request.tools.is_empty() {
            insert_field(&mut body, "tools", request.tools.iter().map(tool_json).collect::<Vec<_>>());
            insert_field(&mut body, "tool_choice", json!({"type": tool_choice_name(request.tool_choice)}));
        }
        let mut headers = vec![("anthropic-version", API_VERSION.to_owned())];
        headers.extend(key.map(|key| ("x-api-key", key.reveal().to_owned())));
        ProviderHttpRequest {
            url: format!("{base_url}/v1/messages"),
            headers,
            body: body.to_string().into_bytes(),
        }
    }

    fn reader(&self, _: &ModelRequest) -> Box<dyn ReplyReader> {
        Box::new(AnthropicReader::default())
    }
}

fn tool_choice_name(choice: ToolChoice) -> &'static str {
    match choice {
        ToolChoice::Auto => "auto",
        ToolChoice::Any => "any",
        ToolChoice::None => "none",
    }
}

fn tool_json(tool: &ToolSpec) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema})
}

/// Converts a message. The API rejects empty text blocks, and requires tool results to precede other content.
fn message_json(message: &ChatMessage) -> Option<Value> {
    let role = match message.role {
        ChatRole::User => "user",
        ChatRole::Assistant => "assistant",
    };
    let (results, others): (Vec<_>, Vec<_>) =
        message.blocks.iter().partition(|block| matches!(block, ContentBlock::ToolResult { .. }));
    let content: Vec<_> = results.into_iter().chain(others).filter_map(block_json).collect();
    (!content.is_empty()).then(|| json!({"role": role, "content": content}))
}

fn block_json(block: &ContentBlock) -> Option<Value> {
    match block {
        ContentBlock::Text(text) if text.trim().is_empty() => None,
        ContentBlock::Text(text) => Some(json!({"type": "text", "text": text})),
        ContentBlock::ToolCall(ModelToolCall { id, name, args }) => {
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": args}))
        }
        ContentBlock::ToolResult { id, content, is_error } => {
            Some(json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error}))
        }
    }
}

#[derive(Default)]
struct AnthropicReader {
    draft: ReplyDraft,
    /// Incomplete tool calls by block index, each with its id, its name and the arguments received so far.
    begun: BTreeMap<u64, (String, String, String)>,
    /// Error of a tool call with invalid arguments. It is ignored if the reply was cut off at the token limit.
    broken: Option<StreamError>,
    is_over: bool,
}

impl ReplyReader for AnthropicReader {
    fn read_event(&mut self, data: &str, deltas: &mut DeltaSink<'_>) -> Result<StreamProgress, StreamError> {
        let event = parse_event(data)?;
        match text_field(&event, "type").unwrap_or_default() {
            "message_start" => {
                let message = event.get("message").unwrap_or(&Value::Null);
                self.draft.model = text_field(message, "model").map(ToOwned::to_owned);
                self.update_usage(message.get("usage"));
            }
            "content_block_start" => self.begin_block(&event, deltas),
            "content_block_delta" => {
                let delta = event.get("delta").unwrap_or(&Value::Null);
                if let Some(more) = text_field(delta, "text") {
                    self.draft.push_text(more, deltas);
                }
                if let (Some(more), Some((_, _, args))) =
                    (text_field(delta, "partial_json"), self.begun.get_mut(&count_field(&event, "index")))
                {
                    args.push_str(more);
                }
            }
            "content_block_stop" => self.end_block(count_field(&event, "index"), deltas),
            "message_delta" => {
                let stop = event.pointer("/delta/stop_reason").and_then(Value::as_str);
                self.draft.stop = stop.map(parse_stop_reason).or(self.draft.stop.take());
                self.update_usage(event.get("usage"));
            }
            "message_stop" => {
                if let Some(error) =
                    self.broken.take().filter(|_| self.draft.stop != Some(StopReason::MaxTokens))
                {
                    return Err(error);
                }
                self.is_over = true;
                return Ok(StreamProgress::Over);
            }
            // The protocol requires clients to ignore pings and unknown events.
            _ => {}
        }
        Ok(StreamProgress::More)
    }

    fn is_complete(&self) -> bool {
        self.is_over
    }

    fn draft(&mut self) -> &mut ReplyDraft {
        &mut self.draft
    }
}

impl AnthropicReader {
    fn begin_block(&mut self, event: &Value, deltas: &mut DeltaSink<'_>) {
        let block = event.get("content_block").unwrap_or(&Value::Null);
        let field = |key| text_field(block, key).unwrap_or_default().to_owned();
        match text_field(block, "type") {
            Some("tool_use") => {
                self.begun.insert(count_field(event, "index"), (field("id"), field("name"), String::new()));
            }
            _ => self.draft.push_text(&field("text"), deltas),
        }
    }

    fn end_block(&mut self, index: u64, deltas: &mut DeltaSink<'_>) {
        let Some((id, name, args)) = self.begun.remove(&index) else { return };
        match parse_arguments(&name, &args) {
            Ok(args) => self.draft.push_call(ModelToolCall { id, name, args }, deltas),
            Err(error) => self.broken = Some(error),
        }
    }

    /// Updates the token counts. Counts that the event does not contain keep their values.
    fn update_usage(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        let reported = |key: &str, before: u64| usage.get(key).and_then(Value::as_u64).unwrap_or(before);
        let counted = &mut self.draft.usage;
        counted.input = reported("input_tokens", counted.input);
        counted.output = reported("output_tokens", counted.output);
        counted.cache_read = reported("cache_read_input_tokens", counted.cache_read);
        counted.cache_write = reported("cache_creation_input_tokens", counted.cache_write);
    }
}

fn parse_stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        other => StopReason::Other(other.to_owned()),
    }
}
