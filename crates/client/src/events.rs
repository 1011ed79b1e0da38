// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Typed event payloads. [`HookEvent::as_type`](crate::HookEvent::as_type) converts a payload into one of these
//! types. Fields that these types lack are available in [`HookEvent::payload`](crate::HookEvent::payload).
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
    /// Number of tokens in the prompt.
    pub input_tokens: u64,
    /// Number of tokens in the response.
    pub output_tokens: u64,
    /// Sum of input and output tokens.
    pub total_tokens: u64,
    /// Number of tokens read from a prompt cache.
    pub cache_read_tokens: Option<u64>,
    /// Number of tokens written to a prompt cache.
    pub cache_write_tokens: Option<u64>,
}

payloads! {
    /// A model and its parameters.
    ModelConfig {
        /// Name of the model.
        name: String,
        /// Provider of the model.
        provider: Option<String>,
        /// Sampling temperature of the model.
        temperature: Option<f64>,
        /// Maximum number of output tokens.
        max_tokens: Option<u64>,
    }
    /// A tool call made by a model.
    ToolCall {
        /// Id of the call.
        id: String,
        /// Name of the tool.
        name: String,
        /// Arguments of the tool.
        args: ToolArgs,
    }
    /// Circumstances of an event.
    Context {
        /// Working directory of the agent.
        working_directory: String,
        /// Recently used tools, most recent last.
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
    /// A model's response.
    ModelResponse {
        /// Text of the response.
        text: String,
        /// Tool calls in the response.
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
        /// Circumstances of the event.
        context: Context,
        /// The model, if it is already known.
        model: Option<ModelConfig>,
    }
    /// Payload of `SessionEnd`.
    SessionEnd {
        /// Why the session ended.
        reason: String,
        /// Circumstances of the event.
        context: Context,
    }
    /// Payload of `GenerateStart`.
    GenerateStart {
        /// Prompt sent to the model.
        prompt: String,
        /// System prompt sent to the model.
        system_prompt: Option<String>,
        /// Model that the request is for.
        model: ModelConfig,
        /// Tools that the model may call.
        tools: Vec<String>,
    }
    /// Payload of `GenerateEnd`.
    GenerateEnd {
        /// Prompt sent to the model.
        prompt: String,
        /// Model that the request is for.
        model: ModelConfig,
        /// The model's response.
        response: ModelResponse,
    }
    /// Payload of `PreToolUse`.
    PreToolUse {
        /// Name of the tool.
        tool: String,
        /// Arguments of the tool.
        args: ToolArgs,
        /// Circumstances of the event.
        context: Context,
    }
    /// Payload of `PostToolUse`.
    PostToolUse {
        /// Name of the tool.
        tool: String,
        /// Arguments of the tool.
        args: ToolArgs,
        /// Circumstances of the event.
        context: Context,
        /// Result of the tool call.
        result: ToolResult,
    }
    /// Payload of `ToolError`.
    ToolError {
        /// Name of the tool.
        tool: String,
        /// Arguments of the tool.
        args: ToolArgs,
        /// Circumstances of the event.
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
        /// Circumstances of the event.
        context: Context,
        /// Why permission is requested, granted or denied.
        reason: Option<String>,
    }
    /// Payload of `PreCompact`.
    PreCompact {
        /// What triggered the compaction: `auto`, `manual`, …
        trigger: String,
        /// The user's instructions for the summary.
        custom_instructions: Option<String>,
        /// Number of tokens in the context.
        usage: Option<TokenUsage>,
    }
    /// Payload of `PostCompact`.
    PostCompact {
        /// What triggered the compaction: `auto`, `manual`, …
        trigger: String,
        /// Summary that replaces the context.
        summary: Option<String>,
        /// Number of tokens in the context.
        usage: Option<TokenUsage>,
    }
    /// Payload of `ContextWarning`.
    ContextWarning {
        /// Number of tokens in the context.
        usage: TokenUsage,
        /// Size of the context window in tokens.
        max_tokens: Option<u64>,
        /// Fraction of the context window at which the warning is sent, from 0 to 1.
        threshold: Option<f64>,
        /// Text of the warning.
        message: Option<String>,
    }
    /// Payload of `UserPromptSubmit`.
    UserPromptSubmit {
        /// The user's prompt.
        prompt: String,
        /// Circumstances of the event.
        context: Context,
    }
}
