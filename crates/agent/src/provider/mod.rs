// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Models behind one trait. What goes to one and what comes back, in words of our own.

mod anthropic;
mod gemini;
mod http;
mod key;
mod makers;
mod openai;
mod remote;
mod scripted;
mod sse;
mod wire;

#[cfg(test)]
mod tests;

pub use key::Key;
pub use makers::{MAKERS, Maker, Settings, named};
pub use remote::Limits;
pub use scripted::Scripted;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::Cancel;

/// What the model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The model, as its maker names it.
    pub model: String,
    /// What is said before everything else.
    pub system: Option<String>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools it may call.
    pub tools: Vec<ToolSpec>,
    /// Whether it may, must or must not call one.
    pub tool_choice: ToolChoice,
    /// How much it may answer.
    pub max_tokens: u32,
    /// How freely it answers; unsaid: as its maker likes it.
    pub temperature: Option<f64>,
    /// Other settings of the generation.
    pub sampling: Sampling,
    /// What it is asked for. A real model is not told; a script looks up its turn by it.
    pub purpose: Purpose,
}

/// Settings of the generation that most requests leave to the model's maker.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sampling {
    /// The probability mass that is sampled from.
    pub top_p: Option<f64>,
    /// The number of tokens that are sampled from. Chat completions have no such setting.
    pub top_k: Option<u32>,
    /// Texts that end the answer when the model writes them.
    pub stop_sequences: Vec<String>,
}

/// What a model is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The next step of the agent.
    #[default]
    Turn,
    /// The next step of a subagent of this type.
    Subagent(String),
    /// A summary of the conversation, because it grew too long.
    Compaction,
}

/// Whether the model may call a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// It has to.
    Any,
    /// It must not.
    None,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said, in order.
    pub blocks: Vec<Block>,
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person, and the tools that answer the model.
    User,
    /// The model.
    Assistant,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Words.
    Text(String),
    /// The model calls a tool.
    ToolCall(ToolCall),
    /// What a tool returned to the model.
    ToolResult {
        /// The call it answers.
        id: String,
        /// What it returned.
        content: String,
        /// Whether it failed.
        is_error: bool,
    },
}

/// A call of a tool, as the model asks for it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Its id within the conversation.
    pub id: String,
    /// The tool.
    pub name: String,
    /// With what.
    pub args: Value,
}

/// A tool, as the model is told about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Value,
}

/// What the model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    /// In words.
    pub text: String,
    /// The tools it wants.
    pub tool_calls: Vec<ToolCall>,
    /// What it cost.
    pub usage: Usage,
    /// Why it ended.
    pub stop: StopReason,
    /// The model that answered, as it names itself.
    pub model: String,
}

/// Tokens, as models count them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// To the model, without what came from its cache.
    pub input: u64,
    /// From it.
    pub output: u64,
    /// Read from its cache.
    pub cache_read: u64,
    /// Written to its cache.
    pub cache_write: u64,
}

/// Why a model's answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// It had said everything.
    EndTurn,
    /// It wants tools.
    ToolUse,
    /// It had no room left.
    MaxTokens,
    /// Anything else, in its maker's word.
    Other(String),
}

/// A piece of an answer, as it arrives.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// More words.
    Text(String),
    /// A whole tool call.
    ToolCall(ToolCall),
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What sort of failure it is.
    pub kind: Failing,
    /// What went wrong.
    pub message: String,
    /// What the person could do.
    pub hint: Option<String>,
    /// What had come of the answer by then, and was told.
    pub partial: Option<Box<ModelReply>>,
}

/// What sort of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failing {
    /// The person said stop.
    Cancelled,
    /// It was not set up rightly: no key, no such model, a file that cannot be read.
    Settings,
    /// The model's maker refused the request.
    Refused,
    /// It answered too late, too little, or that it has no time; every attempt was used.
    Unavailable,
    /// What it sent cannot be read.
    Unreadable,
}

/// A model that can be asked.
pub trait Provider: Send + Sync {
    /// Its name: `scripted`, `anthropic`, …
    fn name(&self) -> &'static str;

    /// Asks the model. Pieces are told as they arrive; the reply has all of them. Returns soon after `cancel`
    /// was said.
    fn generate<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut (dyn FnMut(Delta) + Send),
        cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<ModelReply, ProviderError>>;
}

// === impl Message ===

impl Message {
    /// Words of the person.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, blocks: vec![Block::Text(text.into())] }
    }

    /// All its words.
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

// === impl Usage ===

impl Usage {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        self.input += more.input;
        self.output += more.output;
        self.cache_read += more.cache_read;
        self.cache_write += more.cache_write;
    }
}

// === impl ProviderError ===

impl ProviderError {
    /// A failure without a hint.
    pub fn new(kind: Failing, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, partial: None }
    }

    /// What the person could do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The person said stop.
    pub fn cancelled() -> Self {
        Self::new(Failing::Cancelled, "cancelled")
    }
}
