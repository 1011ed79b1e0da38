// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tokens and cost, as reported by payloads or by the client's transcript. Nothing is estimated.

use serde_json::Value;
use tenterhook_api::SessionUsage;
use tenterhook_event::{Event, TokenCounts, TranscriptUsage};
use tenterhook_policy::{Money, PriceTable};

/// Token and cost totals of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct UsageTotals {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cache_read_tokens: u64,
    pub(super) cache_write_tokens: u64,
    /// Tokens in the context at the model's last reply.
    pub(super) context_tokens: Option<u64>,
    /// Size of the context window, if the harness reports it.
    pub(super) context_limit: Option<u64>,
    /// Share of the context window in use.
    pub(super) context_share: Option<f64>,
    /// Cost by the price table; `None` if no model has a price.
    pub(super) cost_usd: Option<f64>,
    /// Exact cost of all priced replies.
    cost: Money,
    /// Replies from models without a price.
    pub(super) unpriced: u64,
    /// Replies with token counts.
    pub(super) answers: u64,
}

impl UsageTotals {
    /// Converts the totals to the API type.
    pub(super) fn session_usage(&self) -> SessionUsage {
        SessionUsage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cache_read_tokens: self.cache_read_tokens,
            cache_write_tokens: self.cache_write_tokens,
            context_tokens: self.context_tokens,
            context_limit: self.context_limit,
            context_share: self.context_share,
            cost_usd: self.cost_usd,
            unpriced: self.unpriced,
            answers: self.answers,
        }
    }

    /// Adds the usage of an event. Returns whether it had any.
    pub(super) fn apply_event(&mut self, event: &Event, model: Option<&str>, prices: &PriceTable) -> bool {
        if let Some(answer) = &event.detail.model_response {
            self.update_context_limit(answer);
        }
        if let Some(totals) = &event.detail.usage {
            return self.raise_to_totals(totals);
        }
        let Some(tokens) = TokenCounts::from_event(event) else { return false };
        self.answers += 1;
        self.input_tokens += tokens.input;
        self.output_tokens += tokens.output;
        self.cache_read_tokens += tokens.cache_read;
        self.cache_write_tokens += tokens.cache_write;
        self.context_tokens = Some(tokens.prompt());
        self.update_context_share();
        match event.answering_model().or(model).and_then(|model| prices.cost(model, &tokens)) {
            Some(cost) => {
                self.cost = self.cost.saturating_add(cost);
                self.cost_usd = Some(self.cost.as_dollars());
            }
            None => self.unpriced += 1,
        }
        true
    }

    /// Raises the totals to those of a transcript. Events may arrive out of order, so totals never decrease. Returns
    /// `false` if the transcript's totals are older or empty.
    fn raise_to_totals(&mut self, totals: &TranscriptUsage) -> bool {
        if totals.answers < self.answers || totals.answers == 0 {
            return false;
        }
        for (own, total) in [
            (&mut self.answers, totals.answers),
            (&mut self.input_tokens, totals.input_tokens),
            (&mut self.output_tokens, totals.output_tokens),
            (&mut self.cache_read_tokens, totals.cache_read_tokens),
            (&mut self.cache_write_tokens, totals.cache_write_tokens),
            (&mut self.unpriced, totals.unpriced_answers),
        ] {
            *own = total.max(*own);
        }
        self.cost = self.cost.max(Money::from_microusd(totals.cost_microusd));
        if totals.answers > totals.unpriced_answers {
            self.cost_usd = Some(self.cost.as_dollars());
        }
        self.context_tokens = totals.context_tokens.or(self.context_tokens);
        self.update_context_share();
        true
    }

    /// Sets the size of the context window, if the reply contains it.
    fn update_context_limit(&mut self, answer: &Value) {
        self.context_limit = TokenCounts::context_limit(answer).or(self.context_limit);
    }

    #[expect(clippy::cast_precision_loss, reason = "a share needs only a few digits")]
    fn update_context_share(&mut self) {
        self.context_share = match (self.context_tokens, self.context_limit) {
            (Some(used), Some(limit)) if limit > 0 => Some(used as f64 / limit as f64),
            _ => None,
        };
    }
}
