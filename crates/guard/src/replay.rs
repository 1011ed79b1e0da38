// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates rules on past events, each with its session's state.

use std::collections::HashMap;

use tenterhook_event::{Decision, Event, Origin, TraceEntry, TraceStatus};
use tenterhook_facts::{EvalEnvironment, LinkMap};
use tenterhook_policy::{RuleSet, SessionState};

/// Evaluates past events in order. The disk is not read, because it has changed since the events.
pub struct EventReplay<'a> {
    rules: &'a RuleSet,
    /// Home directory of the user, for `~`.
    user_home: Option<&'a str>,
    /// Maximum number of sessions whose state is kept. An evicted session starts again without state.
    max_sessions: usize,
    sessions: HashMap<(String, Option<String>), (u64, SessionState)>,
    all_sessions: SessionState,
    event_count: u64,
}

/// Combined verdict of the rules on one event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplayedVerdict {
    /// The strictest verdict.
    pub decision: Decision,
    /// The first rule that gave this verdict.
    pub rule: Option<String>,
    /// Reason given by the rule.
    pub reason: Option<String>,
}

impl<'a> EventReplay<'a> {
    /// Creates a replay with these rules.
    pub fn new(rules: &'a RuleSet, user_home: Option<&'a str>, max_sessions: usize) -> Self {
        Self {
            rules,
            user_home,
            max_sessions,
            sessions: HashMap::new(),
            all_sessions: SessionState::default(),
            event_count: 0,
        }
    }

    /// Evaluates the next event, using the symbolic links that were on the disk at the time.
    pub fn judge(&mut self, event: &Event, seen: Option<&LinkMap>) -> ReplayedVerdict {
        if !self.rules.handles(event.event) {
            return ReplayedVerdict::default();
        }
        let environment = EvalEnvironment {
            home: self.user_home,
            seen,
            programs: self.rules.programs(),
            ..EvalEnvironment::default()
        };
        let facts = tenterhook_policy::facts(event, &environment);
        self.event_count += 1;
        let key = (event.source.clone(), event.harness_session_id.clone());
        if self.sessions.len() >= self.max_sessions && !self.sessions.contains_key(&key) {
            self.evict_quiet_sessions();
        }
        let (last, own_state) = self.sessions.entry(key).or_default();
        *last = self.event_count;
        let rules = self.rules;
        let judged = if self.all_sessions.is_empty() {
            tenterhook_policy::judge(event, &facts, own_state, rules)
        } else {
            let mut state = SessionState { today: self.all_sessions.today, ..own_state.clone() };
            let shared = self.all_sessions.matched.iter().filter(|(rule, _)| rules.counts_all_sessions(rule));
            state.matched.extend(shared.map(|(rule, stamps)| (rule.clone(), stamps.clone())));
            tenterhook_policy::judge(event, &facts, &state, rules)
        };
        own_state.apply(&judged.delta);
        self.all_sessions.apply(&judged.delta);
        let (decision, rule) = strictest_verdict(&judged.steps);
        let by = |finding: &&tenterhook_event::Finding| match &finding.by {
            Origin::Rule(id) => rule.as_deref() == Some(&**id),
            _ => false,
        };
        let reason = judged.findings.iter().find(by).and_then(|finding| finding.reason.clone());
        ReplayedVerdict { decision, rule, reason }
    }

    /// Evicts half of the sessions, those without an event for the longest time.
    fn evict_quiet_sessions(&mut self) {
        let mut counts: Vec<_> = self.sessions.values().map(|(last, _)| *last).collect();
        let middle = counts.len() / 2;
        let cutoff = counts.select_nth_unstable(middle).1;
        self.sessions.retain(|_, (last, _)| *last > *cutoff);
    }
}

/// Returns the strictest verdict of the rules, and the first rule that gave it.
pub(crate) fn strictest_verdict(steps: &[TraceEntry]) -> (Decision, Option<String>) {
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
