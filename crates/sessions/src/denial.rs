// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Denied calls, and whether the agent followed the suggestion.
//!
//! The next tool call of the same agent determines the result:
//!
//! - *repeated*: the next call equals the denied call;
//! - *taken*: the next call follows the suggestion. If the suggestion contains commands in backticks, the next command
//!   must contain every plain word of one of these commands. If it contains none, there are two ways to follow it. The
//!   next call uses a program or tool that the suggestion names and that differs from the denied one. Or the next call
//!   runs the denied program with other arguments, and its verdict is neither deny nor ask;
//! - *other*: anything else.
//!
//! Before that call, the result is *open*. A denial without a suggestion ends as *repeated* or *other*.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use tenterhook_api::{DeniedCall, MissingContent, SuggestionResult};
use tenterhook_event::{Timestamp, ToolCall};

use super::decided_event::DecidedEvent;
use tenterhook_records::sanitize;

const MAX_GIST_CHARS: usize = 300;
const MAX_REASON_CHARS: usize = 500;

/// A denied call, or a call with the verdict `ask`.
#[derive(Debug, Clone)]
pub(super) struct TrackedDenial {
    pub(super) seq: u64,
    ts: Timestamp,
    event: &'static str,
    tool: Option<String>,
    gist: Option<String>,
    rule: Option<String>,
    reason: Option<String>,
    pub(super) nudge: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) hint: SuggestionResult,
    /// Program of the denied command.
    program: Option<String>,
    signature: u64,
    gone: Option<MissingContent>,
}

impl TrackedDenial {
    pub(super) fn new(decided: &DecidedEvent<'_>) -> Self {
        let event = decided.event;
        let tool = event.tool.as_ref().filter(|_| decided.gone.is_none());
        Self {
            seq: decided.seq,
            ts: event.ts,
            event: event.event.name(),
            tool: event.tool.as_ref().map(|tool| tool.name.clone()),
            gist: tool.map(|tool| sanitize(&tool.gist(), MAX_GIST_CHARS)),
            rule: decided.rule.as_deref().map(ToOwned::to_owned),
            reason: decided.reason.as_deref().map(|reason| sanitize(reason, MAX_REASON_CHARS)),
            nudge: decided.nudge.as_deref().map(|nudge| sanitize(nudge, MAX_REASON_CHARS)),
            agent: event.agent.id.clone(),
            hint: SuggestionResult::Open,
            program: tool.and_then(|tool| command_words(tool).into_iter().next()),
            signature: tool.map_or(0, call_signature),
            gone: decided.gone,
        }
    }

    /// Sets the result from the agent's next call. If the content of one of the two calls is missing, the result is
    /// *other*.
    pub(super) fn update_from_next_call(&mut self, next: &ToolCall, passed: bool, gone: bool) {
        self.hint = if gone || self.gone.is_some() {
            SuggestionResult::Other
        } else if self.tool.as_deref() == Some(&next.name) && self.signature == call_signature(next) {
            SuggestionResult::Repeated
        } else if self.nudge.as_deref().is_some_and(|nudge| self.is_followed_by(nudge, next, passed)) {
            SuggestionResult::Taken
        } else {
            SuggestionResult::Other
        };
    }

    fn is_followed_by(&self, nudge: &str, next: &ToolCall, passed: bool) -> bool {
        let words = command_words(next);
        let suggested: Vec<&str> = nudge.split('`').skip(1).step_by(2).collect();
        if !suggested.is_empty() {
            return suggested.iter().any(|suggestion| has_plain_words(&words, suggestion));
        }
        let named = |word: &str| {
            nudge.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').any(|part| part == word)
        };
        if self.program.is_some() && self.program.as_ref() == words.first() {
            return passed;
        }
        words.first().is_some_and(|program| named(program))
            || (named(&next.name) && self.tool.as_deref() != Some(&next.name))
    }

    /// Converts the call to the API type.
    pub(super) fn denied_call(&self) -> DeniedCall {
        DeniedCall {
            seq: self.seq,
            ts: self.ts,
            event: self.event.to_owned(),
            tool: self.tool.clone(),
            gist: self.gist.clone(),
            rule: self.rule.clone(),
            reason: self.reason.clone(),
            nudge: self.nudge.clone(),
            hint: self.hint,
            agent: self.agent.clone(),
            gone: self.gone,
        }
    }
}

/// Whether a command contains the plain words of a suggestion: its program, subcommands and options. Placeholders such
/// as `NAME` or `a/path` may differ.
fn has_plain_words(words: &[String], suggestion: &str) -> bool {
    let plain = |word: &&str| {
        word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_')
    };
    let mut wanted = suggestion.split_whitespace().filter(plain).peekable();
    wanted.peek().is_some() && wanted.all(|word| words.iter().any(|has| has == word))
}

/// Words of the call's first command, or the tool's name if the call has no command. The program's directory is
/// removed.
fn command_words(tool: &ToolCall) -> Vec<String> {
    let gist = if tool.commands().is_empty() { tool.name.as_str().into() } else { tool.gist() };
    let mut words: Vec<String> = gist.split_whitespace().map(ToOwned::to_owned).collect();
    if let Some(program) = words.first_mut() {
        *program = program.rsplit('/').next().unwrap_or_default().to_owned();
    }
    words
}

/// Hash that identifies repeated calls.
fn call_signature(tool: &ToolCall) -> u64 {
    let mut hasher = DefaultHasher::new();
    let commands = tool.commands();
    if commands.is_empty() {
        tool.args.to_string().hash(&mut hasher);
    } else {
        // Only the command is hashed: calls that differ in their description or white space are equal.
        tool.gist().split_whitespace().for_each(|word| word.hash(&mut hasher));
    }
    hasher.finish()
}
