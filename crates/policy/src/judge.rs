// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates rules on an event. The event, its facts, the session state and the rules determine the findings; nothing
//! else has an influence.

mod resolve;
mod rewrite;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use tenterhook_event::{Decision, Event, EventKind, Finding, TraceEntry};
use tenterhook_facts::Facts;

use crate::compile::RuleSet;
use crate::conditions::match_mode::{Explain, MatchFailure, MatchInput, MatchMode};
use crate::rule::Rule;
use crate::state::{SessionState, StateDelta};
use resolve::{RuleMatch, resolve_matches};

/// Result of evaluating all rules on one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PolicyJudgement {
    /// Findings of the rules that apply, in rule order.
    pub findings: Vec<Finding>,
    /// Every rule that matched, including monitored and overridden ones.
    pub steps: Vec<TraceEntry>,
    /// Changes to the session's state.
    pub delta: StateDelta,
    /// Rules that ask and whose question a snapshot of what the call would lose can replace.
    pub undoable: Vec<Arc<str>>,
}

/// Why a rule matched an event or did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleNote {
    /// Id of the rule.
    pub rule: String,
    /// Whether the rule matched.
    pub matched: bool,
    /// Whether the match applies: the rule is enforced, not expired, not overridden and not shadowed.
    pub counts: bool,
    /// Verdict of the rule, whether or not it applies.
    pub verdict: Decision,
    /// What the rule matched, or the first condition that failed. If the match does not apply, also the reason for
    /// that.
    pub why: String,
}

/// Result of checking the conditions of one rule.
enum MatchResult {
    /// A condition failed.
    NoMatch(MatchFailure),
    /// All conditions are true.
    Matched(String),
    /// A match is possible. Either unparsed text mentions what the rule looks for, or the rule matches only if a word
    /// that is known only at run time is an option.
    Possible(Decision, String),
}

/// Evaluates the rules on an event. The event's time is used as the current time.
pub fn judge(event: &Event, facts: &Facts, state: &SessionState, rules: &RuleSet) -> PolicyJudgement {
    // Usage that a transcript reports was spent before this event, so the budgets that are checked for this event
    // include it.
    let reported = rules.reported_spend(event, state);
    let state = &with_reported(state, reported.as_ref());
    let input = MatchInput { event, facts, state };
    let mut matches = Vec::new();
    rules.visit_candidates(event, facts, |rule, alternatives| {
        matches.extend(evaluate_rule(rule, input, Explain::Nothing, alternatives));
    });
    let mut judgement = resolve_matches(matches, input).into_judgement(input);
    if let Some(reported) = reported {
        let StateDelta { spent, earlier, reported, .. } = reported;
        judgement.delta = StateDelta { spent, earlier, reported, ..judgement.delta };
    }
    judgement.delta.spent = rules.spend_of(event).or(judgement.delta.spent);
    judgement.delta.labels.extend(find_shell_label(event, facts, state));
    judgement
}

/// Label of a session whose shell may direct commands to other files than their words name. It is set without a rule,
/// because snapshots depend on it, and users can turn rules off.
pub const SHELL_ENVIRONMENT_LABEL: &str = "shell-environment";

/// Harness that starts a new shell for each call.
const NEW_SHELL_HARNESS: &str = "claude-code";

fn find_shell_label(event: &Event, facts: &Facts, state: &SessionState) -> Option<String> {
    let is_set = || state.labels(event.ts.unix_ms()).any(|label| label == SHELL_ENVIRONMENT_LABEL);
    let is_changed = event.event == EventKind::PreTool
        && facts.redirects_later_calls(event.source == NEW_SHELL_HARNESS)
        && !is_set();
    is_changed.then(|| SHELL_ENVIRONMENT_LABEL.to_owned())
}

fn with_reported<'s>(state: &'s SessionState, reported: Option<&StateDelta>) -> Cow<'s, SessionState> {
    match reported {
        Some(reported) => {
            let mut state = state.clone();
            state.apply(reported);
            Cow::Owned(state)
        }
        None => Cow::Borrowed(state),
    }
}

