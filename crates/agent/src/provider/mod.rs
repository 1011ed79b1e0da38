// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Model providers, called through one trait, with request and reply types that do not depend on the provider.

mod anthropic;
mod api_key;
mod gemini;
mod http;
mod openai;
mod protocol;
mod remote;
mod scripted;
mod sse;
mod table;

#[cfg(test)]
mod tests;

pub use api_key::ApiKey;
pub use remote::ProviderLimits;
pub use scripted::ScriptedProvider;
pub use table::{PROVIDERS, ProviderSettings, ProviderSpec, provider_by_name};

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::CancelToken;

/// A request to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The provider's name for the model.
    pub model: String,
    /// System prompt, if one is set.
    pub system: Option<String>,
    /// Conversation so far.
    pub messages: Vec<ChatMessage>,
    /// Tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// Whether the model may, must or must not call a tool.
    pub tool_choice: ToolChoice,
    /// Maximum number of tokens in the reply.
    pub max_tokens: u32,
    /// Sampling temperature; `None` for the provider's default.
    pub temperature: Option<f64>,
    /// Other sampling options.
    pub sampling: SamplingOptions,
    /// Why the request is made. Only the scripted provider uses it, to select a turn of the script.
    pub purpose: RequestPurpose,
}

/// Sampling options that most requests leave at the provider's default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SamplingOptions {
    /// Top-p sampling: probability mass from which tokens are sampled.
    pub top_p: Option<f64>,
    /// Top-k sampling: number of most likely tokens to sample from. OpenAI chat completions do not support it.
    pub top_k: Option<u32>,
    /// Strings that end the reply.
    pub stop_sequences: Vec<String>,
}

/// Why a model request is made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum RequestPurpose {
    /// The next step of the agent.
    #[default]
    Turn,
    /// The next step of a subagent of this type.
    Subagent(String),
    /// A summary of a conversation that is being compacted.
    Compaction,
}

/// Whether the model may, must or must not call a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must call a tool.
    Any,
    /// The model must not call a tool.
    None,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatMessage {
    /// Sender of the message.
    pub role: ChatRole,
    /// Content blocks, in order.
    pub blocks: Vec<ContentBlock>,
}

/// Sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatRole {
    /// The user. Tool results are also sent in this role.
    User,
    /// A message of the model.
    Assistant,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentBlock {
    /// Text written by the user or the model.
    Text(String),
    /// A tool call by the model.
    ToolCall(ModelToolCall),
    /// Result of a tool call.
    ToolResult {
        /// Id of the call.
        id: String,
        /// Output or error message.
        content: String,
        /// Whether the call failed.
        is_error: bool,
    },
}

/// A tool call requested by the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelToolCall {
    /// Id of the call, unique within the conversation.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call.
    pub args: Value,
}

/// Description of a tool for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Name of the tool.
    pub name: String,
    /// What the tool does and when to use it.
    pub description: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
}

/// A model's reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    /// Text of the reply.
    pub text: String,
    /// Tool calls that the model requests.
    pub tool_calls: Vec<ModelToolCall>,
    /// Number of tokens that the request and the reply used.
    pub usage: ModelUsage,
    /// Why the reply ended.
    pub stop: StopReason,
    /// Name of the model, as reported by the server.
    pub model: String,
}

/// Token counts as reported by the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelUsage {
    /// Number of input tokens, not counting cached tokens.
    pub input: u64,
    /// Number of output tokens.
    pub output: u64,
    /// Number of input tokens read from the cache.
    pub cache_read: u64,
    /// Number of input tokens written to the cache.
    pub cache_write: u64,
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The reply is complete.
    EndTurn,
    /// The model requested tool calls.
    ToolUse,
    /// The token limit was reached.
    MaxTokens,
    /// Any other reason, in the provider's words.
    Other(String),
}

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyDelta {
    /// The next piece of text.
    Text(String),
    /// A complete tool call.
    ToolCall(ModelToolCall),
}

/// Why a model request failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// Kind of the error.
    pub kind: ProviderErrorKind,
    /// Cause of the error.
    pub message: String,
    /// What the user can do about the error.
    pub hint: Option<String>,
    /// The part of the reply that had already been reported to the caller.
    pub partial: Option<Box<ModelReply>>,
}

/// Kind of a [`ProviderError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderErrorKind {
    /// The request was cancelled.
    Cancelled,
    /// The settings are invalid: a missing key, an unknown model or an invalid script.
    InvalidSettings,
    /// The server refused the request.
    Refused,
    /// The request timed out, the reply was incomplete or the server was overloaded, after all attempts.
    Unavailable,
    /// The reply could not be parsed.
    Unreadable,
}

/// Calls a model.
pub trait Provider: Send + Sync {
    /// Returns the name of the provider: `scripted`, `anthropic`, …
    fn name(&self) -> &'static str;

    /// Calls the model. `deltas` receives the pieces of the reply as they arrive. Returns soon after a
    /// cancellation.
    fn generate<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut (dyn FnMut(ReplyDelta) + Send),
        cancel: &'a CancelToken,
    ) -> BoxFuture<'a, Result<ModelReply, ProviderError>>;
}

// === impl ChatMessage ===

impl ChatMessage {
    /// Creates a user message.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: ChatRole::User, blocks: vec![ContentBlock::Text(text.into())] }
    }

    /// Returns the text of all text blocks, joined by line breaks.
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

// === impl ModelUsage ===

impl ModelUsage {
    /// Returns the sum of all counts.
    pub fn total(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}

impl std::ops::AddAssign for ModelUsage {
    fn add_assign(&mut self, more: Self) {
        self.input += more.input;
        self.output += more.output;
        self.cache_read += more.cache_read;
        self.cache_write += more.cache_write;
    }
}

// === impl ProviderError ===

impl ProviderError {
    /// Creates an error without a hint.
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, partial: None }
    }

    /// Adds a hint for the user.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Creates the error for a cancelled request.
    pub fn cancelled() -> Self {
        Self::new(ProviderErrorKind::Cancelled, "cancelled")
    }
}
