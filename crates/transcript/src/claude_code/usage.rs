// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Token counts in Claude Code's transcripts. An answer has one line per block, and all these lines have the same id
//! and counts. Subagents write to their own files, in a directory next to the session's transcript.

use serde::Deserialize;
use tenterhook_event::TokenCounts;

use crate::usage::{FirstValue, UsageFormat, UsageLine, answer_tokens, first_value};

pub(super) const USAGE: UsageFormat = UsageFormat {
    markers: &["\"usage\":"],
    subagents: |path| Some(path.with_extension("").join("subagents")),
    parse,
};

#[derive(Deserialize)]
struct LineKind {
    #[serde(default, rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AssistantLine {
    timestamp: Option<String>,
    request_id: Option<String>,
    message: AssistantMessage,
}

#[derive(Deserialize)]
struct AssistantMessage {
    id: Option<String>,
    model: Option<String>,
    usage: Option<ClaudeUsage>,
}

#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names are the client's")]
struct ClaudeUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

fn parse(text: &str) -> Option<FirstValue> {
    let (LineKind { kind }, length) = first_value(text)?;
    if kind != "assistant" {
        return Some((None, length));
    }
    let (AssistantLine { timestamp, request_id, message }, length) = first_value(text)?;
    let Some(usage) = message.usage else { return Some((None, length)) };
    let tokens = answer_tokens(TokenCounts {
        input: usage.input_tokens,
        output: usage.output_tokens,
        cache_read: usage.cache_read_input_tokens.unwrap_or_default(),
        cache_write: usage.cache_creation_input_tokens.unwrap_or_default(),
    })?;
    if tokens.total() == 0 {
        // A message without tokens comes from the client itself, such as an error.
        return Some((None, length));
    }
    let ts = timestamp.and_then(|ts| ts.parse().ok());
    let key = format!("{} {}", message.id.unwrap_or_default(), request_id.unwrap_or_default());
    Some((Some(UsageLine::Answer { key, model: message.model, ts, tokens }), length))
}
