// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Token counts in Codex's transcripts. After every answer Codex writes the totals of the thread. Older versions
//! write only `token_count` events. Newer versions also write the same totals earlier, in a `token_usage_record`.

use serde::Deserialize;
use tenterhook_event::{Timestamp, TokenCounts};

use crate::usage::{FirstValue, UsageFormat, UsageLine, first_value, session_tokens};

pub(super) const USAGE: UsageFormat = UsageFormat {
    markers: &["\"token_usage_record\"", "\"token_count\"", "\"turn_context\""],
    // A subagent has its own thread, and the hooks of the subagent name that thread's transcript.
    subagents: |_| None,
    parse,
};

#[derive(Deserialize)]
struct RolloutLine<P> {
    #[serde(default, rename = "type")]
    kind: String,
    timestamp: Option<String>,
    payload: Option<P>,
}

#[derive(Deserialize)]
struct UsageRecord {
    thread_token_usage: CodexUsage,
}

#[derive(Deserialize)]
struct TokenCountEvent {
    info: Option<TokenCountTotals>,
}

#[derive(Deserialize)]
struct TokenCountTotals {
    total_token_usage: CodexUsage,
}

#[derive(Deserialize)]
struct TurnContext {
    model: Option<String>,
}

/// Token counts as Codex writes them. `input_tokens` includes the cached tokens.
#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names are the client's")]
struct CodexUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cached_input_tokens: u64,
    #[serde(default)]
    cache_write_input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

#[derive(Deserialize)]
struct PayloadKind {
    #[serde(default, rename = "type")]
    kind: String,
}

fn parse(text: &str) -> Option<FirstValue> {
    let (line, length) = first_value::<RolloutLine<serde::de::IgnoredAny>>(text)?;
    let usage = match line.kind.as_str() {
        "token_usage_record" => {
            let (line, _) = first_value::<RolloutLine<UsageRecord>>(text)?;
            Some(total(line.timestamp, &line.payload?.thread_token_usage)?)
        }
        "event_msg" => {
            let (line, _) = first_value::<RolloutLine<PayloadKind>>(text)?;
            if line.payload.is_none_or(|payload| payload.kind != "token_count") {
                return Some((None, length));
            }
            let (line, _) = first_value::<RolloutLine<TokenCountEvent>>(text)?;
            match line.payload?.info {
                Some(info) => Some(total(line.timestamp, &info.total_token_usage)?),
                None => None,
            }
        }
        "turn_context" => {
            first_value::<RolloutLine<TurnContext>>(text)?.0.payload?.model.map(UsageLine::Model)
        }
        _ => None,
    };
    Some((usage, length))
}

fn total(ts: Option<String>, usage: &CodexUsage) -> Option<UsageLine> {
    let cached = usage.cached_input_tokens.saturating_add(usage.cache_write_input_tokens);
    let tokens = session_tokens(TokenCounts {
        input: usage.input_tokens.saturating_sub(cached),
        output: usage.output_tokens,
        cache_read: usage.cached_input_tokens,
        cache_write: usage.cache_write_input_tokens,
    })?;
    let ts: Option<Timestamp> = ts.and_then(|ts| ts.parse().ok());
    Some(UsageLine::Total { ts, tokens })
}
