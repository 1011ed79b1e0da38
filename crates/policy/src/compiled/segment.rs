// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compiled rules with the user's settings. A rule set is a list of segments.

use std::sync::{Arc, OnceLock};

use tenterhook_event::{Event, EventKind};
use tenterhook_facts::Facts;

use super::CompiledRules;
use super::lazy_rule::{LazyRule, undecodable_rule};
use crate::index::KindIndex;
use crate::path_rule::RuleAboutPaths;
use crate::rule::{Rule, RuleMode};

/// Compiled rules and which of them are active.
#[derive(Debug)]
pub(crate) struct RuleSegment {
    compiled: Arc<CompiledRules>,
    rules: Vec<LazyRule>,
    /// For each rule, whether it is active.
    active: Vec<bool>,
    /// Whether rules that are not locked are only monitored.
    monitor: bool,
    /// The index of each kind of event, decoded when the first such event arrives.
    indexes: Vec<OnceLock<KindIndex>>,
    /// Used in place of rules that cannot be found because the index is damaged.
    damaged: OnceLock<Box<Rule>>,
}

impl RuleSegment {
    /// Creates a segment in which all rules are active.
    pub(crate) fn new(compiled: Arc<CompiledRules>) -> Self {
        let count = compiled.count();
        Self {
            rules: std::iter::repeat_with(LazyRule::default).take(count).collect(),
            active: vec![true; count],
            monitor: false,
            indexes: compiled.kinds().iter().map(|_| OnceLock::new()).collect(),
            damaged: OnceLock::new(),
            compiled,
        }
    }

    /// Sets rules that are not locked to monitor mode.
    pub(crate) fn set_monitor(&mut self) {
        self.monitor = true;
        // Discard rules that were decoded with the old mode.
        self.rules.fill_with(LazyRule::default);
    }

    /// Disables all rules except those of these files.
    pub(crate) fn keep_files(&mut self, files: &[usize]) {
        for (number, file) in self.compiled.header.files.iter().enumerate() {
            if !files.contains(&number) {
                let end = usize::try_from(file.rules.1).unwrap_or(usize::MAX).min(self.active.len());
                let start = usize::try_from(file.rules.0).unwrap_or(usize::MAX);
                self.active.get_mut(start..end).unwrap_or_default().fill(false);
            }
        }
    }

    /// Disables one rule.
    pub(crate) fn disable(&mut self, number: u32) {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(active) = self.active.get_mut(at) {
            *active = false;
        }
    }

    /// Returns the numbers of the rules that are not active.
    pub(crate) fn disabled(&self) -> Vec<u32> {
        (0..).zip(&self.active).filter(|(_, active)| !**active).map(|(number, _)| number).collect()
    }

    pub(crate) fn is_monitored(&self) -> bool {
        self.monitor
    }

    pub(crate) fn compiled(&self) -> &Arc<CompiledRules> {
        &self.compiled
    }

    /// Returns the number of the rule with this id, if it is active.
    pub(crate) fn find_rule(&self, id: &str) -> Option<u32> {
        self.compiled.find_rule(id).filter(|number| self.is_active(*number))
    }

    /// Whether any of these rules is active.
    pub(crate) fn has_any(&self, rules: &[u32]) -> bool {
        rules.iter().any(|number| self.is_active(*number))
    }

    pub(crate) fn count(&self) -> usize {
        self.active.iter().filter(|active| **active).count()
    }

    /// Returns the active rules, in order.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &Rule> {
        (0..).zip(&self.active).filter(|(_, active)| **active).map(|(number, _)| self.rule(number))
    }

    /// Returns the parts about paths of the active rules, in order.
    pub(crate) fn rules_about_paths(&self) -> Vec<RuleAboutPaths> {
        let Some(stored) = self.compiled.rules_about_paths() else {
            return self.rules().filter_map(RuleAboutPaths::of).collect();
        };
        let active = stored.into_iter().filter(|(number, _)| self.is_active(*number));
        let with_mode = |mut rule: RuleAboutPaths| {
            if self.monitor && !rule.locked {
                rule.mode = RuleMode::Monitor;
            }
            rule
        };
        active.map(|(_, rule)| with_mode(rule)).collect()
    }

    /// Returns one rule, active or not.
    pub(crate) fn rule(&self, number: u32) -> &Rule {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        match self.rules.get(at) {
            Some(rule) => rule.whole(|| self.compiled.record(at), self.monitor),
            None => self.damaged.get_or_init(|| Box::new(undecodable_rule(None))),
        }
    }

    /// Whether any active rule handles events of this kind.
    pub(crate) fn handles(&self, kind: EventKind) -> bool {
        let active = |rules: (u32, u32)| (rules.0..rules.1).any(|rule| self.is_active(rule));
        let mut files = self.compiled.header.files.iter();
        files.any(|file| file.kinds.contains(&kind) && active(file.rules))
    }

    /// Visits the rules that may match an event, in order, each with the alternatives that may match; `None` means
    /// all alternatives. No matching rule is skipped.
    pub(crate) fn visit_candidates<'s>(
        &'s self,
        event: &Event,
        facts: &Facts,
        mut visit: impl FnMut(&'s Rule, Option<&[u16]>),
    ) {
        let mut kinds = self.compiled.kinds().iter().zip(&self.indexes);
        let Some(((_, form), index)) = kinds.find(|((kind, _), _)| *kind == event.event) else { return };
        let body = self.compiled.body();
        let active = |rule| self.is_active(rule);
        let index = index.get_or_init(|| KindIndex::read(form, body, active));
        index.visit_candidates(form, body, event, facts, active, |number, wanted| {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            match (self.rules.get(at), wanted) {
                (Some(rule), Some(wanted)) => {
                    let (rule, alternatives) =
                        rule.with_alternatives(|| self.compiled.record(at), wanted, self.monitor);
                    visit(rule, alternatives);
                }
                _ => visit(self.rule(number), None),
            }
        });
    }

    /// Whether a rule is active. A number outside the table comes from a damaged index and counts as active.
    fn is_active(&self, number: u32) -> bool {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        self.active.get(at).copied().unwrap_or(true)
    }

    #[cfg(test)]
    pub(crate) fn decoded_count(&self) -> usize {
        self.rules.iter().filter(|rule| rule.is_whole()).count()
    }
}
