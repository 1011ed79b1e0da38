// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What an answer of a model used, in whichever words the harness tells it.

use serde_json::Value;

use crate::{Event, EventKind};

/// Tokens, each counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Read by the model, without what a cache had.
    pub input: u64,
    /// Written by the model, thoughts included.
    pub output: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Written into a cache.
    pub cache_write: u64,
}

impl Tokens {
    /// What a post-model event says. A piece of a stream says nothing yet: the last one says it all.
    pub fn of(event: &Event) -> Option<Self> {
        let answer = event.detail.model_response.as_ref().filter(|_| event.event == EventKind::PostModel)?;
        Self::of_answer(answer)
    }

    /// What an answer says.
    pub fn of_answer(answer: &Value) -> Option<Self> {
        if let Some(pieces) = answer.get("candidates").and_then(Value::as_array) {
            let ends = |piece: &Value| piece.get("finishReason").is_some_and(|reason| !reason.is_null());
            pieces.iter().find(|piece| ends(piece))?;
        }
        let usage = ["usageMetadata", "usage"].iter().find_map(|key| answer.get(key))?;
        let number = |keys: &[&str]| keys.iter().find_map(|key| usage.pointer(key)?.as_u64());
        let input = number(&["/input_tokens", "/prompt_tokens", "/promptTokenCount"]);
        let output = number(&["/output_tokens", "/completion_tokens", "/candidatesTokenCount"]);
        input.or(output)?;
        // Anthropic counts what a cache had beside the input; all others count it within.
        let beside = ["/cache_read_input_tokens", "/cache_creation_input_tokens"].map(|key| number(&[key]));
        let within = [
            number(&[
                "/cache_read_tokens",
                "/cachedContentTokenCount",
                "/prompt_tokens_details/cached_tokens",
                "/input_tokens_details/cached_tokens",
            ]),
            number(&["/cache_write_tokens"]),
        ];
        let apart = beside.iter().any(Option::is_some);
        let [cache_read, cache_write] = if apart { beside } else { within }.map(Option::unwrap_or_default);
        let input = input.unwrap_or_default();
        let cached = if apart { 0 } else { cache_read.saturating_add(cache_write) };
        let thoughts = number(&["/thoughtsTokenCount"]).unwrap_or_default();
        let output = output.unwrap_or_default().saturating_add(thoughts);
        Some(Self { input: input.saturating_sub(cached), output, cache_read, cache_write })
    }

    /// How many tokens fit into the model's context, if its answer says that.
    pub fn context_limit_of(answer: &Value) -> Option<u64> {
        let keys = ["context_limit", "context_window_size", "max_context_tokens", "contextWindow"];
        keys.iter().find_map(|key| {
            let inner = || answer.get("usage").or_else(|| answer.get("usageMetadata"))?.get(key);
            answer.get(key).or_else(inner)?.as_u64()
        })
    }

    /// All that the model read.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }
}

impl Event {
    /// The model that answered, as it or whoever asked it names it.
    pub fn answering_model(&self) -> Option<&str> {
        let Self { agent, detail, .. } = self;
        let answer = named(detail.model_response.as_ref(), &["/model", "/modelVersion"]);
        let asked = named(detail.model_request.as_ref(), &["/model", "/model/name"]);
        answer.or(agent.model.as_deref()).or(asked)
    }
}

fn named<'a>(value: Option<&'a Value>, places: &[&str]) -> Option<&'a str> {
    places.iter().find_map(|place| value?.pointer(place)?.as_str()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tokens(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Tokens {
        Tokens { input, output, cache_read, cache_write }
    }

    #[test]
    fn every_token_is_counted_once_in_whichever_words() {
        let anthropic = json!({"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 30});
        let ours = json!({"input_tokens": 140, "output_tokens": 2, "total_tokens": 142,
            "cache_read_tokens": 100, "cache_write_tokens": 30});
        let chat = json!({"prompt_tokens": 110, "completion_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 100}});
        let responses = json!({"input_tokens": 110, "output_tokens": 2,
            "input_tokens_details": {"cached_tokens": 100}});
        let gemini = json!({"promptTokenCount": 110, "candidatesTokenCount": 1, "thoughtsTokenCount": 1,
            "cachedContentTokenCount": 100});
        for (usage, expected) in [
            (anthropic, tokens(10, 2, 100, 30)),
            (ours, tokens(10, 2, 100, 30)),
            (chat, tokens(10, 2, 100, 0)),
            (responses, tokens(10, 2, 100, 0)),
            (gemini, tokens(10, 2, 100, 0)),
            (json!({"input_tokens": 7}), tokens(7, 0, 0, 0)),
        ] {
            assert_eq!(Tokens::of_answer(&json!({"usage": usage})), Some(expected), "{usage}");
        }
        assert_eq!(tokens(10, 2, 100, 30).total(), 142);
    }

    #[test]
    fn a_piece_of_a_stream_says_nothing_yet() {
        let piece = |finish: Value| json!({"candidates": [{"finishReason": finish}], "usageMetadata": {"promptTokenCount": 5}});
        assert_eq!(Tokens::of_answer(&piece(Value::Null)), None);
        assert_eq!(Tokens::of_answer(&piece(json!("STOP"))), Some(tokens(5, 0, 0, 0)));
        for nothing in [json!({}), json!({"usage": null}), json!({"usage": {"input_tokens": "many"}})] {
            assert_eq!(Tokens::of_answer(&nothing), None);
        }
    }

    #[test]
    fn the_model_is_named_by_whoever_knows_best() {
        let (id, ts) = (crate::EventId::from_parts(0, 0), crate::Timestamp::from_unix_ms(0));
        let mut event = Event::new(id, ts, "sdk", EventKind::PostModel, "GenerateEnd");
        assert_eq!(event.answering_model(), None);
        event.detail.model_request = Some(json!({"model": {"name": "asked"}}));
        assert_eq!(event.answering_model(), Some("asked"));
        event.agent.model = Some("agent".to_owned());
        assert_eq!(event.answering_model(), Some("agent"));
        event.detail.model_response = Some(json!({"modelVersion": "answered"}));
        assert_eq!(event.answering_model(), Some("answered"));
    }
}
