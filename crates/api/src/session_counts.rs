// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Counts for a session.

use serde::{Deserialize, Serialize};

/// Number of tool calls by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCounts {
    /// Number of all calls, including denied ones.
    pub calls: u64,
    /// Number of calls that succeeded.
    pub ok: u64,
    /// Number of calls that failed.
    pub failed: u64,
    /// Number of calls that were denied.
    pub denied: u64,
    /// Number of calls that a user was asked about.
    pub asked: u64,
}

/// Number of denials, by what the agent did next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DenialCounts {
    /// Number of denials.
    pub all: u64,
    /// Number of denials with a suggestion.
    pub nudged: u64,
    /// Number of denials after which the agent followed the suggestion.
    pub taken: u64,
    /// Number of denials after which the agent repeated the call.
    pub repeated: u64,
}

/// Number of files in a session by kind of access. Each file is counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileCounts {
    /// Number of files read.
    pub read: usize,
    /// Number of files written.
    pub written: usize,
    /// Number of files deleted.
    pub deleted: usize,
    /// Number of files written or deleted.
    pub changed: usize,
    /// Number of files that were changed outside the session.
    pub behind: usize,
    /// Number of files that are not listed, plus the number of calls whose files are unknown.
    pub left_out: u64,
}

/// Progress of a to-do list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoProgress {
    /// Number of items.
    pub all: usize,
    /// Number of completed items.
    pub completed: usize,
    /// Number of items in progress.
    pub in_progress: usize,
    /// Number of all other items.
    pub pending: usize,
    /// Completed items out of all items, such as `3/7`.
    pub progress: String,
}

/// Tokens and cost, read from payloads and transcripts. Nothing is estimated; unknown values are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionUsage {
    /// Number of input tokens, without cached tokens.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub input_tokens: u64,
    /// Number of output tokens.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub output_tokens: u64,
    /// Number of tokens read from the cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_read_tokens: u64,
    /// Number of tokens written to the cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Size of the context at the model's last answer, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Maximum context size of the model, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_limit: Option<u64>,
    /// Fraction of the context in use, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_share: Option<f64>,
    /// Cost in US dollars of the answers from models with a known price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Number of answers from models without a known price.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpriced: u64,
    /// Number of answers that reported their token counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub answers: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
