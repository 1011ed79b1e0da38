// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tokens and cost, where a payload says them. Nothing is estimated.

use serde::Serialize;
use serde_json::Value;
use tenterhook_event::Event;

/// What some tokens of a model cost, in dollars. `None`: nobody knows.
pub type Prices = fn(model: &str, tokens: &Tokens) -> Option<f64>;

/// Tokens of one answer of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Read by the model, without what a cache had.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Written into a cache.
    pub cache_write: u64,
}

/// What was said about tokens and money.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Usage {
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) input_tokens: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) output_tokens: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) cache_read_tokens: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) cache_write_tokens: u64,
    /// How full the context was at the model's last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_tokens: Option<u64>,
    /// How much fits into it, where the harness tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_limit: Option<u64>,
    /// The one by the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_share: Option<f64>,
    /// What it cost, by the price table; absent when an answer was of a model without a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_usd: Option<f64>,
    /// Answers of models whose price is not known.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) unpriced: u64,
    /// Answers that told their tokens.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) answers: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Usage {
    /// Reads what an event says; the answers of a model add up. Says whether there was anything.
    pub(super) fn read(&mut self, event: &Event, model: Option<&str>, prices: Option<Prices>) -> bool {
        let Some(answer) = &event.detail.model_response else { return false };
        self.limit(answer);
        let Some(tokens) = tokens(answer) else { return false };
        self.answers += 1;
        self.input_tokens += tokens.input;
        self.output_tokens += tokens.output;
        self.cache_read_tokens += tokens.cache_read;
        self.cache_write_tokens += tokens.cache_write;
        self.context_tokens = Some(tokens.input + tokens.cache_read + tokens.cache_write);
        self.share();
        let named = answer.get("model").and_then(Value::as_str).or(model);
        match named.zip(prices).and_then(|(model, prices)| prices(model, &tokens)) {
            Some(dollars) => self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + dollars),
            None => self.unpriced += 1,
        }
        true
    }

    /// How much fits into the context, if it is said.
    fn limit(&mut self, answer: &Value) {
        let keys = ["context_limit", "context_window_size", "max_context_tokens", "contextWindow"];
        let told = keys.iter().find_map(|key| {
            let inner = || answer.get("usage").or_else(|| answer.get("usageMetadata"))?.get(key);
            answer.get(key).or_else(inner)?.as_u64()
        });
        self.context_limit = told.or(self.context_limit);
    }

    #[expect(clippy::cast_precision_loss, reason = "a share has a few digits")]
    fn share(&mut self) {
        self.context_share = match (self.context_tokens, self.context_limit) {
            (Some(used), Some(limit)) if limit > 0 => Some(used as f64 / limit as f64),
            _ => None,
        };
    }
}

/// The tokens of an answer, in whichever shape. A piece of a stream tells nothing yet.
fn tokens(answer: &Value) -> Option<Tokens> {
    if let Some(pieces) = answer.get("candidates").and_then(Value::as_array)
        && !pieces.iter().any(|piece| piece.get("finishReason").is_some())
    {
        return None;
    }
    let usage = ["usageMetadata", "usage"].iter().find_map(|key| answer.get(key))?;
    let number = |keys: &[&str]| keys.iter().find_map(|key| usage.get(key)?.as_u64());
    let input = number(&["promptTokenCount", "input_tokens", "prompt_tokens", "input"]);
    let output = number(&["candidatesTokenCount", "output_tokens", "completion_tokens", "output"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached = number(&["cachedContentTokenCount"]);
    let read = number(&["cache_read_input_tokens", "cache_read_tokens", "cache_read"]);
    Some(Tokens {
        // Gemini counts what the cache had among the rest.
        input: input.unwrap_or(0).saturating_sub(cached.unwrap_or(0)),
        output: output.unwrap_or(0),
        cache_read: read.or(cached).unwrap_or(0),
        cache_write: number(&["cache_creation_input_tokens", "cache_write_tokens", "cache_write"])
            .unwrap_or(0),
    })
}
