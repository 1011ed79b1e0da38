// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which of the rules that matched count: exceptions, order, limits and budgets, expiry, modes.

use std::collections::BTreeSet;

use tenterhook_event::{Decision, Finding, Flow, Origin, Status, Step};

use super::Judgement;
use crate::budget::Standing;
use crate::conditions::match_mode::MatchInput;
use crate::rule::{Limit, Mode, Rule};
use crate::state::StateDelta;

/// A rule that matched.
#[derive(Debug)]
pub(super) struct Hit<'r> {
    rule: &'r Rule,
    pub(super) decision: Decision,
    reason: String,
    why: String,
    /// Whether it matched for certain.
    sure: bool,
    fate: Fate<'r>,
}

/// What becomes of what a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate<'r> {
    Counts,
    /// It only watches.
    Watches,
    Expired,
    /// So many matches pass before it speaks, and this is one of them.
    Counted(usize),
    /// Its budget is not used up.
    Within,
    /// Nor yet, but it is time to say so.
    Warns,
    /// Another rule sets it aside.
    SetAside(&'r str),
    /// An earlier rule of its file has decided.
    PassedOver(&'r str),
}

/// The rules that matched, and what becomes of each.
pub(super) struct Settled<'r> {
    hits: Vec<Hit<'r>>,
    delta: StateDelta,
}

// === impl Hit ===

impl<'r> Hit<'r> {
    pub(super) fn new(rule: &'r Rule, decision: Decision, reason: String, why: String, sure: bool) -> Self {
        Self { rule, decision, reason, why, sure, fate: Fate::Counts }
    }

    pub(super) fn counts(&self) -> bool {
        self.fate == Fate::Counts
    }

    /// What it matched on, and why it does not count.
    pub(super) fn note(&self) -> String {
        let why = &self.why;
        match self.fate {
            // What a budget has to say is in the reason.
            Fate::Within | Fate::Warns => format!("{why}; {}", self.reason),
            Fate::Counts => why.clone(),
            Fate::Watches => format!("{why}; it only watches"),
            Fate::Expired => match self.rule.expires {
                Some(expires) => format!("{why}; it expired on {expires}"),
                None => format!("{why}; it expired"),
            },
            Fate::Counted(before) => {
                let count = match self.rule.limit {
                    Some(Limit::Matches(matches)) => matches.count,
                    _ => 0,
                };
                format!("{why}; match {} of the {count} that pass", before + 1)
            }
            Fate::SetAside(by) => format!("{why}; set aside by rule `{by}`"),
            Fate::PassedOver(by) => format!("{why}; passed over: rule `{by}` comes first in its file"),
        }
    }

    fn status(&self) -> Status {
        match self.fate {
            Fate::Counts | Fate::Warns => Status::Matched,
            Fate::Watches => Status::Monitored,
            Fate::Expired => Status::Expired,
            Fate::SetAside(_) => Status::Overridden,
            Fate::Counted(_) | Fate::Within | Fate::PassedOver(_) => Status::Skipped,
        }
    }

