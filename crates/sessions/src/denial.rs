// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What was denied, and whether the agent took the hint.
//!
//! The next tool call of the same agent decides, and nothing later:
//!
//! - it is the same call once more: *repeated*;
//! - it does what the nudge suggests: *taken*. A nudge with commands in backticks is taken by a command
//!   that has the program and every plain word of one of them; another nudge is taken by a call whose
//!   program or tool it names, if that is not the one that was denied, and by the program or tool that was
//!   denied, if it is called otherwise and nobody objects any more;
//! - it is anything else: *other*. The agent neither insisted nor followed.
//!
//! Until then it is *open*; without a nudge there is no hint to take, and only *repeated* and *other* exist.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use tenterhook_api::{DeniedCall, MissingContent, SuggestionResult};
use tenterhook_event::{Timestamp, ToolCall};

use super::happened::DecidedEvent;
use tenterhook_records::sanitize;

const GIST: usize = 300;
const REASON: usize = 500;

/// One call that was denied.
#[derive(Debug, Clone)]
pub(super) struct Denial {
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
    /// The program that was denied.
    program: Option<String>,
    same: u64,
    gone: Option<MissingContent>,
}

impl Denial {
    pub(super) fn of(happened: &DecidedEvent<'_>) -> Self {
        let event = happened.event;
        let tool = event.tool.as_ref().filter(|_| happened.gone.is_none());
        Self {
            seq: happened.seq,
            ts: event.ts,
            event: event.event.name(),
            tool: event.tool.as_ref().map(|tool| tool.name.clone()),
            gist: tool.map(|tool| sanitize(&tool.gist(), GIST)),
            rule: happened.rule.as_deref().map(ToOwned::to_owned),
            reason: happened.reason.as_deref().map(|reason| sanitize(reason, REASON)),
            nudge: happened.nudge.as_deref().map(|nudge| sanitize(nudge, REASON)),
            agent: event.agent.id.clone(),
            hint: SuggestionResult::Open,
            program: tool.and_then(|tool| words(tool).into_iter().next()),
            same: tool.map_or(0, signature),
            gone: happened.gone,
        }
    }

    /// The agent's next call tells. A call whose content is gone tells nothing but that it came.
    pub(super) fn hear(&mut self, next: &ToolCall, passed: bool, gone: bool) {
        self.hint = if gone || self.gone.is_some() {
            SuggestionResult::Other
        } else if self.tool.as_deref() == Some(&next.name) && self.same == signature(next) {
            SuggestionResult::Repeated
        } else if self.nudge.as_deref().is_some_and(|nudge| self.follows(nudge, next, passed)) {
            SuggestionResult::Taken
        } else {
            SuggestionResult::Other
        };
    }

    fn follows(&self, nudge: &str, next: &ToolCall, passed: bool) -> bool {
        let words = words(next);
        let suggested: Vec<&str> = nudge.split('`').skip(1).step_by(2).collect();
        if !suggested.is_empty() {
            return suggested.iter().any(|suggestion| has_all(&words, suggestion));
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

    /// The call, as the API describes it.
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

/// Whether a command has the plain words of a suggestion: its program, subcommands and options. What stands
/// for something else, such as `NAME` or `a/path`, may differ.
fn has_all(words: &[String], suggestion: &str) -> bool {
    let plain = |word: &&str| {
        word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_')
    };
    let mut wanted = suggestion.split_whitespace().filter(plain).peekable();
    wanted.peek().is_some() && wanted.all(|word| words.iter().any(|has| has == word))
}

/// The words of the first command, its program without a directory first; the tool's name otherwise.
fn words(tool: &ToolCall) -> Vec<String> {
    let gist = if tool.commands().is_empty() { tool.name.as_str().into() } else { tool.gist() };
    let mut words: Vec<String> = gist.split_whitespace().map(ToOwned::to_owned).collect();
    if let Some(program) = words.first_mut() {
        *program = program.rsplit('/').next().unwrap_or_default().to_owned();
    }
    words
}

/// Equal for equal calls.
fn signature(tool: &ToolCall) -> u64 {
    let mut hasher = DefaultHasher::new();
    let commands = tool.commands();
    if commands.is_empty() {
        tool.args.to_string().hash(&mut hasher);
    } else {
        // A description beside the command makes it no other call.
        tool.gist().split_whitespace().for_each(|word| word.hash(&mut hasher));
    }
    hasher.finish()
}
