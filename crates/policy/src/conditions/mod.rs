// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The conditions of a rule.
//!
//! Each kind of condition has its own file, with its type, its index keys and its check. Functions that have to
//! consider every condition destructure the type without `..`, so that the compiler reports every place that has to
//! handle a new condition.

mod check;
pub(crate) mod describe;
mod effect;
pub(crate) mod glob;
pub(crate) mod lazy_regex;
pub(crate) mod match_mode;
mod mcp;
mod non_empty;
mod one_or_more;
mod package;
mod regexes;
mod shell;
mod tools;
mod unparsed;
mod url;

use serde::{Deserialize, Serialize};
use tenterhook_event::EventKind;
use tenterhook_facts::ExecLocation;

use crate::error::RuleMatcherError;
use crate::index::{IndexTerm, NeedList, Rarity};
use effect::EffectCondition;
use glob::{HostGlobs, NameGlobs, PathGlobs};
use mcp::McpCondition;
use non_empty::deserialize_non_empty;
#[cfg(feature = "schema")]
pub(crate) use one_or_more::schema_of_texts;
pub(crate) use one_or_more::{OneOrMore, values};
use package::PackageCondition;
use regexes::RegexCondition;
pub(crate) use regexes::command_texts;
use shell::ShellCondition;
use tools::ToolCondition;
use url::UrlCondition;

/// Conditions on one event. All given conditions must be true.
///
/// A rule that denies or asks matches when one part of the call satisfies a condition; an unknown part counts as
/// anything that it may be. A rule that allows has to cover the whole call: every command, path, address and package
/// must satisfy its conditions for certain. `not` is an exception and reverses this: in a rule that denies or asks,
/// the exception applies only if it covers the whole call.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of conditions")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Match"))]
pub(crate) struct RuleMatcher {
    /// Kinds of events. Default: `pre-tool` and `permission-request`.
    pub(crate) event: Option<OneOrMore<EventKind>>,
    /// Tool classes (`shell`, `read`, …) or globs on the harness's own tool names; `!` excludes names.
    pub(crate) tool: Option<ToolCondition>,
    /// Globs on the harness: `claude-code`, `codex`, …
    pub(crate) source: Option<NameGlobs>,
    /// One command that would run satisfies all of these conditions.
    pub(crate) shell: Option<ShellCondition>,
    /// One operation on a file satisfies all of these conditions, regardless of the tool, program or language that does
    /// it.
    #[serde(deserialize_with = "deserialize_non_empty")]
    pub(crate) effect: Option<EffectCondition>,
    /// A path of the call matches: a path argument, a shell operand or an input redirection. Globs; `~/` is any home
    /// directory, a relative glob is relative to the project, and `!` excludes paths.
    pub(crate) path: Option<PathGlobs>,
    /// One address that the call would connect to satisfies all of these conditions.
    #[serde(deserialize_with = "deserialize_non_empty")]
    pub(crate) url: Option<UrlCondition>,
    /// Short for `url: {host: …}`.
    pub(crate) host: Option<HostGlobs>,
    /// The tool belongs to an MCP server and satisfies all of these conditions.
    #[serde(deserialize_with = "deserialize_non_empty")]
    pub(crate) mcp: Option<McpCondition>,
    /// One package that would be installed or run satisfies all of these conditions.
    #[serde(deserialize_with = "deserialize_non_empty")]
    pub(crate) package: Option<PackageCondition>,
    /// A secret of one of these kinds is in text that would be written, sent, prompted or run. Globs on kinds; `"*"`
    /// matches any.
    pub(crate) secret: Option<NameGlobs>,
    /// Regular expressions on the raw texts of the call, for what the other conditions cannot express. Do not use them in
    /// `not`: a comment is part of the text and could satisfy the exception.
    #[serde(deserialize_with = "deserialize_non_empty")]
    pub(crate) regex: Option<RegexCondition>,
    /// Globs on the account that runs the agent.
    pub(crate) user: Option<NameGlobs>,
    /// Globs on the groups of the account that runs the agent.
    pub(crate) group: Option<NameGlobs>,
    /// The session has one of these labels, set by an earlier match of a rule. Globs.
    pub(crate) label: Option<NameGlobs>,
    /// Whether some shell text could not be parsed.
    pub(crate) unparsed: Option<bool>,
    /// At least one of these alternatives is true.
    pub(crate) any: Option<OneOrMore<RuleMatcher>>,
    /// None of these conditions is true.
    pub(crate) not: Option<OneOrMore<RuleMatcher>>,
}

impl RuleMatcher {
    /// Expands short forms and fills in defaults of conditions that were read from a rule file.
    pub(crate) fn normalize(&mut self) -> Result<(), RuleMatcherError> {
        self.url = UrlCondition::with_host(self.url.take(), self.host.take())?;
        if let Some(shell) = &mut self.shell {
            shell.fill_in_locations(&[ExecLocation::Here]);
        }
        if let Some(effect) = &mut self.effect {
            effect.fill_in_locations(&[ExecLocation::Here]);
        }
        for inner in [&mut self.any, &mut self.not].into_iter().flatten().flat_map(|list| &mut list.0) {
            inner.normalize()?;
        }
        if self.any().iter().any(Self::is_empty) {
            return Err(RuleMatcherError::EmptyAlternative);
        }
        if self.not().iter().any(Self::is_empty) {
            return Err(RuleMatcherError::EmptyException);
        }
        Ok(())
    }

    /// Returns the alternatives, at least one of which must be true.
    pub(crate) fn any(&self) -> &[Self] {
        values(self.any.as_ref())
    }

    /// Returns the exceptions, none of which may be true.
    pub(crate) fn not(&self) -> &[Self] {
        values(self.not.as_ref())
    }

    /// Whether no condition is given.
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

    /// Whether the conditions restrict what the call does, not only which tool is called and by whom.
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

    /// Refuses conditions that no event of these kinds can satisfy.
    pub(crate) fn check_satisfiable(&self, kinds: &[EventKind]) -> Result<(), RuleMatcherError> {
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
        self.visit_all(&mut |inner| {
            about_prompts |= inner.regex.as_ref().is_some_and(|regex| regex.prompt.is_some());
        });
        let carries_prompt = |kind: &EventKind| matches!(kind, EventKind::Prompt | EventKind::Stop);
        if about_prompts && !kinds.iter().any(carries_prompt) {
            return Err(RuleMatcherError::EventsWithoutPrompt);
        }
        if about_tools && !kinds.iter().any(|kind| kind.concerns_tool()) {
            let kinds: Vec<_> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
            return Err(RuleMatcherError::EventsWithoutTool(kinds.join(", ")));
        }
        let within = |inner: &Self| {
            inner.event.as_ref().is_none_or(|own| own.0.iter().any(|kind| kinds.contains(kind)))
        };
        if !self.any().is_empty() && !self.any().iter().any(within) {
            return Err(RuleMatcherError::AlternativesForOtherEvents);
        }
        Ok(())
    }

    /// Adds the index keys for the conditions outside `any`.
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
            // The letters of patterns are indexed only where nothing else is needed.
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
            to.add_words(Rarity::Seldom, &[IndexTerm::SomeSecret]);
        }
        if let Some(tool) = tool {
            tool.add_needs(to);
        }
    }

    /// Visits these conditions and all nested in `any` and `not`.
    pub(crate) fn visit_all(&self, see: &mut dyn FnMut(&Self)) {
        see(self);
        for inner in self.any().iter().chain(self.not()) {
            inner.visit_all(see);
        }
    }
}
