// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Gemini: `POST …/models/MODEL:streamGenerateContent?alt=sse`.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::http::ProviderHttpRequest;
use super::protocol::{
    DeltaSink, ProviderProtocol, ReplyDraft, ReplyReader, StreamError, StreamProgress, array_items,
    count_field, insert_field, insert_sampling, parse_event, text_field,
};
use super::{
    ApiKey, ChatMessage, ChatRole, ContentBlock, ModelRequest, ModelToolCall, ModelUsage, StopReason,
    ToolChoice, ToolSpec,
};

/// Thought signatures by call id. The model requires each signature to be sent back with its call.
type ThoughtSignatures = Arc<Mutex<BTreeMap<String, String>>>;

/// The Gemini protocol. Tool calls in this protocol have no ids, so this type assigns ids that are unique across
/// conversations.
pub(super) struct GeminiProtocol {
    calls: Arc<CallIds>,
    signatures: ThoughtSignatures,
}

struct CallIds {
    start: u64,
    next: AtomicU64,
}

impl GeminiProtocol {
    pub(super) fn new() -> Self {
        let start = RandomState::new().hash_one("calls");
        let calls = Arc::new(CallIds { start, next: AtomicU64::new(1) });
        Self { calls, signatures: ThoughtSignatures::default() }
    }
}

impl CallIds {
    fn next_id(&self) -> String {
        format!("call_{:016x}_{}", self.start, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

impl ProviderProtocol for GeminiProtocol {
    fn request(&self, base_url: &str, key: Option<&ApiKey>, request: &ModelRequest) -> ProviderHttpRequest {
        let names = tool_names_by_call(&request.messages);
        let mut signatures = self.signatures.lock().unwrap_or_else(PoisonError::into_inner);
        signatures.retain(|id, _| names.contains_key(id.as_str()));
        let contents =
            request.messages.iter().filter_map(|message| content_json(message, &names, &signatures));
        let mut sampling = json!({"maxOutputTokens": request.max_tokens});
        if let Some(temperature) = request.temperature {
            insert_field(&mut sampling, "temperature", temperature);
        }
        insert_sampling(&mut sampling, &request.sampling, ["topP", "topK", "stopSequences"].map(Some));
        let mut body = json!({"contents": contents.collect::<Vec<_>>(), "generationConfig": sampling});
        if let Some(system) = &request.system {
            insert_field(&mut body, "systemInstruction", json!({"parts": [{"text": system}]}));
        }
        if !request.tools.is_empty() {
            let tools: Vec<_> = request.tools.iter().map(tool_json).collect();
            insert_field(&mut body, "tools", json!([{"functionDeclarations": tools}]));
            insert_field(
                &mut body,
                "toolConfig",
                json!({"functionCallingConfig": {"mode": tool_choice_name(request.tool_choice)}}),
            );
        }
        let model = request.model.strip_prefix("models/").unwrap_or(&request.model);
        ProviderHttpRequest {
            url: format!("{base_url}/v1beta/models/{model}:streamGenerateContent?alt=sse"),
            // The key is sent in a header and never in the URL, because URLs are often logged.
            headers: key.map(|key| ("x-goog-api-key", key.reveal().to_owned())).into_iter().collect(),
            body: body.to_string().into_bytes(),
        }
    }

    fn reader(&self, _: &ModelRequest) -> Box<dyn ReplyReader> {
        let (calls, signatures) = (Arc::clone(&self.calls), Arc::clone(&self.signatures));
        Box::new(GeminiReader { draft: ReplyDraft::default(), calls, signatures })
    }
}

fn tool_choice_name(choice: ToolChoice) -> &'static str {
    match choice {
        ToolChoice::Auto => "AUTO",
        ToolChoice::Any => "ANY",
        ToolChoice::None => "NONE",
    }
}

fn tool_json(tool: &ToolSpec) -> Value {
    json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema})
}

/// Returns tool names by call id. The API identifies a result by the name of its tool.
fn tool_names_by_call(messages: &[ChatMessage]) -> BTreeMap<&str, &str> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    let calls = blocks.filter_map(|block| match block {
        ContentBlock::ToolCall(call) => Some((call.id.as_str(), call.name.as_str())),
        _ => None,
    });
    calls.collect()
}

