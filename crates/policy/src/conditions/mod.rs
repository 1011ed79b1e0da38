// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a rule looks for.
//!
//! One file per kind of condition. Each has the type as rule files and the compiled form hold it, what the index
//! needs of it, and how it is checked. Functions that have to consider every condition take the type apart
//! without `..`, so that the compiler names every place that a new condition concerns.

mod check;
mod effect;
mod given;
pub(crate) mod glob;
pub(crate) mod match_mode;
mod mcp;
mod one_or_more;
mod package;
pub(crate) mod pattern;
mod regexes;
mod shell;
mod tools;
mod unparsed;
mod url;

use serde::{Deserialize, Serialize};
use tenterhook_event::EventKind;
use tenterhook_facts::Side;

use crate::index::{NeedList, Rarity, Word};
use effect::EffectCondition;
use given::not_empty;
use glob::{HostGlobs, NameGlobs, PathGlobs};
use mcp::McpCondition;
#[cfg(feature = "schema")]
pub(crate) use one_or_more::schema_of_texts;
pub(crate) use one_or_more::{OneOrMore, values};
use package::PackageCondition;
use regexes::RegexCondition;
pub(crate) use regexes::commands;
use shell::ShellCondition;
use tools::ToolCondition;
use url::UrlCondition;

/// Conditions on one event. Those that are given must all hold.
///
/// A rule that denies or asks matches when some one thing of the call satisfies a condition, and what
/// is not known counts as what it may be. A rule that allows has to cover the whole call: every
/// command, path, address and package must satisfy its conditions, for certain. What stands in `not`
/// is an exception, and so is read the other way round: in a rule that denies or asks it holds only
/// if it covers the whole call.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of conditions")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Match"))]
pub(crate) struct Matcher {
    /// Kinds of events. Default: `pre-tool` and `permission-request`.
    pub(crate) event: Option<OneOrMore<EventKind>>,
    /// Tool classes (`shell`, `read`, …) or globs on the harness's own tool names; `!` takes away.
    pub(crate) tool: Option<ToolCondition>,
    /// Globs on the harness: `claude-code`, `codex`, …
    pub(crate) source: Option<NameGlobs>,
    /// Some one command that would run satisfies all of this.
    pub(crate) shell: Option<ShellCondition>,
    /// Some one thing that would be done to a file satisfies all of this, whichever tool, program or
    /// language does it.
    #[serde(deserialize_with = "not_empty")]
    pub(crate) effect: Option<EffectCondition>,
    /// Some path of the call matches: a path argument, or a shell operand or input redirection.
    /// Globs; `~/` stands for any home directory, a relative glob is relative to the project, `!`
    /// takes matches away.
    pub(crate) path: Option<PathGlobs>,
    /// Some one address the call would connect to satisfies all of this.
    #[serde(deserialize_with = "not_empty")]
    pub(crate) url: Option<UrlCondition>,
    /// Short for `url: {host: …}`.
    pub(crate) host: Option<HostGlobs>,
    /// The tool is one of an MCP server and satisfies all of this.
    #[serde(deserialize_with = "not_empty")]
    pub(crate) mcp: Option<McpCondition>,
    /// Some one package that would be installed or run satisfies all of this.
    #[serde(deserialize_with = "not_empty")]
    pub(crate) package: Option<PackageCondition>,
    /// Some secret of one of these kinds is in what would be written, sent, said or run. Globs on
    /// kinds; `"*"` is any.
    pub(crate) secret: Option<NameGlobs>,
    /// Regular expressions on the texts of the call as they stand: for what the other conditions
    /// cannot say. Do not use them in `not`: a comment is part of the text, and would be an exception.
    #[serde(deserialize_with = "not_empty")]
    pub(crate) regex: Option<RegexCondition>,
    /// Globs on the account that runs the agent.
    pub(crate) user: Option<NameGlobs>,
    /// Globs on the groups of that account.
    pub(crate) group: Option<NameGlobs>,
    /// The session carries one of these labels: some rule before put it there. Globs.
    pub(crate) label: Option<NameGlobs>,
    /// Whether some shell text could not be understood.
    pub(crate) unparsed: Option<bool>,
    /// At least one of these alternatives holds too.
    pub(crate) any: Option<OneOrMore<Matcher>>,
    /// None of these holds.
    pub(crate) not: Option<OneOrMore<Matcher>>,
}

impl Matcher {
    /// Completes conditions that were read from a rule file: short forms are written out, defaults filled in.
    pub(crate) fn complete(&mut self) -> Result<(), String> {
        self.url = UrlCondition::with_host(self.url.take(), self.host.take())?;
        if let Some(shell) = &mut self.shell {
            shell.fill_in_sides(&[Side::Here]);
        }
        if let Some(effect) = &mut self.effect {
            effect.fill_in_sides(&[Side::Here]);
        }
        for inner in [&mut self.any, &mut self.not].into_iter().flatten().flat_map(|list| &mut list.0) {
            inner.complete()?;
        }
        if self.any().iter().any(Self::is_empty) {
            return Err(
                "an alternative in `any` has no condition, so all of them are as good as none".to_owned()
            );
        }
        if self.not().iter().any(Self::is_empty) {
            return Err("what stands in `not` has no condition, so the rule could never match".to_owned());
        }
        Ok(())
    }

