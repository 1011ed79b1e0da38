// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Numbers of a session.

use serde::{Deserialize, Serialize};

/// Calls of a tool by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCounts {
    /// All calls, including denied ones.
    pub calls: u64,
    /// Calls that succeeded.
    pub ok: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls that were denied.
    pub denied: u64,
    /// Calls that a user was asked about.
    pub asked: u64,
}

/// Denials, and what the agent did next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DenialCounts {
    /// Number of denials.
    pub all: u64,
    /// Denials with a suggestion.
    pub nudged: u64,
    /// Denials after which the agent followed the suggestion.
    pub taken: u64,
    /// Denials after which the agent repeated the call.
    pub repeated: u64,
}

/// Files of a session; each file counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileCounts {
    /// Files that were read.
    pub read: usize,
    /// Files that were written.
    pub written: usize,
    /// Files that were deleted.
    pub deleted: usize,
    /// Files that were written or deleted.
    pub changed: usize,
    /// Files that were changed outside the session.
    pub behind: usize,
    /// Files that are not listed, and calls whose files are not known.
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
    /// Items in progress.
    pub in_progress: usize,
    /// All other items.
    pub pending: usize,
    /// Completed and all items, such as `3/7`.
    pub progress: String,
}

/// Tokens and cost from payloads and transcripts. Nothing is estimated; unknown values are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionUsage {
    /// Input tokens without cached ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub input_tokens: u64,
    /// Tokens of the model's output.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub output_tokens: u64,
    /// Tokens read from the cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_read_tokens: u64,
    /// Tokens written to the cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Size of the context at the model's last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Largest context of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_limit: Option<u64>,
    /// Used part of the context, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_share: Option<f64>,
    /// Cost of the answers whose model has a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Number of answers of models without a price.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpriced: u64,
    /// Number of answers that reported their tokens.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub answers: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
