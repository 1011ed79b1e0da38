// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The rule file as it is written. The doc comments here are the text of its JSON Schema.

mod example;
mod texts;

use serde::{Deserialize, Serialize};
use tenterhook_event::Decision;

pub(crate) use example::{Example, Examples};
pub(crate) use texts::{Condition, Label, Moment, Window};

use crate::conditions::{Matcher, OneOrMore};
use crate::rule::{Mode, Severity};

/// A file of Tenterhook rules.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used: rules are read one by one")]
pub(crate) struct File {
    /// The version of this format: 1.
    version: u32,
    /// The name of the pack, if the file is one: small letters, digits, `-`.
    #[schemars(default)]
    pack: Option<String>,
    /// What the file is for, in a few words.
    #[schemars(default)]
    title: Option<String>,
    /// Whether the pack is in force where nobody says otherwise. Default: `true`.
    #[schemars(default)]
    enabled: Option<bool>,
    /// Whether the rules decide or only watch. Default: `enforce`.
    #[schemars(default)]
    mode: Option<Mode>,
    /// Which rules of this file count. Default: `all`.
    #[schemars(default)]
    order: Option<Order>,
    /// Lists of globs by name. `"@name"` in a list stands for all of them, `"!@name"` takes them away.
    #[schemars(default)]
    lists: Option<std::collections::BTreeMap<String, Vec<String>>>,
    /// The rules, in the order in which their findings are reported.
    rules: Vec<Rule>,
}

/// One rule: what it looks for and what it says then.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a rule: a map with `id`, `match` and `verdict`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Rule {
    /// A name that is unique among all rules: small letters, digits, `-`, `.`, `_`, `/`.
    pub(crate) id: String,
    /// What the rule is for, in one sentence.
    #[serde(default)]
    pub(crate) description: String,
    /// How bad it would be. Default: `medium`.
    #[serde(default)]
    pub(crate) severity: Severity,
    /// Whether this rule decides or only watches. Default: what the file says.
    #[serde(default)]
    pub(crate) mode: Option<Mode>,
    /// Nobody below may disable this rule, set it aside or have it only watch. For the organisation's
    /// rules and those compiled in.
    #[serde(default)]
    pub(crate) locked: bool,
    /// What the rule looks for. All conditions must hold.
    #[serde(rename = "match")]
    pub(crate) matches: Matcher,
    /// A condition in CEL that must hold, too. One that cannot be answered counts as held, except in
    /// a rule that allows.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub(crate) when: Option<Condition>,
    /// What to say when a command could not be understood and mentions what this rule looks for.
    /// Default: `ask` (`ignore` for a rule that does not ask or deny).
    #[serde(default)]
    pub(crate) unparsed: Option<Unparsed>,
    /// What the rule says when it matches.
    pub(crate) verdict: Verdict,
    /// Why, for the agent and the person.
    #[serde(default)]
    pub(crate) reason: Option<String>,
    /// What the agent could do instead.
    #[serde(default)]
    pub(crate) nudge: Option<String>,
    /// What the call should be instead. With `verdict: allow` or `verdict: none` only. What comes out
    /// is judged once more, without rewrites.
    #[serde(default)]
    pub(crate) rewrite: Option<Rewrite>,
    /// The rule speaks only when it has matched more often than this, or when a budget is used up.
    #[serde(default)]
    pub(crate) limit: Option<Limit>,
    /// Labels that the session carries from then on; `match.label` asks for them.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<OneOrMore<String>>"))]
    pub(crate) label: Option<OneOrMore<Label>>,
    /// From this day or moment on the rule is passed over: `2026-12-31`, `2026-12-31T18:00:00Z`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub(crate) expires: Option<Moment>,
    /// When this rule matches, what these rules said is set aside. For allow rules of a person or an
    /// organisation that say narrowly what they allow.
    #[serde(default)]
    pub(crate) overrides: Option<OneOrMore<String>>,
    /// Calls on which the rule is tried when it is loaded; a rule that fails one is refused.
    #[serde(default)]
    pub(crate) examples: Examples,
}

/// What a rule may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) enum Verdict {
    /// Nothing: the rule only labels or rewrites.
    None,
    /// Vouch for it: the harness may skip its own question.
    Allow,
    /// A person has to say yes.
    Ask,
    /// It must not happen.
    Deny,
}

/// What to say about a command that could not be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) enum Unparsed {
    /// Refuse it.
    Deny,
    /// Let a person decide.
    Ask,
    /// Say nothing.
    Ignore,
}

/// Which rules of a file count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) enum Order {
    /// All that match; the strictest decides.
    #[default]
    All,
    /// The first that matches; later rules of the file are passed over.
    First,
}

/// What a call should be instead.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map with `set` or `command`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct Rewrite {
    /// Arguments of the tool that are set; the others stay.
    pub(crate) set: serde_json::Map<String, serde_json::Value>,
    /// The command that runs instead; `{command}` stands for the original, quoted. For shell tools.
    pub(crate) command: Option<String>,
}

/// What has to be used up before a rule speaks: a number of matches (`count` and `window`), or a budget
/// (`cost` or `tokens`).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map with `count` and `window`, or with `cost` or `tokens`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Limit {
    /// So many matches pass: from 1 to 1000.
    #[serde(default)]
    pub(crate) count: Option<u32>,
    /// Within this time: a number and `s`, `m`, `h` or `d`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub(crate) window: Option<Window>,
    /// So many dollars may be spent on models. What models cost stands in `prices.yaml`.
    #[serde(default)]
    pub(crate) cost: Option<f64>,
    /// So many tokens may be used.
    #[serde(default)]
    pub(crate) tokens: Option<u64>,
    /// From this part of the budget on, the person and the agent are warned, once in a session.
    #[serde(default)]
    pub(crate) warn: Option<f64>,
    /// What is counted together. Default: `session`.
    #[serde(default)]
    pub(crate) per: Per,
    /// What a budget does while the usage of a session cannot be read. Default: `apply`.
    #[serde(default)]
    pub(crate) unknown: Option<UnknownUsage>,
}

/// What a budget does while the usage of a session cannot be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum UnknownUsage {
    /// The rule's verdict applies.
    #[default]
    Apply,
    /// The user and the agent are warned, once in a session.
    Warn,
}

/// What is counted together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) enum Per {
    /// Each session by itself.
    #[default]
    Session,
    /// All sessions together. For a number of matches.
    Rule,
    /// All sessions of a day together; days begin at midnight UTC. For a budget.
    Day,
}

// === impl Verdict ===

impl From<Verdict> for Decision {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::None => Self::None,
            Verdict::Allow => Self::Allow,
            Verdict::Ask => Self::Ask,
            Verdict::Deny => Self::Deny,
        }
    }
}
