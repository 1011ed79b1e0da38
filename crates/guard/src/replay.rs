// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the rules say about events of the past, each in the session it belongs to.

use std::collections::HashMap;

use tenterhook_event::{Decision, Event, Origin, TraceEntry, TraceStatus};
use tenterhook_facts::{EvalEnvironment, LinkMap};
use tenterhook_policy::{RuleSet, SessionState};

/// Judges past events in the order they come. Nothing on the disk is looked at: it has changed since.
pub struct Hindsight<'a> {
    rules: &'a RuleSet,
    /// The person's home, for `~`.
    person: Option<&'a str>,
    /// How many sessions are remembered; one that is forgotten begins anew.
    most: usize,
    sessions: HashMap<(String, Option<String>), (u64, SessionState)>,
    together: SessionState,
    turn: u64,
}

/// What the rules say together, and the first that says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// The strictest of all.
    pub decision: Decision,
    /// The rule.
    pub rule: Option<String>,
    /// Why, in its words.
    pub reason: Option<String>,
}

impl<'a> Hindsight<'a> {
    /// Judges by these rules.
    pub fn new(rules: &'a RuleSet, person: Option<&'a str>, most: usize) -> Self {
        Self { rules, person, most, sessions: HashMap::new(), together: SessionState::default(), turn: 0 }
    }

    /// The next event, with what was seen of the disk then.
    pub fn judge(&mut self, event: &Event, seen: Option<&LinkMap>) -> Said {
        if !self.rules.handles(event.event) {
            return Said::default();
        }
        let around = EvalEnvironment {
            home: self.person,
            seen,
            programs: self.rules.programs(),
            ..EvalEnvironment::default()
        };
        let facts = tenterhook_policy::facts(event, &around);
        self.turn += 1;
        let key = (event.source.clone(), event.harness_session_id.clone());
        if self.sessions.len() >= self.most && !self.sessions.contains_key(&key) {
            self.forget();
        }
        let (last, own) = self.sessions.entry(key).or_default();
        *last = self.turn;
        let rules = self.rules;
        let judged = if self.together.is_empty() {
            tenterhook_policy::judge(event, &facts, own, rules)
        } else {
            let mut state = SessionState { today: self.together.today, ..own.clone() };
            let shared = self.together.matched.iter().filter(|(rule, _)| rules.counts_all_sessions(rule));
            state.matched.extend(shared.map(|(rule, stamps)| (rule.clone(), stamps.clone())));
            tenterhook_policy::judge(event, &facts, &state, rules)
        };
        own.apply(&judged.delta);
        self.together.apply(&judged.delta);
        let (decision, rule) = strictest(&judged.steps);
        let by = |finding: &&tenterhook_event::Finding| match &finding.by {
            Origin::Rule(id) => rule.as_deref() == Some(&**id),
            _ => false,
        };
        let reason = judged.findings.iter().find(by).and_then(|finding| finding.reason.clone());
        Said { decision, rule, reason }
    }

    /// Makes room: the half of the sessions that was quiet the longest goes.
    fn forget(&mut self) {
        let mut turns: Vec<_> = self.sessions.values().map(|(last, _)| *last).collect();
        let middle = turns.len() / 2;
        let border = turns.select_nth_unstable(middle).1;
        self.sessions.retain(|_, (last, _)| *last > *border);
    }
}

/// What the rules said together, and the first that said it.
pub(crate) fn strictest(steps: &[TraceEntry]) -> (Decision, Option<String>) {
    let mut strictest = (Decision::None, None);
    for step in steps {
        if let (Origin::Rule(id), TraceStatus::Matched) = (&step.by, step.status)
            && step.decision > strictest.0
        {
            strictest = (step.decision, Some(id.to_string()));
        }
    }
    strictest
}
