// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The parts of rules that are about paths, for a sandbox that enforces them without a call to evaluate.

use serde::{Deserialize, Serialize};
use tenterhook_event::{Decision, Timestamp, ToolClass};
use tenterhook_facts::{FileOp, PathLocation};

use crate::compile::RuleSet;
use crate::compiled::RuleSegment;
use crate::conditions::{RuleMatcher, values};
use crate::rule::{Rule, RuleMode};

/// One alternative of a rule that denies or asks about operations on paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathRule {
    /// Id of the rule.
    pub rule: String,
    /// Whether the rule denies; otherwise it asks.
    pub denies: bool,
    /// Operations that the rule is about; empty if it is about all.
    pub does: Vec<FileOp>,
    /// Globs on the paths, without alternatives in braces.
    pub globs: Vec<String>,
    /// Globs on paths to which the rule does not apply.
    pub except: Vec<String>,
    /// Locations to which the rule is limited; empty if it applies everywhere.
    pub locations: Vec<PathLocation>,
    /// Conditions that a path alone cannot express, such as `by`. If there are any, only hooks can enforce the rule.
    pub inexpressible: Vec<String>,
}

/// What a sandbox needs of a rule that denies or asks. It is stored beside the rules, so that they need not be decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleAboutPaths {
    /// Id of the rule.
    pub id: String,
    /// Reason shown to the model.
    pub reason: Option<String>,
    /// What the rule suggests instead.
    pub suggestion: Option<String>,
    /// The alternatives of the rule that are about paths.
    pub alternatives: Vec<PathRule>,
    pub(crate) mode: RuleMode,
    pub(crate) locked: bool,
    expires: Option<Timestamp>,
}

impl RuleSet {
    /// Returns all enforced rules about paths that deny or ask.
    pub fn rules_about_paths(&self, now: Timestamp) -> Vec<RuleAboutPaths> {
        let segments = self.segments.iter().flat_map(RuleSegment::rules_about_paths);
        let is_expired = |expires: Option<Timestamp>| expires.is_some_and(|expires| expires <= now);
        segments.filter(|rule| rule.mode == RuleMode::Enforce && !is_expired(rule.expires)).collect()
    }
}

impl RuleAboutPaths {
    /// Returns the part about paths of a rule, if it has one.
    pub(crate) fn of(rule: &Rule) -> Option<Self> {
        if !matches!(rule.verdict, Decision::Deny | Decision::Ask) {
            return None;
        }
        let when = [(rule.when.is_some(), "when"), (rule.limit.is_some(), "limit")];
        let mut start = PathRule { rule: rule.id().to_owned(), ..PathRule::default() };
        start.denies = rule.verdict == Decision::Deny;
        start.inexpressible.extend(given_names(&when));
        let mut alternatives = Vec::new();
        add_alternatives(&start, &rule.matcher, &mut alternatives);
        let text = |text: Option<&str>| text.map(ToOwned::to_owned);
        (!alternatives.is_empty()).then(|| Self {
            id: rule.id().to_owned(),
            reason: text(rule.reason()),
            suggestion: text(rule.nudge()),
            alternatives,
            mode: rule.mode,
            locked: rule.locked,
            expires: rule.expires,
        })
    }
}

fn given_names(conditions: &[(bool, &str)]) -> impl Iterator<Item = String> {
    conditions.iter().filter(|(is_given, _)| *is_given).map(|(_, name)| (*name).to_owned())
}

fn add_alternatives(outer: &PathRule, matcher: &RuleMatcher, found: &mut Vec<PathRule>) {
    let mut part = outer.clone();
    let RuleMatcher { event: _, tool, source, shell, effect, path, url, host, mcp, package, .. } = matcher;
    let RuleMatcher { secret, regex, user, group, label, unparsed, any: _, not, .. } = matcher;
    let is_about_call = url.is_some() || host.is_some() || mcp.is_some() || package.is_some();
    let narrowing = [
        (source.is_some() || user.is_some() || group.is_some(), "account"),
        (shell.is_some(), "shell"),
        (is_about_call || secret.is_some(), "call"),
        (regex.is_some() || unparsed.is_some(), "regex"),
        (label.is_some(), "label"),
        (not.is_some(), "not"),
        (path.is_some() && effect.is_some() || path.is_some() && !part.globs.is_empty(), "two paths"),
    ];
    part.inexpressible.extend(given_names(&narrowing));
    for paths in path.iter().chain(effect.iter().filter_map(|effect| effect.path.as_ref())) {
        let (wanted, except) = paths.texts();
        part.globs.extend(wanted);
        part.except.extend(except);
    }
    if let Some(tool) = tool {
        let of_class = |class: &ToolClass| match class {
            ToolClass::Write | ToolClass::Edit | ToolClass::Patch => FileOp::Write,
            _ => FileOp::Read,
        };
        part.does = tool.classes.iter().map(of_class).collect();
        part.inexpressible.extend(tool.classes.is_empty().then(|| "tool".to_owned()));
    }
    if let Some(effect) = effect {
        part.does = values(effect.does.as_ref()).to_vec();
        part.locations = values(effect.place.as_ref()).to_vec();
        let excepts_programs = values(effect.not.as_ref()).iter().any(|not| not.by.is_some());
        part.inexpressible.extend((effect.by.is_some() || excepts_programs).then(|| "by".to_owned()));
        part.inexpressible.extend((effect.recursive == Some(true)).then(|| "recursive".to_owned()));
    }
    matcher.any().iter().for_each(|inner| add_alternatives(&part, inner, found));
    if matcher.any().is_empty() && !part.globs.is_empty() {
        found.push(part);
    }
}
