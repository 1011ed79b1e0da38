// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The rule file format. The doc comments are the descriptions in its JSON Schema.

mod example;
mod texts;

use serde::{Deserialize, Serialize};
use tenterhook_event::Decision;

pub(crate) use example::{RuleExample, RuleExamples};
pub(crate) use texts::{ExpiryTime, SessionLabel, TimeWindow, WhenExpression};

use crate::conditions::{OneOrMore, RuleMatcher};
use crate::rule::{RuleMode, Severity};

/// A file of Tenterhook rules.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(deny_unknown_fields, rename = "File")]
#[expect(dead_code, reason = "only its schema is used: rules are read one by one")]
pub(crate) struct RuleFileSpec {
    /// Version of this format: 1.
    version: u32,
    /// Name of the rule pack, if the file is one: lower-case letters, digits, `-`.
    #[schemars(default)]
    pack: Option<String>,
    /// What the file is for, in a few words.
    #[schemars(default)]
    title: Option<String>,
    /// Whether the pack is active unless the user turns it off. Default: `true`.
    #[schemars(default)]
    enabled: Option<bool>,
    /// Whether the rules are enforced or only monitored. Default: `enforce`.
    #[schemars(default)]
    mode: Option<RuleMode>,
    /// Whether the rules also apply to commands in pipelines, which run on a build machine. Default: `true`.
    #[schemars(default)]
    build_machines: Option<bool>,
    /// Which matching rules of this file apply. Default: `all`.
    #[schemars(default)]
    order: Option<RuleOrder>,
    /// Named lists of globs. `"@name"` in a list inserts all of them, `"!@name"` excludes them.
    #[schemars(default)]
    lists: Option<std::collections::BTreeMap<String, Vec<String>>>,
    /// The rules, in the order in which their findings are reported.
    rules: Vec<RuleSpec>,
}

/// One rule: what it looks for, and its verdict.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a rule: a map with `id`, `match` and `verdict`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rule"))]
pub(crate) struct RuleSpec {
    /// Unique name of the rule: lower-case letters, digits, `-`, `.`, `_`, `/`.
    pub(crate) id: String,
    /// What the rule is for, in one sentence.
    #[serde(default)]
    pub(crate) description: String,
    /// How much damage the action could do. Default: `medium`.
    #[serde(default)]
    pub(crate) severity: Severity,
    /// Whether this rule is enforced or only monitored. Default: the mode of the file.
    #[serde(default)]
    pub(crate) mode: Option<RuleMode>,
    /// Whether this rule also applies to commands in pipelines, which run on a build machine. Default: as the file says.
    #[serde(default)]
    pub(crate) build_machines: Option<bool>,
    /// Whether the question of this rule also applies to a file that the call runs and that the session did not write.
    /// Scripts of ordinary projects contain much that is known only at run time, so most rules should not.
    #[serde(default)]
    pub(crate) project_scripts: bool,
    /// Later layers cannot disable this rule, override it or set it to monitor mode. Only rules of the organisation and
    /// built-in rules can be locked.
    #[serde(default)]
    pub(crate) locked: bool,
    /// Conditions on the event. All of them must be true.
    #[serde(rename = "match")]
    pub(crate) matches: RuleMatcher,
    /// A condition in CEL that must also be true. A condition that cannot be evaluated counts as true, except in a
    /// rule that allows.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub(crate) when: Option<WhenExpression>,
    /// Verdict on a command that could not be parsed but mentions what this rule looks for. Default: `ask` (`ignore`
    /// for a rule that does not ask or deny).
    #[serde(default)]
    pub(crate) unparsed: Option<UnparsedVerdict>,
    /// Verdict when the rule matches.
    pub(crate) verdict: VerdictSpec,
    /// Reason shown to the agent and the user.
    #[serde(default)]
    pub(crate) reason: Option<String>,
    /// Suggestion for the agent: what to do instead.
    #[serde(default)]
    pub(crate) nudge: Option<String>,
    /// Changes to the call. Only with `verdict: allow` or `verdict: none`. The changed call is evaluated again,
    /// without rewrites.
    #[serde(default)]
    pub(crate) rewrite: Option<RewriteSpec>,
    /// What happens instead of the question to the user. With `verdict: none`, it happens without a question. Not with
    /// `verdict: allow` or `verdict: deny`.
    #[serde(default)]
    pub(crate) on_match: Option<MatchAction>,
    /// The rule applies only after it has matched more often than this, or when a budget is used up.
    #[serde(default)]
    pub(crate) limit: Option<LimitSpec>,
    /// Labels that a match adds to the session; `match.label` checks for them.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<OneOrMore<String>>"))]
    pub(crate) label: Option<OneOrMore<SessionLabel>>,
    /// How long the labels last after the latest match: a number and `s`, `m`, `h` or `d`. Default: as long as the session.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub(crate) label_for: Option<TimeWindow>,
    /// The rule is ignored from this date or time on: `2026-12-31`, `2026-12-31T18:00:00Z`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub(crate) expires: Option<ExpiryTime>,
    /// Rules whose verdicts are overridden when this rule matches. Only for narrow `allow` rules of the user or the
    /// organisation.
    #[serde(default)]
    pub(crate) overrides: Option<OneOrMore<String>>,
    /// Example calls that are checked when the rule is loaded. A rule that fails an example is refused.
    #[serde(default)]
    pub(crate) examples: RuleExamples,
}