fn content_json(
    message: &ChatMessage,
    names: &BTreeMap<&str, &str>,
    signatures: &BTreeMap<String, String>,
) -> Option<Value> {
    let role = match message.role {
        ChatRole::User => "user",
        ChatRole::Assistant => "model",
    };
    let part = |block: &ContentBlock| match block {
        ContentBlock::Text(text) if text.is_empty() => None,
        ContentBlock::Text(text) => Some(json!({"text": text})),
        ContentBlock::ToolCall(ModelToolCall { id, name, args }) => {
            let mut part = json!({"functionCall": {"name": name, "args": args}});
            if let Some(signature) = signatures.get(id) {
                insert_field(&mut part, "thoughtSignature", signature.as_str());
            }
            Some(part)
        }
        ContentBlock::ToolResult { id, content, is_error } => {
            let name = names.get(id.as_str()).copied().unwrap_or("unknown");
            let key = if *is_error { "error" } else { "output" };
            Some(json!({"functionResponse": {"name": name, "response": {key: content}}}))
        }
    };
    let parts: Vec<_> = message.blocks.iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| json!({"role": role, "parts": parts}))
}

struct GeminiReader {
    draft: ReplyDraft,
    calls: Arc<CallIds>,
    signatures: ThoughtSignatures,
}

impl ReplyReader for GeminiReader {
    fn read_event(&mut self, data: &str, deltas: &mut DeltaSink<'_>) -> Result<StreamProgress, StreamError> {
        let answer = parse_event(data)?;
        if let Some(reason) = answer.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            return Err(StreamError::Refused(format!("the request was blocked: {reason}")));
        }
        if let Some(model) = text_field(&answer, "modelVersion") {
            self.draft.model = Some(model.to_owned());
        }
        if let Some(usage) = answer.get("usageMetadata") {
            self.draft.usage = parse_usage(usage);
        }
        if let Some(candidate) = array_items(&answer, "candidates").next() {
            for part in candidate.get("content").into_iter().flat_map(|content| array_items(content, "parts"))
            {
                self.push_part(part, deltas);
            }
            if let Some(word) = text_field(candidate, "finishReason") {
                self.draft.stop = Some(parse_stop_reason(word));
            }
        }
        Ok(StreamProgress::More)
    }

    /// Returns whether a finish reason was received. The stream has no other end marker.
    fn is_complete(&self) -> bool {
        self.draft.stop.is_some()
    }

    fn draft(&mut self) -> &mut ReplyDraft {
        &mut self.draft
    }
}

impl GeminiReader {
    fn push_part(&mut self, part: &Value, deltas: &mut DeltaSink<'_>) {
        if let Some(call) = part.get("functionCall") {
            let id = self.calls.next_id();
            if let Some(signature) = text_field(part, "thoughtSignature") {
                let mut signatures = self.signatures.lock().unwrap_or_else(PoisonError::into_inner);
                signatures.insert(id.clone(), signature.to_owned());
            }
            let name = text_field(call, "name").unwrap_or_default().to_owned();
            let args = call.get("args").cloned().unwrap_or_else(|| json!({}));
            self.draft.push_call(ModelToolCall { id, name, args }, deltas);
        } else if part.get("thought") != Some(&Value::Bool(true)) {
            self.draft.push_text(text_field(part, "text").unwrap_or_default(), deltas);
        }
    }
}

/// Parses token counts. The prompt count includes cached tokens, and the output count here includes thinking tokens.
fn parse_usage(usage: &Value) -> ModelUsage {
    let cached = count_field(usage, "cachedContentTokenCount");
    let prompt = count_field(usage, "promptTokenCount") + count_field(usage, "toolUsePromptTokenCount");
    ModelUsage {
        input: prompt.saturating_sub(cached),
        output: count_field(usage, "candidatesTokenCount") + count_field(usage, "thoughtsTokenCount"),
        cache_read: cached,
        cache_write: 0,
    }
}

fn parse_stop_reason(word: &str) -> StopReason {
    match word {
        "STOP" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::MaxTokens,
        other => StopReason::Other(other.to_owned()),
    }
}
