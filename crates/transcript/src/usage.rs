// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads token counts from the transcript of a running session, line by line.
//!
//! The agent can write to its own transcript. Text that the agent adds before or after the client's text on a line
//! must not hide the client's text. A line that cannot be parsed is reported and not treated as a line without usage.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use tenterhook_event::{Timestamp, TokenCounts};

/// More tokens than one answer can have. A line with a larger number was not written by the client.
const MAX_ANSWER_TOKENS: u64 = 1_000_000_000;
/// More tokens than one session can have.
const MAX_SESSION_TOKENS: u64 = 10_000_000_000_000;
/// Maximum number of failed attempts to find the start of an object in a line that is not a single object.
const MAX_OBJECT_STARTS: usize = 32;

/// How token counts are read from a transcript while its session runs.
#[derive(Debug, Clone, Copy)]
pub struct UsageFormat {
    /// Every line with token counts, or with the model they belong to, contains one of these strings.
    pub markers: &'static [&'static str],
    /// Returns the directory of the subagents' transcripts, given the path of the session's own transcript.
    pub subagents: fn(&Path) -> Option<PathBuf>,
    /// Parses the first JSON value of a text, and returns its length.
    pub(crate) parse: fn(&str) -> Option<FirstValue>,
}

/// Token counts in the first JSON value of a text, and the length of that value.
pub(crate) type FirstValue = (Option<UsageLine>, usize);

/// Token counts in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UsageLine {
    /// Tokens of one answer. While an answer is streamed, its key occurs several times; the last line applies.
    Answer {
        /// Key of the answer.
        key: String,
        /// Model of the answer.
        model: Option<String>,
        /// Time at which the line was written.
        ts: Option<Timestamp>,
        /// Tokens of the answer and its prompt.
        tokens: TokenCounts,
    },
    /// Tokens of all answers in this transcript so far.
    Total {
        /// Time at which the line was written.
        ts: Option<Timestamp>,
        /// Tokens of all answers and prompts.
        tokens: TokenCounts,
    },
    /// Model of the answers that follow.
    Model(String),
}

/// A line with a marker that cannot be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnreadableLine;

impl UsageFormat {
    /// Reads the token counts in a line. Most lines have none and are not parsed.
    pub fn read_line(&self, line: &str) -> Result<Vec<UsageLine>, UnreadableLine> {
        let mut found = Vec::new();
        if !self.markers.iter().any(|marker| line.contains(marker)) {
            return Ok(found);
        }
        let (mut rest, mut failures, mut values) = (line, 0, 0);
        while let Some(start) = rest.find("{\"") {
            let text = rest.get(start..).unwrap_or_default();
            let length = match (self.parse)(text) {
                Some((usage, length)) => {
                    found.extend(usage);
                    values += 1;
                    length.max(1)
                }
                None if failures < MAX_OBJECT_STARTS => {
                    failures += 1;
                    1
                }
                None => return Err(UnreadableLine),
            };
            rest = text.get(length..).unwrap_or_default();
        }
        // A line is unreadable if it contains no value. It is also unreadable if a part of it failed and no token
        // counts were found: the counts may have been in that part.
        if values == 0 || failures > 0 && found.is_empty() { Err(UnreadableLine) } else { Ok(found) }
    }
}

