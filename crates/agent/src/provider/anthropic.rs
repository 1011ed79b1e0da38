// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Anthropic Messages: `POST /v1/messages`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::http::Post;
use super::wire::{
    Deltas, Draft, Progress, Reader, Trouble, Wire, arguments, count, json as event, put, put_sampling, text,
};
use super::{Block, Key, Message, ModelRequest, Role, StopReason, ToolCall, ToolChoice, ToolSpec};

/// The version of the protocol we speak.
const VERSION: &str = "2023-06-01";

pub(super) struct Messages;

impl Wire for Messages {
    fn request(&self, base_url: &str, key: Option<&Key>, request: &ModelRequest) -> Post {
        let mut body = json!({
            "model": request.model,
            "max_tokens": request.max_tokens,
            "stream": true,
            "messages": request.messages.iter().filter_map(message).collect::<Vec<_>>(),
        });
        if let Some(system) = &request.system {
            put(&mut body, "system", system.as_str());
        }
        if let Some(temperature) = request.temperature {
            put(&mut body, "temperature", temperature);
        }
        put_sampling(&mut body, &request.sampling, ["top_p", "top_k", "stop_sequences"].map(Some));
        if !request.tools.is_empty() {
            put(&mut body, "tools", request.tools.iter().map(tool).collect::<Vec<_>>());
            put(&mut body, "tool_choice", json!({"type": choice(request.tool_choice)}));
        }
        let mut headers = vec![("anthropic-version", VERSION.to_owned())];
        headers.extend(key.map(|key| ("x-api-key", key.reveal().to_owned())));
        Post { url: format!("{base_url}/v1/messages"), headers, body: body.to_string().into_bytes() }
    }

    fn reader(&self, _: &ModelRequest) -> Box<dyn Reader> {
        Box::new(Reading::default())
    }
}

fn choice(choice: ToolChoice) -> &'static str {
    match choice {
        ToolChoice::Auto => "auto",
        ToolChoice::Any => "any",
        ToolChoice::None => "none",
    }
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema})
}

/// The protocol refuses empty texts, and wants what tools returned before everything else.
fn message(message: &Message) -> Option<Value> {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let (results, others): (Vec<_>, Vec<_>) =
        message.blocks.iter().partition(|block| matches!(block, Block::ToolResult { .. }));
    let content: Vec<_> = results.into_iter().chain(others).filter_map(block).collect();
    (!content.is_empty()).then(|| json!({"role": role, "content": content}))
}

fn block(block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) if text.trim().is_empty() => None,
        Block::Text(text) => Some(json!({"type": "text", "text": text})),
        Block::ToolCall(ToolCall { id, name, args }) => {
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": args}))
        }
        Block::ToolResult { id, content, is_error } => {
            Some(json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error}))
        }
    }
}

#[derive(Default)]
struct Reading {
    draft: Draft,
    /// Tool calls that have begun, by the index of their block: id, name, arguments so far.
    begun: BTreeMap<u64, (String, String, String)>,
    /// A call whose arguments cannot be read. It is none if the answer had no room left for them.
    broken: Option<Trouble>,
    over: bool,
}

impl Reader for Reading {
    fn take(&mut self, data: &str, deltas: &mut Deltas<'_>) -> Result<Progress, Trouble> {
        let event = event(data)?;
        match text(&event, "type").unwrap_or_default() {
            "message_start" => {
                let message = event.get("message").unwrap_or(&Value::Null);
                self.draft.model = text(message, "model").map(ToOwned::to_owned);
                self.count(message.get("usage"));
            }
            "content_block_start" => self.begin(&event, deltas),
            "content_block_delta" => {
                let delta = event.get("delta").unwrap_or(&Value::Null);
                if let Some(more) = text(delta, "text") {
                    self.draft.say(more, deltas);
                }
                if let (Some(more), Some((_, _, args))) =
                    (text(delta, "partial_json"), self.begun.get_mut(&count(&event, "index")))
                {
                    args.push_str(more);
                }
            }
            "content_block_stop" => self.end(count(&event, "index"), deltas),
            "message_delta" => {
                let stop = event.pointer("/delta/stop_reason").and_then(Value::as_str);
                self.draft.stop = stop.map(stopped).or(self.draft.stop.take());
                self.count(event.get("usage"));
            }
            "message_stop" => {
                if let Some(trouble) =
                    self.broken.take().filter(|_| self.draft.stop != Some(StopReason::MaxTokens))
                {
                    return Err(trouble);
                }
                self.over = true;
                return Ok(Progress::Over);
            }
            // Pings, and whatever comes later: the protocol asks for them to be passed over.
            _ => {}
        }
        Ok(Progress::More)
    }

    fn is_whole(&self) -> bool {
        self.over
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }
}

impl Reading {
    fn begin(&mut self, event: &Value, deltas: &mut Deltas<'_>) {
        let block = event.get("content_block").unwrap_or(&Value::Null);
        let field = |key| text(block, key).unwrap_or_default().to_owned();
        match text(block, "type") {
            Some("tool_use") => {
                self.begun.insert(count(event, "index"), (field("id"), field("name"), String::new()));
            }
            _ => self.draft.say(&field("text"), deltas),
        }
    }

    fn end(&mut self, index: u64, deltas: &mut Deltas<'_>) {
        let Some((id, name, args)) = self.begun.remove(&index) else { return };
        match arguments(&name, &args) {
            Ok(args) => self.draft.call(ToolCall { id, name, args }, deltas),
            Err(trouble) => self.broken = Some(trouble),
        }
    }

    /// Later counts replace earlier ones; what is not told again stays.
    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        let told = |key: &str, before: u64| usage.get(key).and_then(Value::as_u64).unwrap_or(before);
        let counted = &mut self.draft.usage;
        counted.input = told("input_tokens", counted.input);
        counted.output = told("output_tokens", counted.output);
        counted.cache_read = told("cache_read_input_tokens", counted.cache_read);
        counted.cache_write = told("cache_creation_input_tokens", counted.cache_write);
    }
}

fn stopped(word: &str) -> StopReason {
    match word {
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        other => StopReason::Other(other.to_owned()),
    }
}
