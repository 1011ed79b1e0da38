// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The payloads of the thirteen events, and of a few more, as types. [`Event::as_type`](crate::Event::as_type) reads
//! them; what an event has beyond them is in its `payload`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool's arguments, as the tool takes them.
pub type ToolArgs = Map<String, Value>;

macro_rules! payloads {
    ($($(#[$doc:meta])* $name:ident { $($(#[$of_field:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name { $($(#[$of_field])* pub $field: $type,)* }
    )*};
}

/// Tokens, as models count them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    /// To the model.
    pub input_tokens: u64,
    /// From it.
    pub output_tokens: u64,
    /// Both.
    pub total_tokens: u64,
    /// Read from a cache.
    pub cache_read_tokens: Option<u64>,
    /// Written to one.
    pub cache_write_tokens: Option<u64>,
}

payloads! {
    /// A model, and how it is asked.
    ModelConfig {
        /// Its name.
        name: String,
        /// Whose it is.
        provider: Option<String>,
        /// How freely it answers.
        temperature: Option<f64>,
        /// How much it may answer.
        max_tokens: Option<u64>,
    }
    /// A call of a tool that a model asks for.
    ToolCall {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// With what.
        args: ToolArgs,
    }
    /// What is around a call.
    Context {
        /// Where the agent works.
        working_directory: String,
        /// The tools that ran last, the latest last.
        recent_tools: Vec<String>,
        /// What the session cost so far.
        token_usage: TokenUsage,
    }
    /// What a tool returned.
    ToolResult {
        /// Whether it worked.
        success: bool,
        /// What it printed.
        output: String,
        /// How it ended, if it is a program.
        exit_code: Option<i64>,
        /// How long it took, in milliseconds.
        duration: f64,
    }
    /// What a model answered.
    ModelResponse {
        /// In words.
        text: String,
        /// The tools it wants.
        tool_calls: Vec<ToolCall>,
        /// What it cost.
        usage: TokenUsage,
        /// How long it took, in milliseconds.
        duration: f64,
    }
    /// `SessionStart`
    SessionStart {
        /// `startup`, `resume`, `clear`, `compact`, …
        source: String,
        /// Where.
        context: Context,
        /// The model, if it is known already.
        model: Option<ModelConfig>,
    }
    /// `SessionEnd`
    SessionEnd {
        /// Why.
        reason: String,
        /// Where.
        context: Context,
    }
    /// `GenerateStart`
    GenerateStart {
        /// What is asked.
        prompt: String,
        /// What is said before it.
        system_prompt: Option<String>,
        /// Who is asked.
        model: ModelConfig,
        /// The tools the model may use.
        tools: Vec<String>,
    }
    /// `GenerateEnd`
    GenerateEnd {
        /// What was asked.
        prompt: String,
        /// Who was asked.
        model: ModelConfig,
        /// What came back.
        response: ModelResponse,
    }
    /// `PreToolUse`
    PreToolUse {
        /// The tool.
        tool: String,
        /// With what.
        args: ToolArgs,
        /// Around it.
        context: Context,
    }
    /// `PostToolUse`
    PostToolUse {
        /// The tool.
        tool: String,
        /// With what.
        args: ToolArgs,
        /// Around it.
        context: Context,
        /// What came of it.
        result: ToolResult,
    }
    /// `ToolError`
    ToolError {
        /// The tool.
        tool: String,
        /// With what.
        args: ToolArgs,
        /// Around it.
        context: Context,
        /// What went wrong.
        error: String,
        /// How often it was tried.
        attempt: u64,
        /// How long it took, in milliseconds.
        duration: Option<f64>,
    }
    /// `PermissionRequest`, `PermissionGranted`, `PermissionDenied`
    Permission {
        /// The tool.
        tool: String,
        /// With what.
        args: ToolArgs,
        /// Around it.
        context: Context,
        /// Why.
        reason: Option<String>,
    }
    /// `PreCompact`
    PreCompact {
        /// `auto`, `manual`, …
        trigger: String,
        /// What the person wants kept.
        custom_instructions: Option<String>,
        /// How full the context is.
        usage: Option<TokenUsage>,
    }
    /// `PostCompact`
    PostCompact {
        /// `auto`, `manual`, …
        trigger: String,
        /// What is left.
        summary: Option<String>,
        /// How full the context is.
        usage: Option<TokenUsage>,
    }
    /// `ContextWarning`
    ContextWarning {
        /// How full the context is.
        usage: TokenUsage,
        /// How much fits.
        max_tokens: Option<u64>,
        /// From which part on it is a warning, 0 to 1.
        threshold: Option<f64>,
        /// In words.
        message: Option<String>,
    }
    /// `UserPromptSubmit`
    UserPromptSubmit {
        /// What the person asks.
        prompt: String,
        /// Where.
        context: Context,
    }
}
