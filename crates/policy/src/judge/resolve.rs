// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decides which of the matching rules apply: overrides, order, limits, budgets, expiry and modes.

use std::collections::BTreeSet;
use std::sync::Arc;

use tenterhook_event::{Decision, Finding, Flow, Origin, TraceEntry, TraceStatus};

use super::PolicyJudgement;
use crate::budget::BudgetStatus;
use crate::conditions::match_mode::MatchInput;
use crate::rule::{Rule, RuleLimit, RuleMode};
use crate::state::StateDelta;

/// A rule that matched an event.
#[derive(Debug)]
pub(super) struct RuleMatch<'r> {
    rule: &'r Rule,
    pub(super) decision: Decision,
    reason: String,
    why: String,
    /// Whether all conditions are certainly true.
    sure: bool,
    status: MatchStatus<'r>,
}

/// Whether the verdict of a matching rule applies, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatchStatus<'r> {
    Applies,
    /// The rule is only monitored.
    Monitored,
    Expired,
    /// The limit is not exceeded: this many matches came before.
    BelowLimit(usize),
    /// The budget is not used up.
    WithinBudget,
    /// The budget is not used up, and a warning is due.
    BudgetWarning,
    /// The rule with this id overrides the match.
    Overridden(&'r str),
    /// The rule with this id, earlier in the same file, has decided.
    Shadowed(&'r str),
}

/// All matching rules, each with its status.
pub(super) struct ResolvedMatches<'r> {
    matches: Vec<RuleMatch<'r>>,
    delta: StateDelta,
}

// === impl RuleMatch ===

impl<'r> RuleMatch<'r> {
    pub(super) fn new(rule: &'r Rule, decision: Decision, reason: String, why: String, sure: bool) -> Self {
        Self { rule, decision, reason, why, sure, status: MatchStatus::Applies }
    }

    pub(super) fn applies(&self) -> bool {
        self.status == MatchStatus::Applies
    }

    /// Returns what the rule matched. If the match does not apply, also returns the reason.
    pub(super) fn note(&self) -> String {
        let why = &self.why;
        match self.status {
            // The reason describes the budget.
            MatchStatus::WithinBudget | MatchStatus::BudgetWarning => format!("{why}; {}", self.reason),
            MatchStatus::Applies => why.clone(),
            MatchStatus::Monitored => format!("{why}; monitored only"),
            MatchStatus::Expired => match self.rule.expires {
                Some(expires) => format!("{why}; expired on {expires}"),
                None => format!("{why}; expired"),
            },
            MatchStatus::BelowLimit(earlier) => {
                let count = match self.rule.limit {
                    Some(RuleLimit::Matches(matches)) => matches.count,
                    _ => 0,
                };
                format!("{why}; match {} of {count} within the limit", earlier + 1)
            }
            MatchStatus::Overridden(by) => format!("{why}; overridden by rule `{by}`"),
            MatchStatus::Shadowed(by) => format!("{why}; rule `{by}` comes first in its file"),
        }
    }

    fn step_status(&self) -> TraceStatus {
        match self.status {
            MatchStatus::Applies | MatchStatus::BudgetWarning => TraceStatus::Matched,
            MatchStatus::Monitored => TraceStatus::Monitored,
            MatchStatus::Expired => TraceStatus::Expired,
            MatchStatus::Overridden(_) => TraceStatus::Overridden,
            MatchStatus::BelowLimit(_) | MatchStatus::WithinBudget | MatchStatus::Shadowed(_) => {
                TraceStatus::Skipped
            }
        }
    }

