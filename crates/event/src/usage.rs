// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tokens and cost of a session so far, as the client's own transcript reports them.

use serde::{Deserialize, Serialize};

/// Tokens and cost of a session from its beginning to the event. Totals, not differences: an event that is
/// lost or recorded twice changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TranscriptUsage {
    /// Tokens read by the model, without cached ones.
    #[serde(skip_serializing_if = "is_zero")]
    pub input_tokens: u64,
    /// Tokens written by the model.
    #[serde(skip_serializing_if = "is_zero")]
    pub output_tokens: u64,
    /// Tokens read from a prompt cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_read_tokens: u64,
    /// Tokens written into a prompt cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Answers of models.
    #[serde(skip_serializing_if = "is_zero")]
    pub answers: u64,
    /// Tokens of the prompt of the latest answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Cost by the price table, in millionths of a US dollar.
    #[serde(skip_serializing_if = "is_zero")]
    pub cost_microusd: u64,
    /// Answers of models without a price.
    #[serde(skip_serializing_if = "is_zero")]
    pub unpriced_answers: u64,
    /// Tokens of those answers.
    #[serde(skip_serializing_if = "is_zero")]
    pub unpriced_tokens: u64,
    /// The part that was used on the latest day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub today: Option<DayUsage>,
    /// Why the numbers are missing or incomplete. For the rules only; the record has their reason.
    #[serde(skip)]
    pub unknown: Option<String>,
}

/// What a session used on one day, by the timestamps in its transcript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DayUsage {
    /// Days since 1970-01-01, in UTC.
    pub day: u64,
    /// Tokens of all kinds.
    pub tokens: u64,
    /// Cost by the price table, in millionths of a US dollar.
    pub cost_microusd: u64,
    /// Tokens of models without a price.
    pub unpriced_tokens: u64,
}

impl TranscriptUsage {
    /// Tokens of all kinds.
    pub fn total_tokens(&self) -> u64 {
        [self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Whether a record shows nothing of it.
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
