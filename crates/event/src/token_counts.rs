// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the token counts of a model response, using the field names of all supported model APIs.

use serde_json::Value;

use crate::{Event, EventKind};

/// Token counts of a model response. Each token is counted in exactly one field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Input tokens that are not cached.
    pub input: u64,
    /// Output tokens, including reasoning tokens.
    pub output: u64,
    /// Tokens read from a prompt cache.
    pub cache_read: u64,
    /// Tokens written to a prompt cache.
    pub cache_write: u64,
}

impl TokenCounts {
    /// Reads the counts of a post-model event. Returns `None` for a chunk of a streamed response unless it is the
    /// last chunk, because only the last chunk has the final counts.
    pub fn from_event(event: &Event) -> Option<Self> {
        let response =
            event.detail.model_response.as_ref().filter(|_| event.event == EventKind::PostModel)?;
        Self::from_response(response)
    }

    /// Reads the counts of a model response.
    pub fn from_response(response: &Value) -> Option<Self> {
        if let Some(chunks) = response.get("candidates").and_then(Value::as_array) {
            let is_last = |chunk: &Value| chunk.get("finishReason").is_some_and(|reason| !reason.is_null());
            chunks.iter().find(|chunk| is_last(chunk))?;
        }
        let usage = ["usageMetadata", "usage"].iter().find_map(|key| response.get(key))?;
        let number = |keys: &[&str]| keys.iter().find_map(|key| usage.pointer(key)?.as_u64());
        let input = number(&["/input_tokens", "/prompt_tokens", "/promptTokenCount"]);
        let output = number(&["/output_tokens", "/completion_tokens", "/candidatesTokenCount"]);
        input.or(output)?;
        // Anthropic reports cached tokens separately; all other APIs include them in the input tokens.
        let separate = ["/cache_read_input_tokens", "/cache_creation_input_tokens"].map(|key| number(&[key]));
        let included = [
            number(&[
                "/cache_read_tokens",
                "/cachedContentTokenCount",
                "/prompt_tokens_details/cached_tokens",
                "/input_tokens_details/cached_tokens",
            ]),
            number(&["/cache_write_tokens"]),
        ];
        let is_separate = separate.iter().any(Option::is_some);
        let [cache_read, cache_write] =
            if is_separate { separate } else { included }.map(Option::unwrap_or_default);
        let input = input.unwrap_or_default();
        let cached = if is_separate { 0 } else { cache_read.saturating_add(cache_write) };
        let thoughts = number(&["/thoughtsTokenCount"]).unwrap_or_default();
        let output = output.unwrap_or_default().saturating_add(thoughts);
        Some(Self { input: input.saturating_sub(cached), output, cache_read, cache_write })
    }

    /// Reads the size of the model's context window in tokens, if the response reports it.
    pub fn context_limit(response: &Value) -> Option<u64> {
        let keys = ["context_limit", "context_window_size", "max_context_tokens", "contextWindow"];
        keys.iter().find_map(|key| {
            let inner = || response.get("usage").or_else(|| response.get("usageMetadata"))?.get(key);
            response.get(key).or_else(inner)?.as_u64()
        })
    }

    /// Returns the number of prompt tokens, including cached tokens.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Returns the number of tokens in the prompt and the output together.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }
}

impl Event {
    /// Returns the name of the model that responded, taken from the response, else from the agent, else from the
    /// request.
    pub fn answering_model(&self) -> Option<&str> {
        let Self { agent, detail, .. } = self;
        let response = model_name(detail.model_response.as_ref(), &["/model", "/modelVersion"]);
        let request = model_name(detail.model_request.as_ref(), &["/model", "/model/name"]);
        response.or(agent.model.as_deref()).or(request)
    }
}

fn model_name<'a>(value: Option<&'a Value>, pointers: &[&str]) -> Option<&'a str> {
    pointers.iter().find_map(|pointer| value?.pointer(pointer)?.as_str()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tokens(input: u64, output: u64, cache_read: u64, cache_write: u64) -> TokenCounts {
        TokenCounts { input, output, cache_read, cache_write }
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
            assert_eq!(TokenCounts::from_response(&json!({"usage": usage})), Some(expected), "{usage}");
        }
        assert_eq!(tokens(10, 2, 100, 30).total(), 142);
    }

    #[test]
    fn a_piece_of_a_stream_says_nothing_yet() {
        let piece = |finish: Value| json!({"candidates": [{"finishReason": finish}], "usageMetadata": {"promptTokenCount": 5}});
        assert_eq!(TokenCounts::from_response(&piece(Value::Null)), None);
        assert_eq!(TokenCounts::from_response(&piece(json!("STOP"))), Some(tokens(5, 0, 0, 0)));
        for nothing in [json!({}), json!({"usage": null}), json!({"usage": {"input_tokens": "many"}})] {
            assert_eq!(TokenCounts::from_response(&nothing), None);
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