    fn finding(&self, input: MatchInput<'_>) -> Option<Finding> {
        let by = Origin::Rule(self.rule.id.clone());
        if self.status == MatchStatus::BudgetWarning {
            let message = Some(format!("{} (rule {})", self.reason, self.rule.id));
            return Some(Finding { message: message.clone(), context: message, ..Finding::silent(by) });
        }
        let rewrite = self.rule.rewrite.as_ref().zip(input.event.tool.as_ref());
        let modifications = rewrite.map(|(rewrite, tool)| rewrite.modifications(tool)).unwrap_or_default();
        if self.decision == Decision::None {
            return (!modifications.is_empty()).then(|| Finding { modifications, ..Finding::silent(by) });
        }
        let nudge = self.rule.nudge.clone();
        // An agent that continues after the budget is used up would spend more, so the turn ends.
        let stops = self.rule.budget().is_some() && self.decision == Decision::Deny;
        let flow = if stops { Flow::Stop { reason: Some(self.reason.clone()) } } else { Flow::Go };
        Some(Finding {
            flow,
            nudge,
            modifications,
            ..Finding::decided(by, self.decision, self.reason.clone())
        })
    }
}

/// Decides which of the matching rules apply. The matches must be in rule order.
pub(super) fn resolve_matches<'r>(
    mut matches: Vec<RuleMatch<'r>>,
    input: MatchInput<'_>,
) -> ResolvedMatches<'r> {
    let mut delta = StateDelta::default();
    for matched in &mut matches {
        matched.status = initial_status(matched, input, &mut delta);
        if matches!(matched.status, MatchStatus::WithinBudget | MatchStatus::BudgetWarning) {
            matched.decision = Decision::None;
        }
    }
    // Overrides depend on the order of rules, and the order depends on overrides: a shadowed rule overrides nothing,
    // and an overridden rule shadows nothing.
    let shadowed = find_shadowed(&matches);
    let overridden = find_overridden(&matches, &shadowed);
    for (matched, by) in matches.iter_mut().zip(&overridden) {
        if let (Some(by), MatchStatus::Applies) = (by, matched.status) {
            matched.status = MatchStatus::Overridden(by);
        }
    }
    let shadowed = find_shadowed(&matches);
    for (matched, by) in matches.iter_mut().zip(&shadowed) {
        if let (Some(by), MatchStatus::Applies) = (by, matched.status) {
            matched.status = MatchStatus::Shadowed(by);
        }
    }
    let is_denied = matches.iter().any(|matched| matched.applies() && matched.decision == Decision::Deny);
    for matched in &matches {
        // Overriding removes the verdict of a rule; its labels still describe what happened. If another rule denies
        // the call, it does not happen.
        let happens = !is_denied || matched.decision == Decision::Deny;
        if happens && matches!(matched.status, MatchStatus::Applies | MatchStatus::Overridden(_)) {
            add_labels(matched.rule, input, &mut delta);
        }
    }
    ResolvedMatches { matches, delta }
}

/// Adds the labels of a rule that the session does not have, or that now last longer.
fn add_labels(rule: &Rule, input: MatchInput<'_>, delta: &mut StateDelta) {
    let end = rule.label_lifetime_ms.map(|lifetime| input.event.ts.unix_ms().saturating_add(lifetime));
    for label in &rule.labels {
        let known = input.state.labels.contains(label).then(|| input.state.label_ends.get(label).copied());
        let is_covered = match (known, end) {
            (None, _) | (Some(Some(_)), None) => false,
            (Some(None), _) => true,
            (Some(Some(known)), Some(end)) => known >= end,
        };
        if is_covered || delta.labels.contains(label) {
            continue;
        }
        delta.labels.push(label.clone());
        delta.label_ends.extend(end.map(|end| (label.clone(), end)));
    }
}