/// Explains for every rule whether it matches, whether the match applies, and why.
pub fn explain(event: &Event, facts: &Facts, state: &SessionState, rules: &RuleSet) -> Vec<RuleNote> {
    let state = &with_reported(state, rules.reported_spend(event, state).as_ref());
    let input = MatchInput { event, facts, state };
    let (mut notes, mut matches) = (Vec::new(), Vec::new());
    for rule in rules.rules() {
        let (matched, why) = match evaluate_rule(rule, input, Explain::Reason, None) {
            Err(failure) => (false, failure.0),
            Ok(matched) => {
                matches.push(matched);
                (true, String::new())
            }
        };
        let rule_id = rule.id.to_string();
        notes.push(RuleNote { rule: rule_id, matched, counts: false, verdict: rule.verdict, why });
    }
    let resolved = resolve_matches(matches, input);
    for (note, matched) in notes.iter_mut().filter(|note| note.matched).zip(resolved.matches()) {
        note.counts = matched.applies();
        note.verdict = matched.decision;
        note.why = matched.note();
    }
    notes
}

/// Returns the verdict of one rule, regardless of its limit and of other rules.
pub(crate) fn evaluate_alone(rule: &Rule, event: &Event, facts: &Facts, state: &SessionState) -> Decision {
    let input = MatchInput { event, facts, state };
    evaluate_rule(rule, input, Explain::Nothing, None).map_or(Decision::None, |matched| matched.decision)
}

/// Evaluates one rule and returns the match, or why there is none. With `alternatives`, only these can match.
fn evaluate_rule<'r>(
    rule: &'r Rule,
    input: MatchInput<'_>,
    explain: Explain,
    alternatives: Option<&[u16]>,
) -> Result<RuleMatch<'r>, MatchFailure> {
    match check_conditions(rule, input, explain, alternatives) {
        MatchResult::NoMatch(why) => Err(why),
        MatchResult::Matched(why) => {
            let plain = || format!("matched rule {} ({})", rule.id, rule.verdict);
            let reason = rule.reason.clone().unwrap_or_else(plain);
            Ok(RuleMatch::new(rule, rule.verdict, reason, why, true))
        }
        MatchResult::Possible(decision, why) => {
            let own = rule.reason.clone().filter(|_| rule.fixed_reason);
            let reason = own.unwrap_or_else(|| format!("{why} (rule {})", rule.id));
            Ok(RuleMatch::new(rule, decision, reason, why, false))
        }
    }
}

/// Checks the conditions of one rule.
fn check_conditions(
    rule: &Rule,
    input: MatchInput<'_>,
    explain: Explain,
    alternatives: Option<&[u16]>,
) -> MatchResult {
    // A rule that allows a call, or exempts it from later rules, has to cover all of it; a rule that asks or denies
    // does not.
    let must_cover_all = rule.verdict == Decision::Allow || rule.only_shadows();
    let mode = if must_cover_all { MatchMode::All } else { MatchMode::Any };
    match rule.matcher.check_with_alternatives(input, mode, explain, alternatives) {
        Ok(matched) if !matched.certain && mode == MatchMode::All => {
            MatchResult::NoMatch(MatchFailure(format!("{}, but only possibly", matched.why)))
        }
        Ok(matched) => match check_when(rule, input, mode) {
            Err(why) => MatchResult::NoMatch(why),
            Ok(note) if matched.certain || rule.verdict != Decision::Deny => {
                MatchResult::Matched(matched.why + &note)
            }
            Ok(note) => {
                let why = format!("{}, if {}{note}", matched.why, matched.doubt);
                MatchResult::Possible(Decision::Ask, why)
            }
        },
        Err(why) => check_unparsed(rule, input).unwrap_or(MatchResult::NoMatch(why)),
    }
}

/// Checks a rule on text that could not be parsed.
fn check_unparsed(rule: &Rule, input: MatchInput<'_>) -> Option<MatchResult> {
    let decision = rule.unread?;
    let mut texts = input.facts.unread.iter();
    let (text, what) = texts.find_map(|text| Some((text, rule.matcher.match_unparsed(input, text)?)))?;
    let note = check_when(rule, input, MatchMode::Any).ok()?;
    let why = format!("part of the command could not be parsed ({}), and it mentions {what}{note}", text.why);
    Some(MatchResult::Possible(decision, why))
}

/// Checks the rule's `when` and returns a note about it. A condition that cannot be evaluated counts as true, except
/// in a rule that allows.
fn check_when(rule: &Rule, input: MatchInput<'_>, mode: MatchMode) -> Result<String, MatchFailure> {
    match rule.when.as_ref().map(|when| when.holds(input.event)) {
        None | Some(Ok(true)) => Ok(String::new()),
        Some(Ok(false)) => Err(MatchFailure("`when` is false".to_owned())),
        Some(Err(error)) if mode == MatchMode::All => {
            Err(MatchFailure(format!("`when` cannot be evaluated: {error}")))
        }
        Some(Err(error)) => Ok(format!("; `when` cannot be evaluated ({error}) and counts as true")),
    }
}