/// What happens when a rule matches, instead of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) enum MatchAction {
    /// What the call would lose is saved, so that `tenterhook undo` can restore it. If that is not possible, the user
    /// is asked, or the call runs without a snapshot if the verdict is `none`.
    Snapshot,
}

/// Verdict of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Verdict"))]
pub(crate) enum VerdictSpec {
    /// No verdict: the rule only labels or rewrites.
    None,
    /// Allow the call: the harness may skip its own prompt.
    Allow,
    /// Ask the user to approve the call.
    Ask,
    /// Deny the call.
    Deny,
}

/// Verdict on a command that could not be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Unparsed"))]
pub(crate) enum UnparsedVerdict {
    /// Deny the call.
    Deny,
    /// Ask the user to approve the call.
    Ask,
    /// Give no verdict.
    Ignore,
}

/// Which matching rules of a file apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Order"))]
pub(crate) enum RuleOrder {
    /// All matching rules; the strictest decides.
    #[default]
    All,
    /// The first matching rule; later rules of the file are ignored.
    First,
}

/// Changes to a call.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map with `set` or `command`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Rewrite"))]
pub(crate) struct RewriteSpec {
    /// Arguments of the tool to set; the others are kept.
    pub(crate) set: serde_json::Map<String, serde_json::Value>,
    /// The command to run instead; `{command}` is replaced by the original command, quoted. For shell tools.
    pub(crate) command: Option<String>,
}

/// The limit that has to be exceeded before a rule applies: a number of matches (`count` and `window`), or a budget
/// (`cost` or `tokens`).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map with `count` and `window`, or with `cost` or `tokens`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Limit"))]
pub(crate) struct LimitSpec {
    /// Maximum number of matches before the rule applies, from 1 to 1000.
    #[serde(default)]
    pub(crate) count: Option<u32>,
    /// Time window in which matches are counted: a number and `s`, `m`, `h` or `d`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub(crate) window: Option<TimeWindow>,
    /// Maximum amount in dollars that may be spent on models. Model prices are in `prices.yaml`.
    #[serde(default)]
    pub(crate) cost: Option<f64>,
    /// Maximum number of tokens that may be used.
    #[serde(default)]
    pub(crate) tokens: Option<u64>,
    /// Amount at which the user and the agent are warned, once per session.
    #[serde(default)]
    pub(crate) warn: Option<f64>,
    /// Which matches or spend are counted together. Default: `session`.
    #[serde(default)]
    pub(crate) per: LimitScope,
    /// What a budget does while the session's usage cannot be read. Default: `apply`.
    #[serde(default)]
    pub(crate) unknown: Option<UnknownUsage>,
}

/// What a budget does while the session's usage cannot be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum UnknownUsage {
    /// The rule's verdict applies.
    #[default]
    Apply,
    /// The user and the agent are warned, once per session.
    Warn,
}

/// Which matches or spend are counted together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Per"))]
pub(crate) enum LimitScope {
    /// Each session separately.
    #[default]
    Session,
    /// All sessions together. Only for a number of matches.
    Rule,
    /// All sessions of a day together; days begin at midnight UTC. Only for a budget.
    Day,
}

// === impl Verdict ===

impl From<VerdictSpec> for Decision {
    fn from(verdict: VerdictSpec) -> Self {
        match verdict {
            VerdictSpec::None => Self::None,
            VerdictSpec::Allow => Self::Allow,
            VerdictSpec::Ask => Self::Ask,
            VerdictSpec::Deny => Self::Deny,
        }
    }
}