/// Whether a matching rule applies, regardless of other rules.
fn initial_status<'r>(
    matched: &mut RuleMatch<'r>,
    input: MatchInput<'_>,
    delta: &mut StateDelta,
) -> MatchStatus<'r> {
    let (rule, now) = (matched.rule, input.event.ts);
    if rule.is_expired(now) {
        return MatchStatus::Expired;
    }
    match rule.limit {
        None => {}
        Some(RuleLimit::Matches(limit)) => {
            let before = input.state.matches_within(&rule.id, limit.window_ms, now.unix_ms());
            delta.matched.push((rule.id.to_string(), now.unix_ms()));
            delta.needed.insert(rule.id.to_string(), limit.count);
            if before < limit.count {
                return MatchStatus::BelowLimit(before);
            }
        }
        Some(RuleLimit::Budget(budget)) => {
            let (budget_status, message) = budget.check(rule.id(), input.state, input.event);
            matched.reason = match (&rule.reason, &budget_status) {
                (Some(own), BudgetStatus::UsedUp | BudgetStatus::Unknown) => format!("{own} ({message})"),
                _ => message,
            };
            match budget_status {
                BudgetStatus::UsedUp | BudgetStatus::Unknown => {}
                BudgetStatus::Warning(_) if rule.mode == RuleMode::Monitor => {
                    return MatchStatus::WithinBudget;
                }
                BudgetStatus::Warning(once) => {
                    delta.warned.push(once);
                    return MatchStatus::BudgetWarning;
                }
                BudgetStatus::Within => return MatchStatus::WithinBudget,
            }
        }
    }
    match rule.mode {
        RuleMode::Enforce => MatchStatus::Applies,
        RuleMode::Monitor => MatchStatus::Monitored,
    }
}

/// Returns for each match the earlier rule of its file that decides, in files where only the first matching rule
/// applies. A possible match decides nothing, and neither does a rule that only labels or rewrites.
fn find_shadowed<'r>(matches: &[RuleMatch<'r>]) -> Vec<Option<&'r str>> {
    let mut deciding: Vec<(usize, &'r str)> = Vec::new();
    let mut shadowed = Vec::with_capacity(matches.len());
    for matched in matches {
        let earlier =
            matched.rule.first_of.and_then(|file| deciding.iter().find(|(other, _)| *other == file));
        shadowed.push(earlier.map(|(_, by)| *by));
        if let (Some(file), None, true) = (matched.rule.first_of, earlier, matched.applies())
            && matched.sure
            && (matched.decision != Decision::None || matched.rule.only_shadows())
        {
            deciding.push((file, &matched.rule.id));
        }
    }
    shadowed
}

/// Returns for each match the rule that overrides it. A rule that is itself overridden overrides nothing.
fn find_overridden<'r>(matches: &[RuleMatch<'r>], shadowed: &[Option<&str>]) -> Vec<Option<&'r str>> {
    let acting: Vec<_> = matches
        .iter()
        .zip(shadowed)
        .filter(|(matched, shadowed)| matched.applies() && shadowed.is_none())
        .map(|(matched, _)| matched)
        .collect();
    let claimed: BTreeSet<&str> = acting.iter().flat_map(|matched| matched.rule.overrides()).collect();
    let acting: Vec<_> = acting.into_iter().filter(|matched| !claimed.contains(matched.rule.id())).collect();
    let by = |target: &RuleMatch<'r>| {
        let free = !target.rule.locked;
        let by = acting
            .iter()
            .filter(|_| free)
            .find(|matched| matched.rule.overrides().any(|id| id == target.rule.id()));
        by.map(|matched| matched.rule.id())
    };
    matches.iter().map(by).collect()
}

// === impl ResolvedMatches ===

impl<'r> ResolvedMatches<'r> {
    pub(super) fn matches(&self) -> impl Iterator<Item = &RuleMatch<'r>> {
        self.matches.iter()
    }

    pub(super) fn into_judgement(self, input: MatchInput<'_>) -> PolicyJudgement {
        let findings = self
            .matches
            .iter()
            .filter(|matched| matched.applies() || matched.status == MatchStatus::BudgetWarning)
            .filter_map(|matched| matched.finding(input))
            .collect();
        let step = |matched: &RuleMatch<'_>| TraceEntry {
            by: Origin::Rule(matched.rule.id.clone()),
            status: matched.step_status(),
            decision: matched.decision,
            took_us: 0,
            note: Some(matched.note()),
        };
        let is_undoable = |matched: &&RuleMatch<'_>| {
            let is_fitting = matches!(matched.decision, Decision::Ask | Decision::None);
            matched.applies() && is_fitting && matched.rule.takes_snapshot
        };
        let undoable =
            self.matches.iter().filter(is_undoable).map(|matched| Arc::clone(&matched.rule.id)).collect();
        let steps = self.matches.iter().map(step).collect();
        PolicyJudgement { findings, steps, delta: self.delta, undoable }
    }
}
