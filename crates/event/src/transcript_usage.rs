// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Token counts and cost of a session so far, as reported by the harness's own transcript.

use serde::{Deserialize, Serialize};

/// Token counts and cost of a session from its start up to the event. These are totals, not differences, so an event
/// that is lost or recorded twice does not make them wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TranscriptUsage {
    /// Input tokens that are not cached.
    #[serde(skip_serializing_if = "is_zero")]
    pub input_tokens: u64,
    /// Number of output tokens.
    #[serde(skip_serializing_if = "is_zero")]
    pub output_tokens: u64,
    /// Tokens read from a prompt cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_read_tokens: u64,
    /// Tokens written to a prompt cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Number of model responses so far.
    #[serde(skip_serializing_if = "is_zero")]
    pub answers: u64,
    /// Prompt tokens of the latest model response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Cost according to the price table, in millionths of a US dollar.
    #[serde(skip_serializing_if = "is_zero")]
    pub cost_microusd: u64,
    /// Number of responses from models that are missing from the price table.
    #[serde(skip_serializing_if = "is_zero")]
    pub unpriced_answers: u64,
    /// Number of tokens in these unpriced responses.
    #[serde(skip_serializing_if = "is_zero")]
    pub unpriced_tokens: u64,
    /// The part of the usage that belongs to the latest day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub today: Option<DayUsage>,
    /// Why the numbers are missing or incomplete. Rules use this text in their reason; it is not recorded itself.
    #[serde(skip)]
    pub unknown: Option<String>,
}

/// Usage of a session on one day, by the timestamps in its transcript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DayUsage {
    /// Days since 1970-01-01, in UTC.
    pub day: u64,
    /// Number of tokens of all kinds.
    pub tokens: u64,
    /// Cost according to the price table, in millionths of a US dollar.
    pub cost_microusd: u64,
    /// Number of tokens used by models that are missing from the price table.
    pub unpriced_tokens: u64,
}

impl TranscriptUsage {
    /// Returns the sum of all token counts.
    pub fn total_tokens(&self) -> u64 {
        [self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Returns whether there is nothing to record because there is no usage or all counts are zero.
    #[expect(clippy::ref_option, reason = "serde passes a reference")]
    pub(crate) fn is_unrecorded(usage: &Option<Self>) -> bool {
        usage
            .as_ref()
            .is_none_or(|usage| *usage == Self { unknown: usage.unknown.clone(), ..Self::default() })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
