// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Gemini: `POST …/models/MODEL:streamGenerateContent?alt=sse`.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::http::Post;
use super::wire::{
    Deltas, Draft, Progress, Reader, Trouble, Wire, count, items, json as event, put, put_sampling, text,
};
use super::{Block, Key, Message, ModelRequest, Role, StopReason, ToolCall, ToolChoice, ToolSpec, Usage};

/// What the model wrote on its calls. It wants to see it again beside each of them.
type Signatures = Arc<Mutex<BTreeMap<String, String>>>;

/// Calls have no ids of their own here: we number them, so that no two of any conversation are alike.
pub(super) struct GenerateContent {
    calls: Arc<Ids>,
    signatures: Signatures,
}

struct Ids {
    start: u64,
    next: AtomicU64,
}

impl GenerateContent {
    pub(super) fn new() -> Self {
        let start = RandomState::new().hash_one("calls");
        let calls = Arc::new(Ids { start, next: AtomicU64::new(1) });
        Self { calls, signatures: Signatures::default() }
    }
}

impl Ids {
    fn next(&self) -> String {
        format!("call_{:016x}_{}", self.start, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

impl Wire for GenerateContent {
    fn request(&self, base_url: &str, key: Option<&Key>, request: &ModelRequest) -> Post {
        let names = names(&request.messages);
        let mut signatures = self.signatures.lock().unwrap_or_else(PoisonError::into_inner);
        signatures.retain(|id, _| names.contains_key(id.as_str()));
        let contents = request.messages.iter().filter_map(|message| content(message, &names, &signatures));
        let mut sampling = json!({"maxOutputTokens": request.max_tokens});
        if let Some(temperature) = request.temperature {
            put(&mut sampling, "temperature", temperature);
        }
        put_sampling(&mut sampling, &request.sampling, ["topP", "topK", "stopSequences"].map(Some));
        let mut body = json!({"contents": contents.collect::<Vec<_>>(), "generationConfig": sampling});
        if let Some(system) = &request.system {
            put(&mut body, "systemInstruction", json!({"parts": [{"text": system}]}));
        }
        if !request.tools.is_empty() {
            let tools: Vec<_> = request.tools.iter().map(tool).collect();
            put(&mut body, "tools", json!([{"functionDeclarations": tools}]));
            put(
                &mut body,
                "toolConfig",
                json!({"functionCallingConfig": {"mode": choice(request.tool_choice)}}),
            );
        }
        let model = request.model.strip_prefix("models/").unwrap_or(&request.model);
        Post {
            url: format!("{base_url}/v1beta/models/{model}:streamGenerateContent?alt=sse"),
            // In a header, never in the address: addresses end up in logs.
            headers: key.map(|key| ("x-goog-api-key", key.reveal().to_owned())).into_iter().collect(),
            body: body.to_string().into_bytes(),
        }
    }

    fn reader(&self, _: &ModelRequest) -> Box<dyn Reader> {
        let (calls, signatures) = (Arc::clone(&self.calls), Arc::clone(&self.signatures));
        Box::new(Reading { draft: Draft::default(), calls, signatures })
    }
}

fn choice(choice: ToolChoice) -> &'static str {
    match choice {
        ToolChoice::Auto => "AUTO",
        ToolChoice::Any => "ANY",
        ToolChoice::None => "NONE",
    }
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema})
}

/// The tool that each call is of: what it returned is sent under that name.
fn names(messages: &[Message]) -> BTreeMap<&str, &str> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    let calls = blocks.filter_map(|block| match block {
        Block::ToolCall(call) => Some((call.id.as_str(), call.name.as_str())),
        _ => None,
    });
    calls.collect()
}

fn content(
    message: &Message,
    names: &BTreeMap<&str, &str>,
    signatures: &BTreeMap<String, String>,
) -> Option<Value> {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "model",
    };
    let part = |block: &Block| match block {
        Block::Text(text) if text.is_empty() => None,
        Block::Text(text) => Some(json!({"text": text})),
        Block::ToolCall(ToolCall { id, name, args }) => {
            let mut part = json!({"functionCall": {"name": name, "args": args}});
            if let Some(signature) = signatures.get(id) {
                put(&mut part, "thoughtSignature", signature.as_str());
            }
            Some(part)
        }
        Block::ToolResult { id, content, is_error } => {
            let name = names.get(id.as_str()).copied().unwrap_or("unknown");
            let key = if *is_error { "error" } else { "output" };
            Some(json!({"functionResponse": {"name": name, "response": {key: content}}}))
        }
    };
    let parts: Vec<_> = message.blocks.iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| json!({"role": role, "parts": parts}))
}

struct Reading {
    draft: Draft,
    calls: Arc<Ids>,
    signatures: Signatures,
}

impl Reader for Reading {
    fn take(&mut self, data: &str, deltas: &mut Deltas<'_>) -> Result<Progress, Trouble> {
        let answer = event(data)?;
        if let Some(reason) = answer.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            return Err(Trouble::Refused(format!("the request was blocked: {reason}")));
        }
        if let Some(model) = text(&answer, "modelVersion") {
            self.draft.model = Some(model.to_owned());
        }
        if let Some(usage) = answer.get("usageMetadata") {
            self.draft.usage = counted(usage);
        }
        if let Some(candidate) = items(&answer, "candidates").next() {
            for part in candidate.get("content").into_iter().flat_map(|content| items(content, "parts")) {
                self.part(part, deltas);
            }
            if let Some(word) = text(candidate, "finishReason") {
                self.draft.stop = Some(stopped(word));
            }
        }
        Ok(Progress::More)
    }

    /// There is no last word: the reason to stop is the end.
    fn is_whole(&self) -> bool {
        self.draft.stop.is_some()
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }
}

impl Reading {
    fn part(&mut self, part: &Value, deltas: &mut Deltas<'_>) {
        if let Some(call) = part.get("functionCall") {
            let id = self.calls.next();
            if let Some(signature) = text(part, "thoughtSignature") {
                let mut signatures = self.signatures.lock().unwrap_or_else(PoisonError::into_inner);
                signatures.insert(id.clone(), signature.to_owned());
            }
            let name = text(call, "name").unwrap_or_default().to_owned();
            let args = call.get("args").cloned().unwrap_or_else(|| json!({}));
            self.draft.call(ToolCall { id, name, args }, deltas);
        } else if part.get("thought") != Some(&Value::Bool(true)) {
            self.draft.say(text(part, "text").unwrap_or_default(), deltas);
        }
    }
}

/// What came from a cache is counted within the prompt here; thoughts are paid for like words.
fn counted(usage: &Value) -> Usage {
    let cached = count(usage, "cachedContentTokenCount");
    let prompt = count(usage, "promptTokenCount") + count(usage, "toolUsePromptTokenCount");
    Usage {
        input: prompt.saturating_sub(cached),
        output: count(usage, "candidatesTokenCount") + count(usage, "thoughtsTokenCount"),
        cache_read: cached,
        cache_write: 0,
    }
}

fn stopped(word: &str) -> StopReason {
    match word {
        "STOP" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::MaxTokens,
        other => StopReason::Other(other.to_owned()),
    }
}
