// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Regular expressions on the texts of a call as they stand.

use std::borrow::Cow;

use tenterhook_event::{Command, Event, ToolCall};

use super::{Case, Sense, Tell};
use crate::compile::Regexes;
use crate::compile::pattern::Pattern;

type Texts<'a> = Vec<Cow<'a, str>>;

impl Regexes {
    /// What matched, in words.
    pub(super) fn check(&self, case: Case<'_>, sense: Sense, tell: Tell) -> Result<String, String> {
        let list = [
            ("command", &self.command, (|case| commands(case.event)) as fn(Case<'_>) -> Texts<'_>),
            ("path", &self.path, paths),
            ("address", &self.url, urls),
            ("content", &self.content, contents),
            ("prompt", &self.prompt, prompts),
            ("arguments", &self.args, arguments),
        ];
        let mut found = Vec::new();
        for (what, patterns, texts) in list {
            if !patterns.is_empty() {
                found.push(search(what, patterns, &texts(case), sense, tell)?);
            }
        }
        Ok(found.join(", "))
    }
}

fn search(
    what: &str,
    patterns: &[Pattern],
    texts: &[Cow<'_, str>],
    sense: Sense,
    tell: Tell,
) -> Result<String, String> {
    let pattern_of = |text: &Cow<'_, str>| patterns.iter().find(|pattern| pattern.is_match(text));
    let text = sense.pick(texts.iter(), |text| pattern_of(text).is_some());
    text.and_then(pattern_of).map(|pattern| format!("the {what} (`{pattern}`)")).ok_or_else(|| {
        tell.say(|| {
            let list: Vec<_> = patterns.iter().take(3).map(|pattern| format!("`{pattern}`")).collect();
            format!("no {what} matches {}", list.join(", "))
        })
    })
}

/// The commands of a call as they stand.
pub(crate) fn commands(event: &Event) -> Texts<'_> {
    let commands = event.tool.as_ref().map(ToolCall::commands).unwrap_or_default();
    let text = |command| match command {
        Command::Text(text) => Cow::Borrowed(text),
        Command::Argv(words) => Cow::Owned(words.join(" ")),
    };
    commands.into_iter().map(text).collect()
}

fn paths(case: Case<'_>) -> Texts<'_> {
    let named = case.event.tool.as_ref().map(ToolCall::paths).unwrap_or_default();
    let resolved = case.facts.paths.iter().filter_map(|path| path.resolved.as_deref());
    named.into_iter().chain(resolved).map(Cow::Borrowed).collect()
}

fn urls(case: Case<'_>) -> Texts<'_> {
    let named = case.event.tool.as_ref().map(ToolCall::urls).unwrap_or_default();
    let found = case.facts.urls.iter().map(|url| url.text.as_str());
    named.into_iter().chain(found).map(Cow::Borrowed).collect()
}

fn contents(case: Case<'_>) -> Texts<'_> {
    let Some(tool) = &case.event.tool else { return Vec::new() };
    tool.contents().into_iter().chain(tool.patches()).map(Cow::Borrowed).collect()
}

fn prompts(case: Case<'_>) -> Texts<'_> {
    case.event.detail.prompt.as_deref().map(Cow::Borrowed).into_iter().collect()
}

fn arguments(case: Case<'_>) -> Texts<'_> {
    case.event.tool.as_ref().map(|tool| Cow::Owned(tool.args.to_string())).into_iter().collect()
}