/// The first value of a text, and its length.
pub(crate) fn first_value<T: DeserializeOwned>(text: &str) -> Option<(T, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<T>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// Tokens of one answer, if the number is plausible.
pub(crate) fn answer_tokens(tokens: TokenCounts) -> Option<TokenCounts> {
    Some(tokens).filter(|tokens| tokens.total() <= MAX_ANSWER_TOKENS)
}

/// Tokens of a session, if the number is plausible.
pub(crate) fn session_tokens(tokens: TokenCounts) -> Option<TokenCounts> {
    Some(tokens).filter(|tokens| tokens.total() <= MAX_SESSION_TOKENS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use tenterhook_harness::find_harness;

    fn format(harness: &str) -> UsageFormat {
        crate::transcripts_of(find_harness(harness).unwrap()).unwrap().usage.unwrap()
    }

    fn claude(id: &str, output: u64) -> String {
        json!({"parentUuid": null, "message": {"model": "claude-opus-5-5", "id": id, "role": "assistant",
            "content": [{"type": "text", "text": "{\"usage\":{}}"}],
            "usage": {"input_tokens": 1, "output_tokens": output, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4}},
            "requestId": "r", "type": "assistant", "timestamp": "2026-11-16T10:35:14.217Z"})
        .to_string()
    }

    fn outputs(line: &str) -> Option<Vec<u64>> {
        let lines = format("claude-code").read_line(line).ok()?;
        let output = |line| match line {
            UsageLine::Answer { tokens, .. } => tokens.output,
            other => panic!("{other:?}"),
        };
        Some(lines.into_iter().map(output).collect())
    }

    #[test]
    fn an_answer_is_found_whatever_stands_around_it_on_its_line() {
        let line = claude("m", 7);
        let tokens = TokenCounts { input: 1, output: 7, cache_read: 3, cache_write: 4 };
        let expected = UsageLine::Answer {
            key: "m r".to_owned(),
            model: Some("claude-opus-5-5".to_owned()),
            ts: Some("2026-11-16T10:35:14.217Z".parse().unwrap()),
            tokens,
        };
        assert_eq!(format("claude-code").read_line(&line), Ok(vec![expected]));
        for garbage in ["{", "{}", "{\"a\":1}", "x", "[[[", "{\"usage\":", "\"", "{\"type\":\"assistant\"}"] {
            assert_eq!(outputs(&format!("{garbage}{line}")), Some(vec![7]), "{garbage}");
            assert_eq!(outputs(&format!("{line}{garbage}")), Some(vec![7]), "{garbage}");
        }
        assert_eq!(outputs(&format!("{line}{}", claude("n", 8))), Some(vec![7, 8]));
        assert_eq!(outputs(&format!("{}{line}", "{\"".repeat(40))), None, "it is not said to be nothing");
    }

    #[test]
    fn a_line_that_cannot_be_read_is_not_one_without_usage() {
        let line = claude("m", 7);
        assert_eq!(outputs(line.split_at(line.len() - 10).0), None);
        for number in ["-1", "1.5", "\"7\"", "99999999999999999999999", "18446744073709551615", "1000000001"]
        {
            let forged = line.replace("\"output_tokens\":7", &format!("\"output_tokens\":{number}"));
            assert_ne!(forged, line);
            assert_eq!(outputs(&forged), None, "{number}");
        }
        for other in
            [r#"{"type":"user","message":"\"usage\":"}"#, r#"{"type":"system","usage":{"a":[]}}"#, "{}"]
        {
            assert_eq!(outputs(other), Some(vec![]), "{other}");
        }
        let synthetic = r#"{"type":"assistant","message":{"model":"<synthetic>","id":"x","usage":{"input_tokens":0,"output_tokens":0}}}"#;
        assert_eq!(outputs(synthetic), Some(vec![]));
    }

    #[test]
    fn codex_reports_totals_and_its_model() {
        let codex = format("codex");
        let usage = json!({"input_tokens": 110, "cached_input_tokens": 100, "cache_write_input_tokens": 4, "output_tokens": 9,
            "reasoning_output_tokens": 5, "total_tokens": 119});
        let total = |line: serde_json::Value| codex.read_line(&line.to_string());
        let tokens = TokenCounts { input: 6, output: 9, cache_read: 100, cache_write: 4 };
        let expected = Ok(vec![UsageLine::Total { ts: None, tokens }]);
        assert_eq!(
            total(
                json!({"type": "token_usage_record", "payload": {"usage": {}, "thread_token_usage": usage}})
            ),
            expected
        );
        let counted = |info| json!({"type": "event_msg", "payload": {"type": "token_count", "info": info}});
        assert_eq!(total(counted(json!({"total_token_usage": usage}))), expected);
        assert_eq!(total(counted(json!(null))), Ok(vec![]));
        assert_eq!(
            total(json!({"type": "turn_context", "payload": {"model": "gpt-5.5"}})),
            Ok(vec![UsageLine::Model("gpt-5.5".to_owned())])
        );
        assert_eq!(total(json!({"type": "response_item", "payload": {"output": "token_count"}})), Ok(vec![]));
        assert_eq!(total(counted(json!({"total_token_usage": {"input_tokens": -5}}))), Err(UnreadableLine));
    }
}
