// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Event, facts, session and rules → findings. Pure: the same input gives the same judgement.

mod rewrite;
mod settle;

use std::borrow::Cow;

use serde::Serialize;
use tenterhook_event::{Decision, Event, Finding, Step};
use tenterhook_facts::Facts;

use crate::compile::RuleSet;
use crate::conditions::match_mode::{Explain, MatchInput, MatchMode};
use crate::rule::Rule;
use crate::state::{SessionState, StateDelta};
use settle::{Hit, settle};

/// What the rules say about one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgement {
    /// What the rules that count say, in rule order.
    pub findings: Vec<Finding>,
    /// Every rule that matched, also those that only watch or were passed over.
    pub steps: Vec<Step>,
    /// What is to be remembered of the session.
    pub delta: StateDelta,
}

/// What became of one rule, in plain words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleNote {
    /// The rule, by its id.
    pub rule: String,
    /// Whether it matched.
    pub matched: bool,
    /// Whether what it says counts: it is enforced, not expired, not set aside, not passed over.
    pub counts: bool,
    /// What it says, or would say.
    pub verdict: Decision,
    /// What it matched on, or which condition failed first; and why it does not count.
    pub why: String,
}

/// What a rule makes of an event.
enum Verdict {
    /// A condition did not hold.
    Passes(String),
    /// All conditions hold.
    Matches(String),
    /// It may be what the rule looks for: a text that could not be read mentions it, or an unknown
    /// word would have to be an option.
    Suspects(Decision, String),
}

/// Judges an event by the rules. The time is the event's.
pub fn judge(event: &Event, facts: &Facts, state: &SessionState, rules: &RuleSet) -> Judgement {
    // What a transcript reports was spent before this event, so it counts for this event.
    let reported = rules.reported(event, state);
    let state = &with_reported(state, reported.as_ref());
    let input = MatchInput { event, facts, state, locked: false };
    let mut hits = Vec::new();
    rules.visit_candidates(event, facts, |rule, parts| {
        hits.extend(hit(rule, input, Explain::Nothing, parts));
    });
    let mut judgement = settle(hits, input).into_judgement(input);
    if let Some(reported) = reported {
        let StateDelta { spent, earlier, reported, .. } = reported;
        judgement.delta = StateDelta { spent, earlier, reported, ..judgement.delta };
    }
    judgement.delta.spent = rules.spending(event).or(judgement.delta.spent);
    judgement
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

/// Says of every rule whether it matches, whether that counts, and why or why not.
pub fn explain(event: &Event, facts: &Facts, state: &SessionState, rules: &RuleSet) -> Vec<RuleNote> {
    let state = &with_reported(state, rules.reported(event, state).as_ref());
    let input = MatchInput { event, facts, state, locked: false };
    let (mut notes, mut hits) = (Vec::new(), Vec::new());
    for rule in rules.rules() {
        let (matched, why) = match hit(rule, input, Explain::Reason, None) {
            Err(why) => (false, why),
            Ok(hit) => {
                hits.push(hit);
                (true, String::new())
            }
        };
        let rule_id = rule.id.to_string();
        notes.push(RuleNote { rule: rule_id, matched, counts: false, verdict: rule.verdict, why });
    }
    let settled = settle(hits, input);
    for (note, hit) in notes.iter_mut().filter(|note| note.matched).zip(settled.hits()) {
        note.counts = hit.counts();
        note.verdict = hit.decision;
        note.why = hit.note();
    }
    notes
}

/// What one rule says by itself, however often it matched and whatever the others say.
pub(crate) fn alone(rule: &Rule, event: &Event, facts: &Facts, state: &SessionState) -> Decision {
    let input = MatchInput { event, facts, state, locked: false };
    hit(rule, input, Explain::Nothing, None).map_or(Decision::None, |hit| hit.decision)
}

/// What one rule says, if it matches, and what it matched on; else why not. With `parts`, only those of
/// its alternatives could hold.
fn hit<'r>(
    rule: &'r Rule,
    input: MatchInput<'_>,
    explain: Explain,
    parts: Option<&[u16]>,
) -> Result<Hit<'r>, String> {
    match verdict(rule, input, explain, parts) {
        Verdict::Passes(why) => Err(why),
        Verdict::Matches(why) => {
            let plain = || format!("matched rule {} ({})", rule.id, rule.verdict);
            let reason = rule.reason.clone().unwrap_or_else(plain);
            Ok(Hit::new(rule, rule.verdict, reason, why, true))
        }
        Verdict::Suspects(decision, why) => {
            let own = rule.reason.clone().filter(|_| rule.fixed_words);
            let reason = own.unwrap_or_else(|| format!("{why} (rule {})", rule.id));
            Ok(Hit::new(rule, decision, reason, why, false))
        }
    }
}

fn verdict(rule: &Rule, input: MatchInput<'_>, explain: Explain, parts: Option<&[u16]>) -> Verdict {
    // To vouch for a call, or to keep other rules from it, is another thing than to be afraid of it.
    let vouches = rule.verdict == Decision::Allow || rule.lets_pass();
    let mode = if vouches { MatchMode::All } else { MatchMode::Any };
    let input = MatchInput { locked: rule.locked, ..input };
    match rule.matcher.check_parts(input, mode, explain, parts) {
        Ok(held) if !held.certain && mode == MatchMode::All => {
            Verdict::Passes(format!("{}, but that is not certain", held.why))
        }
        Ok(held) => match when(rule, input, mode) {
            Err(why) => Verdict::Passes(why),
            Ok(note) if held.certain || rule.verdict != Decision::Deny => Verdict::Matches(held.why + &note),
            Ok(note) => {
                let why = format!("{}, if {}{note}", held.why, held.doubt);
                Verdict::Suspects(Decision::Ask, why)
            }
        },
        Err(why) => suspicion(rule, input).unwrap_or(Verdict::Passes(why)),
    }
}

/// What a rule makes of texts that nobody could read.
fn suspicion(rule: &Rule, input: MatchInput<'_>) -> Option<Verdict> {
    let decision = rule.unread?;
    let mut texts = input.facts.unread.iter();
    let (text, what) = texts.find_map(|text| Some((text, rule.matcher.match_unparsed(input, text)?)))?;
    let note = when(rule, input, MatchMode::Any).ok()?;
    let why = format!("part of the command could not be read ({}), and it mentions {what}{note}", text.why);
    Some(Verdict::Suspects(decision, why))
}

/// Whether the rule's `when` holds, with what there is to say about it. A condition that cannot be
/// answered holds, except where that would vouch for something.
fn when(rule: &Rule, input: MatchInput<'_>, mode: MatchMode) -> Result<String, String> {
    match rule.when.as_ref().map(|when| when.holds(input.event)) {
        None | Some(Ok(true)) => Ok(String::new()),
        Some(Ok(false)) => Err("its `when` does not hold".to_owned()),
        Some(Err(error)) if mode == MatchMode::All => Err(format!("its `when` cannot be answered: {error}")),
        Some(Err(error)) => Ok(format!("; its `when` cannot be answered ({error}), which counts as held")),
    }
}
