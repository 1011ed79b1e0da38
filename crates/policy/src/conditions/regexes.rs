// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Regular expressions on the raw texts of a call.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use tenterhook_event::{Event, ToolCall, ToolCommand};

use super::lazy_regex::LazyRegex;
use super::match_mode::{Explain, MatchFailure, MatchInput, MatchMode};
use super::non_empty::MayBeEmpty;
use super::one_or_more::OneOrMore;

/// Regular expressions (Rust's `regex`: linear time, no look-around). For each given key, one of its patterns must
/// match somewhere in the text. Use `^` and `$` to anchor a pattern.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map from `command`, `path`, … to patterns")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Regexes"))]
pub(crate) struct RegexCondition {
    /// On a command, as written in the call.
    pub(crate) command: Option<OneOrMore<LazyRegex>>,
    /// On a path argument, as written in the call and as resolved.
    pub(crate) path: Option<OneOrMore<LazyRegex>>,
    /// On an address in an argument or in a command.
    pub(crate) url: Option<OneOrMore<LazyRegex>>,
    /// On text that would be written, including patches.
    pub(crate) content: Option<OneOrMore<LazyRegex>>,
    /// On the user's prompt (`event: prompt`).
    pub(crate) prompt: Option<OneOrMore<LazyRegex>>,
    /// On the tool's arguments, as JSON.
    pub(crate) args: Option<OneOrMore<LazyRegex>>,
}

impl MayBeEmpty for RegexCondition {
    fn is_empty(&self) -> bool {
        let Self { command, path, url, content, prompt, args } = self;
        [command, path, url, content, prompt, args].iter().all(|list| list.is_none())
    }
}

type Texts<'a> = Vec<Cow<'a, str>>;

impl RegexCondition {
    /// Returns letter groups, one of which must be in a command, if there are patterns on commands. The other
    /// patterns are not indexed.
    pub(crate) fn command_letters(&self) -> Option<Vec<String>> {
        let Self { command, path: _, url: _, content: _, prompt: _, args: _ } = self;
        let all: Option<Vec<_>> = command.as_ref()?.0.iter().map(|pattern| pattern.letters()).collect();
        all.map(|all| all.concat())
    }

    /// Checks all patterns and describes what matched.
    pub(super) fn check(
        &self,
        input: MatchInput<'_>,
        mode: MatchMode,
        explain: Explain,
    ) -> Result<String, MatchFailure> {
        let Self { command, path, url, content, prompt, args } = self;
        let list = [
            ("command", command, (|input| command_texts(input.event)) as fn(MatchInput<'_>) -> Texts<'_>),
            ("path", path, paths),
            ("address", url, urls),
            ("content", content, contents),
            ("prompt", prompt, prompts),
            ("arguments", args, arguments),
        ];
        let mut found = Vec::new();
        for (what, patterns, texts) in list {
            if let Some(patterns) = patterns {
                found.push(find_match(what, &patterns.0, &texts(input), mode, explain)?);
            }
        }
        Ok(found.join(", "))
    }
}

fn find_match(
    what: &str,
    patterns: &[LazyRegex],
    texts: &[Cow<'_, str>],
    mode: MatchMode,
    explain: Explain,
) -> Result<String, MatchFailure> {
    let pattern_of = |text: &Cow<'_, str>| patterns.iter().find(|pattern| pattern.is_match(text));
    let text = mode.pick(texts.iter(), |text| pattern_of(text).is_some());
    text.and_then(pattern_of).map(|pattern| format!("the {what} (`{pattern}`)")).ok_or_else(|| {
        explain.failure(|| {
            let list: Vec<_> = patterns.iter().take(3).map(|pattern| format!("`{pattern}`")).collect();
            format!("no {what} matches {}", list.join(", "))
        })
    })
}

/// Returns the commands of a call as written.
pub(crate) fn command_texts(event: &Event) -> Texts<'_> {
    let commands = event.tool.as_ref().map(ToolCall::commands).unwrap_or_default();
    let text = |command| match command {
        ToolCommand::Text(text) => Cow::Borrowed(text),
        ToolCommand::Argv(words) => Cow::Owned(words.join(" ")),
    };
    commands.into_iter().map(text).collect()
}

fn paths(input: MatchInput<'_>) -> Texts<'_> {
    let named = input.event.tool.as_ref().map(ToolCall::paths).unwrap_or_default();
    let resolved = input.facts.paths.iter().filter_map(|path| path.resolved.as_deref());
    named.into_iter().chain(resolved).map(Cow::Borrowed).collect()
}

fn urls(input: MatchInput<'_>) -> Texts<'_> {
    let named = input.event.tool.as_ref().map(ToolCall::urls).unwrap_or_default();
    let found = input.facts.urls.iter().map(|url| url.text.as_str());
    named.into_iter().chain(found).map(Cow::Borrowed).collect()
}

fn contents(input: MatchInput<'_>) -> Texts<'_> {
    let Some(tool) = &input.event.tool else { return Vec::new() };
    tool.contents().into_iter().chain(tool.patches()).map(Cow::Borrowed).collect()
}

fn prompts(input: MatchInput<'_>) -> Texts<'_> {
    input.event.detail.prompt.as_deref().map(Cow::Borrowed).into_iter().collect()
}

fn arguments(input: MatchInput<'_>) -> Texts<'_> {
    input.event.tool.as_ref().map(|tool| Cow::Owned(tool.args.to_string())).into_iter().collect()
}