    /// Its alternatives.
    pub(crate) fn any(&self) -> &[Self] {
        values(self.any.as_ref())
    }

    /// Its exceptions.
    pub(crate) fn not(&self) -> &[Self] {
        values(self.not.as_ref())
    }

    /// Whether it has no condition at all.
    fn is_empty(&self) -> bool {
        let Self {
            event,
            tool,
            source,
            shell,
            effect,
            path,
            url,
            host,
            mcp,
            package,
            secret,
            regex,
            user,
            group,
            label,
            unparsed,
            any,
            not,
        } = self;
        let by_call = event.is_none() && tool.is_none() && unparsed.is_none();
        let by_names = [source, secret, user, group, label].iter().all(|names| names.is_none());
        let by_action = shell.is_none() && effect.is_none() && path.is_none() && url.is_none();
        let by_target = host.is_none() && mcp.is_none() && package.is_none() && regex.is_none();
        by_call && by_names && by_action && by_target && any.is_none() && not.is_none()
    }

    /// Whether it says what the call does, not only which tool is called and by whom.
    pub(crate) fn is_narrow(&self) -> bool {
        let Self {
            event: _,
            tool: _,
            source: _,
            shell,
            effect,
            path,
            url,
            host,
            mcp,
            package,
            secret: _,
            regex,
            user: _,
            group: _,
            label: _,
            unparsed: _,
            any,
            not: _,
        } = self;
        shell.is_some()
            || effect.is_some()
            || path.is_some()
            || url.is_some()
            || host.is_some()
            || mcp.is_some()
            || package.is_some()
            || regex.is_some()
            || any.as_ref().is_some_and(|any| any.0.iter().all(Self::is_narrow))
    }

    /// Conditions that no event of these kinds can satisfy.
    pub(crate) fn could_match(&self, kinds: &[EventKind]) -> Result<(), String> {
        let Self {
            event: _,
            tool,
            source: _,
            shell,
            effect,
            path,
            url: _,
            host: _,
            mcp,
            package,
            secret: _,
            regex: _,
            user: _,
            group: _,
            label: _,
            unparsed: _,
            any: _,
            not: _,
        } = self;
        let about_tools = tool.is_some()
            || shell.is_some()
            || effect.is_some()
            || path.is_some()
            || mcp.is_some()
            || package.is_some();
        let mut about_prompts = false;
        self.each(&mut |inner| {
            about_prompts |= inner.regex.as_ref().is_some_and(|regex| regex.prompt.is_some());
        });
        let carries_prompt = |kind: &EventKind| matches!(kind, EventKind::Prompt | EventKind::Stop);
        if about_prompts && !kinds.iter().any(carries_prompt) {
            return Err("it looks at prompts, which these events do not have; say `event: prompt`".to_owned());
        }
        if about_tools && !kinds.iter().any(|kind| kind.concerns_tool()) {
            let kinds: Vec<_> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
            return Err(format!("it looks at a tool call, which {} events do not have", kinds.join(", ")));
        }
        let within = |inner: &Self| {
            inner.event.as_ref().is_none_or(|own| own.0.iter().any(|kind| kinds.contains(kind)))
        };
        if !self.any().is_empty() && !self.any().iter().any(within) {
            return Err("its alternatives are about other events than the rule".to_owned());
        }
        Ok(())
    }

    /// What the index needs of the conditions outside `any`.
    pub(crate) fn add_needs(&self, to: &mut NeedList) {
        let Self {
            event: _,
            tool,
            source: _,
            shell,
            effect,
            path,
            url,
            host: _,
            mcp,
            package,
            secret,
            // Its letters are looked for where nothing else is needed.
            regex: _,
            user: _,
            group: _,
            label: _,
            unparsed: _,
            any: _,
            not: _,
        } = self;
        if let Some(shell) = shell {
            shell.add_needs(to);
        }
        if let Some(effect) = effect {
            effect.add_needs(to);
        }
        to.add_paths(path.as_ref());
        if let Some(url) = url {
            url.add_needs(to);
        }
        if let Some(mcp) = mcp {
            mcp.add_needs(to);
        }
        if let Some(package) = package {
            package.add_needs(to);
        }
        if secret.is_some() {
            to.add_words(Rarity::Seldom, &[Word::SomeSecret]);
        }
        if let Some(tool) = tool {
            tool.add_needs(to);
        }
    }

    /// This and everything in `any` and `not`.
    pub(crate) fn each(&self, see: &mut dyn FnMut(&Self)) {
        see(self);
        for inner in self.any().iter().chain(self.not()) {
            inner.each(see);
        }
    }
}
