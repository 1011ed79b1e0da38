// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines why a rule cannot be used.

use crate::source::SourceLayer;
use crate::state::MAX_COUNTED_MATCHES;

/// A mistake that is only visible when several keys of a rule are checked together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RuleError {
    #[error("invalid id `{0}` (use lower-case letters, digits, `-`, `.`, `_`, `/`)")]
    InvalidId(String),
    #[error("only a rule of the organisation can be `locked`")]
    LockedBelowOrganisation,
    #[error("`unparsed` requires `verdict: ask` or `verdict: deny`")]
    UnparsedWithoutObjection,
    #[error(
        "a rule with `verdict: none` needs a `label`, a `rewrite` or `on_match`; otherwise it has no effect"
    )]
    NoEffect,
    #[error("`on_match: snapshot` requires `verdict: ask` or `verdict: none`")]
    SnapshotOfVerdict,
    #[error("`rewrite` requires `verdict: allow` or `verdict: none`")]
    RewriteOfObjection,
    #[error("`rewrite` needs `set` or `command`; otherwise it has no effect")]
    EmptyRewrite,
    #[error("`overrides` requires `verdict: allow`")]
    OverridesWithoutAllow,
    #[error("a rule of the {0} layer cannot override others")]
    OverridesOfLayer(SourceLayer),
    #[error(
        "a rule with `overrides` must say what it allows, with `shell`, `effect`, `path`, `url`, `host`, `mcp`, \
         `package` or `regex`"
    )]
    OverridesTooBroad,
    #[error("a rule cannot override itself")]
    OverridesItself,
    #[error(transparent)]
    RuleLimit(#[from] LimitError),
    #[error(transparent)]
    Condition(#[from] RuleMatcherError),
}

/// A mistake in the `limit` of a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LimitError {
    #[error("`limit` needs `count`, `cost` or `tokens`")]
    Empty,
    #[error("`limit` has both `{0}` and `{1}`; write two rules")]
    TwoAmounts(&'static str, &'static str),
    #[error("`limit.count` must be from 1 to {MAX_COUNTED_MATCHES}")]
    CountOutOfRange,
    #[error("`limit.count` needs a `window`, such as `1h`")]
    CountWithoutWindow,
    #[error("`limit.unknown` requires a budget (`cost` or `tokens`)")]
    UnknownWithoutBudget,
    #[error("`limit.warn` requires a budget (`cost` or `tokens`)")]
    WarnWithoutBudget,
    #[error("`per: day` requires a budget (`cost` or `tokens`); for a count, use `window: 1d`")]
    DayWithoutBudget,
    #[error("a budget requires `verdict: ask` or `verdict: deny`")]
    BudgetWithoutObjection,
    #[error("a budget has no `window`; use `per: session` or `per: day`")]
    BudgetWithWindow,
    #[error("a budget must be `per: session` or `per: day`")]
    BudgetPerRule,
    #[error("`limit.tokens` must be at least 1")]
    ZeroTokens,
    #[error("`limit.warn` must be less than the budget")]
    WarnAboveBudget,
    #[error("`limit.{0}` must be an amount of dollars above 0, at most 1,000,000")]
    InvalidDollars(&'static str),
    #[error("`limit.warn` must be a whole number of tokens")]
    InvalidTokens,
}

/// A mistake in the `match` of a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RuleMatcherError {
    #[error("`host` and `url.host` are both given; keep one of them")]
    HostTwice,
    #[error("an alternative in `any` has no condition, so `any` would always hold")]
    EmptyAlternative,
    #[error("an entry of `not` has no condition, so the rule could never match")]
    EmptyException,
    #[error("a condition on prompts needs `event: prompt`; the events of this rule have no prompt")]
    EventsWithoutPrompt,
    #[error("a condition on a tool call cannot match: {0} events have none")]
    EventsWithoutTool(String),
    #[error("no alternative in `any` covers an event of this rule")]
    AlternativesForOtherEvents,
}
