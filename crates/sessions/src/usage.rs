// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tokens and cost, where a payload or the client's transcript says them. Nothing is estimated.

use serde_json::Value;
use tenterhook_api::SessionUsage;
use tenterhook_event::{Event, Tokens, TranscriptUsage};
use tenterhook_policy::{Money, Prices};

/// What was said about tokens and money.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cache_read_tokens: u64,
    pub(super) cache_write_tokens: u64,
    /// How full the context was at the model's last answer.
    pub(super) context_tokens: Option<u64>,
    /// How much fits into it, where the harness tells.
    pub(super) context_limit: Option<u64>,
    /// The one by the other.
    pub(super) context_share: Option<f64>,
    /// What it cost, by the price table; absent when no model has a price in it.
    pub(super) cost_usd: Option<f64>,
    /// The same, to the last digit.
    cost: Money,
    /// Answers of models whose price is not known.
    pub(super) unpriced: u64,
    /// Answers that told their tokens.
    pub(super) answers: u64,
}

impl Usage {
    /// Tokens and cost, as the API describes them.
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

    /// Reads what an event says; the answers of a model add up. Says whether there was anything.
    pub(super) fn read(&mut self, event: &Event, model: Option<&str>, prices: &Prices) -> bool {
        if let Some(answer) = &event.detail.model_response {
            self.limit(answer);
        }
        if let Some(totals) = &event.detail.usage {
            return self.raise_to(totals);
        }
        let Some(tokens) = Tokens::of(event) else { return false };
        self.answers += 1;
        self.input_tokens += tokens.input;
        self.output_tokens += tokens.output;
        self.cache_read_tokens += tokens.cache_read;
        self.cache_write_tokens += tokens.cache_write;
        self.context_tokens = Some(tokens.prompt());
        self.share();
        match event.answering_model().or(model).and_then(|model| prices.cost(model, &tokens)) {
            Some(cost) => {
                self.cost = self.cost.plus(cost);
                self.cost_usd = Some(self.cost.as_dollars());
            }
            None => self.unpriced += 1,
        }
        true
    }

    /// Takes over the totals of a transcript. Events may come out of order, so that only higher numbers count. Says
    /// whether there were any.
    fn raise_to(&mut self, totals: &TranscriptUsage) -> bool {
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
        self.share();
        true
    }

    /// How much fits into the context, if it is said.
    fn limit(&mut self, answer: &Value) {
        self.context_limit = Tokens::context_limit_of(answer).or(self.context_limit);
    }

    #[expect(clippy::cast_precision_loss, reason = "a share has a few digits")]
    fn share(&mut self) {
        self.context_share = match (self.context_tokens, self.context_limit) {
            (Some(used), Some(limit)) if limit > 0 => Some(used as f64 / limit as f64),
            _ => None,
        };
    }
}