    fn finding(&self, input: MatchInput<'_>) -> Option<Finding> {
        let by = Origin::Rule(self.rule.id.clone());
        if self.fate == Fate::Warns {
            let words = Some(format!("{} (rule {})", self.reason, self.rule.id));
            return Some(Finding { message: words.clone(), context: words, ..Finding::silent(by) });
        }
        let rewrite = self.rule.rewrite.as_ref().zip(input.event.tool.as_ref());
        let modifications = rewrite.map(|(rewrite, tool)| rewrite.of(tool)).unwrap_or_default();
        if self.decision == Decision::None {
            return (!modifications.is_empty()).then(|| Finding { modifications, ..Finding::silent(by) });
        }
        let nudge = self.rule.nudge.clone();
        // Whoever has used up a budget would use more of it to hear so.
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

/// Settles which of the rules that matched count. They come in rule order.
pub(super) fn settle<'r>(mut hits: Vec<Hit<'r>>, input: MatchInput<'_>) -> Settled<'r> {
    let mut delta = StateDelta::default();
    for hit in &mut hits {
        hit.fate = by_itself(hit, input, &mut delta);
        if matches!(hit.fate, Fate::Within | Fate::Warns) {
            hit.decision = Decision::None;
        }
    }
    // Which rules may set others aside depends on the order, and which rules the order passes over
    // depends on what is set aside: a rule that is passed over sets nothing aside, and one that is set
    // aside passes nothing over.
    let passed = passed_over(&hits);
    let aside = set_aside(&hits, &passed);
    for (hit, by) in hits.iter_mut().zip(&aside) {
        if let (Some(by), Fate::Counts) = (by, hit.fate) {
            hit.fate = Fate::SetAside(by);
        }
    }
    let passed = passed_over(&hits);
    for (hit, by) in hits.iter_mut().zip(&passed) {
        if let (Some(by), Fate::Counts) = (by, hit.fate) {
            hit.fate = Fate::PassedOver(by);
        }
    }
    for hit in &hits {
        // What is set aside is what a rule said; what it saw still happened.
        if matches!(hit.fate, Fate::Counts | Fate::SetAside(_)) {
            let labels = hit.rule.labels.iter().filter(|label| !input.state.labels.contains(*label));
            let new: Vec<_> = labels.filter(|label| !delta.labels.contains(*label)).cloned().collect();
            delta.labels.extend(new);
        }
    }
    Settled { hits, delta }
}

/// What becomes of a rule whatever the others say.
fn by_itself<'r>(hit: &mut Hit<'r>, input: MatchInput<'_>, delta: &mut StateDelta) -> Fate<'r> {
    let (rule, now) = (hit.rule, input.event.ts);
    if rule.is_expired(now) {
        return Fate::Expired;
    }
    match rule.limit {
        None => {}
        Some(Limit::Matches(limit)) => {
            let before = input.state.matches_within(&rule.id, limit.window_ms, now.unix_ms());
            delta.matched.push((rule.id.to_string(), now.unix_ms()));
            delta.needed.insert(rule.id.to_string(), limit.count);
            if before < limit.count {
                return Fate::Counted(before);
            }
        }
        Some(Limit::Budget(budget)) => {
            let (standing, words) = budget.look(rule.id(), input.state, input.event);
            hit.reason = match (&rule.reason, &standing) {
                (Some(own), Standing::UsedUp | Standing::Unknown) => format!("{own} ({words})"),
                _ => words,
            };
            match standing {
                Standing::UsedUp | Standing::Unknown => {}
                Standing::Warns(_) if rule.mode == Mode::Monitor => return Fate::Within,
                Standing::Warns(once) => {
                    delta.warned.push(once);
                    return Fate::Warns;
                }
                Standing::Within => return Fate::Within,
            }
        }
    }
    match rule.mode {
        Mode::Enforce => Fate::Counts,
        Mode::Monitor => Fate::Watches,
    }
}

/// For each hit the earlier rule of its file that decides, where only the first does. A suspicion or
/// a rule that only labels or rewrites decides nothing.
fn passed_over<'r>(hits: &[Hit<'r>]) -> Vec<Option<&'r str>> {
    let mut deciding: Vec<(usize, &'r str)> = Vec::new();
    let mut passed = Vec::with_capacity(hits.len());
    for hit in hits {
        let earlier = hit.rule.first_of.and_then(|file| deciding.iter().find(|(other, _)| *other == file));
        passed.push(earlier.map(|(_, by)| *by));
        if let (Some(file), None, true) = (hit.rule.first_of, earlier, hit.counts())
            && hit.sure
            && (hit.decision != Decision::None || hit.rule.lets_pass())
        {
            deciding.push((file, &hit.rule.id));
        }
    }
    passed
}

/// For each hit the rule that sets it aside. A rule that is itself set aside sets nothing aside.
fn set_aside<'r>(hits: &[Hit<'r>], passed: &[Option<&str>]) -> Vec<Option<&'r str>> {
    let acting: Vec<_> = hits
        .iter()
        .zip(passed)
        .filter(|(hit, passed)| hit.counts() && passed.is_none())
        .map(|(hit, _)| hit)
        .collect();
    let claimed: BTreeSet<&str> = acting.iter().flat_map(|hit| hit.rule.overrides()).collect();
    let acting: Vec<_> = acting.into_iter().filter(|hit| !claimed.contains(hit.rule.id())).collect();
    let by = |target: &Hit<'r>| {
        let free = !target.rule.locked;
        let by =
            acting.iter().filter(|_| free).find(|hit| hit.rule.overrides().any(|id| id == target.rule.id()));
        by.map(|hit| hit.rule.id())
    };
    hits.iter().map(by).collect()
}

// === impl Settled ===

impl<'r> Settled<'r> {
    pub(super) fn hits(&self) -> impl Iterator<Item = &Hit<'r>> {
        self.hits.iter()
    }

    pub(super) fn into_judgement(self, input: MatchInput<'_>) -> Judgement {
        let findings = self
            .hits
            .iter()
            .filter(|hit| hit.counts() || hit.fate == Fate::Warns)
            .filter_map(|hit| hit.finding(input))
            .collect();
        let step = |hit: &Hit<'_>| Step {
            by: Origin::Rule(hit.rule.id.clone()),
            status: hit.status(),
            decision: hit.decision,
            took_us: 0,
            note: Some(hit.note()),
        };
        Judgement { findings, steps: self.hits.iter().map(step).collect(), delta: self.delta }
    }
}
