// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Typed payloads of events. [`HookEvent::as_type`](crate::HookEvent::as_type) converts a payload; fields without a
//! counterpart here are only in [`HookEvent::payload`](crate::HookEvent::payload).
//!
//! ```
//! use tenterhook_client::{HookEvent, HookResponse, events::PreToolUse};
//!
//! fn check(event: &HookEvent) -> Result<HookResponse, tenterhook_client::Error> {
//!     let call: PreToolUse = event.as_type()?;
//!     Ok(if call.tool == "Bash" { HookResponse::block("no shell") } else { HookResponse::proceed() })
//! }
//! ```

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The arguments of a tool.
pub type ToolArgs = Map<String, Value>;

macro_rules! payloads {
    ($($(#[$doc:meta])* $name:ident { $($(#[$of_field:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name { $($(#[$of_field])* pub $field: $type,)* }
    )*};
}

/// Token counts of a model response or a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    /// Tokens in the prompt.
    pub input_tokens: u64,
    /// Tokens in the reply.
    pub output_tokens: u64,
    /// Sum of input and output tokens.
    pub total_tokens: u64,
    /// Tokens read from a prompt cache.
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to a prompt cache.
    pub cache_write_tokens: Option<u64>,
}

payloads! {
    /// A model and its parameters.
    ModelConfig {
        /// Name of the model.
        name: String,
        /// Provider of the model.
        provider: Option<String>,
        /// Sampling temperature of the request.
        temperature: Option<f64>,
        /// Most output tokens.
        max_tokens: Option<u64>,
    }
    /// A tool call of a model.
    ToolCall {
        /// Id of the call.
        id: String,
        /// Name of the tool.
        name: String,
        /// Arguments of the tool.
        args: ToolArgs,
    }
    /// Context of an event.
    Context {
        /// Working directory of the agent.
        working_directory: String,
        /// Recently used tools, the latest last.
        recent_tools: Vec<String>,
        /// Tokens used by the session so far.
        token_usage: TokenUsage,
    }
    /// The result of a tool call.
    ToolResult {
        /// Whether the tool succeeded.
        success: bool,
        /// Output of the tool.
        output: String,
        /// Exit code, if the tool ran a program.
        exit_code: Option<i64>,
        /// Run time in milliseconds.
        duration: f64,
    }
    /// The response of a model.
    ModelResponse {
        /// Text of the response.
        text: String,
        /// Tool calls of the response.
        tool_calls: Vec<ToolCall>,
        /// Tokens used by the response.
        usage: TokenUsage,
        /// Run time in milliseconds.
        duration: f64,
    }
    /// Payload of `SessionStart`.
    SessionStart {
        /// What started the session: `startup`, `resume`, `clear`, `compact`, …
        source: String,
        /// Context of the event.
        context: Context,
        /// The model, if it is already known.
        model: Option<ModelConfig>,
    }
    /// Payload of `SessionEnd`.
    SessionEnd {
        /// Reason of the event.
        reason: String,
        /// Context of the event.
        context: Context,
    }
    /// Payload of `GenerateStart`.
    GenerateStart {
        /// Prompt of the request.
        prompt: String,
        /// System prompt of the request.
        system_prompt: Option<String>,
        /// Model of the request.
        model: ModelConfig,
        /// Tools that the model may call.
        tools: Vec<String>,
    }
    /// Payload of `GenerateEnd`.
    GenerateEnd {
        /// Prompt of the request.
        prompt: String,
        /// Model of the request.
        model: ModelConfig,
        /// Response of the model.
        response: ModelResponse,
    }
    /// Payload of `PreToolUse`.
    PreToolUse {
        /// Name of the tool.
        tool: String,
        /// Arguments of the tool.
        args: ToolArgs,
        /// Context of the event.
        context: Context,
    }
    /// Payload of `PostToolUse`.
    PostToolUse {
        /// Name of the tool.
        tool: String,
        /// Arguments of the tool.
        args: ToolArgs,
        /// Context of the event.
        context: Context,
        /// Result of the tool.
        result: ToolResult,
    }
    /// Payload of `ToolError`.
    ToolError {
        /// Name of the tool.
        tool: String,
        /// Arguments of the tool.
        args: ToolArgs,
        /// Context of the event.
        context: Context,
        /// Text of the error.
        error: String,
        /// Number of attempts so far.
        attempt: u64,
        /// Run time in milliseconds.
        duration: Option<f64>,
    }
    /// Payload of `PermissionRequest`, `PermissionGranted` and `PermissionDenied`.
    Permission {
        /// Name of the tool.
        tool: String,
        /// Arguments of the tool.
        args: ToolArgs,
        /// Context of the event.
        context: Context,
        /// Reason of the event.
        reason: Option<String>,
    }
    /// Payload of `PreCompact`.
    PreCompact {
        /// What triggered the compaction: `auto`, `manual`, …
        trigger: String,
        /// Instructions of the user for the summary.
        custom_instructions: Option<String>,
        /// Tokens in the context.
        usage: Option<TokenUsage>,
    }
    /// Payload of `PostCompact`.
    PostCompact {
        /// What triggered the compaction: `auto`, `manual`, …
        trigger: String,
        /// Summary that replaces the context.
        summary: Option<String>,
        /// Tokens in the context.
        usage: Option<TokenUsage>,
    }
    /// Payload of `ContextWarning`.
    ContextWarning {
        /// Tokens in the context.
        usage: TokenUsage,
        /// Size of the context window in tokens.
        max_tokens: Option<u64>,
        /// Share of the context window at which the warning is sent, from 0 to 1.
        threshold: Option<f64>,
        /// Text of the warning.
        message: Option<String>,
    }
    /// Payload of `UserPromptSubmit`.
    UserPromptSubmit {
        /// Prompt of the user.
        prompt: String,
        /// Context of the event.
        context: Context,
    }
}
