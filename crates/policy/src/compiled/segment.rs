// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compiled rules that are in force, with what was chosen about them. A rule set is a list of these.

use std::sync::{Arc, OnceLock};

use tenterhook_event::{Event, EventKind};
use tenterhook_facts::Facts;

use super::CompiledRules;
use super::lazy_rule::{LazyRule, unreadable};
use crate::index::KindIndex;
use crate::rule::Rule;

/// Compiled rules that are in force.
#[derive(Debug)]
pub(crate) struct Segment {
    compiled: Arc<CompiledRules>,
    rules: Vec<LazyRule>,
    /// For each rule whether it is in force.
    in_force: Vec<bool>,
    /// Rules that are not locked are not enforced.
    monitor: bool,
    /// The index of each kind of event, read when the first such event comes.
    indexes: Vec<OnceLock<KindIndex>>,
    /// Stands for whatever a damaged index has lost.
    damaged: OnceLock<Box<Rule>>,
}

impl Segment {
    /// All rules of these.
    pub(crate) fn new(compiled: Arc<CompiledRules>) -> Self {
        let count = compiled.count();
        Self {
            rules: std::iter::repeat_with(LazyRule::default).take(count).collect(),
            in_force: vec![true; count],
            monitor: false,
            indexes: compiled.kinds().iter().map(|_| OnceLock::new()).collect(),
            damaged: OnceLock::new(),
            compiled,
        }
    }

    /// Takes rules that are not locked out of enforcement.
    pub(crate) fn set_monitor(&mut self) {
        self.monitor = true;
        // Those decoded so far are enforced.
        self.rules.fill_with(LazyRule::default);
    }

    /// Takes the rules of all files but these out of force.
    pub(crate) fn keep_files(&mut self, files: &[usize]) {
        for (number, file) in self.compiled.header.files.iter().enumerate() {
            if !files.contains(&number) {
                let end = usize::try_from(file.rules.1).unwrap_or(usize::MAX).min(self.in_force.len());
                let start = usize::try_from(file.rules.0).unwrap_or(usize::MAX);
                self.in_force.get_mut(start..end).unwrap_or_default().fill(false);
            }
        }
    }

    /// Takes one rule out of force.
    pub(crate) fn disable(&mut self, number: u32) {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(in_force) = self.in_force.get_mut(at) {
            *in_force = false;
        }
    }

    /// The numbers of rules that are not in force.
    pub(crate) fn disabled(&self) -> Vec<u32> {
        (0..).zip(&self.in_force).filter(|(_, in_force)| !**in_force).map(|(number, _)| number).collect()
    }

    pub(crate) fn is_monitored(&self) -> bool {
        self.monitor
    }

    pub(crate) fn compiled(&self) -> &Arc<CompiledRules> {
        &self.compiled
    }

    /// The number of the rule of this id, if it is in force.
    pub(crate) fn number(&self, id: &str) -> Option<u32> {
        self.compiled.number(id).filter(|number| self.is_in_force(*number))
    }

    /// Whether any of these rules is in force.
    pub(crate) fn has_any(&self, rules: &[u32]) -> bool {
        rules.iter().any(|number| self.is_in_force(*number))
    }

    pub(crate) fn count(&self) -> usize {
        self.in_force.iter().filter(|in_force| **in_force).count()
    }

    /// The rules that are in force, in order.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &Rule> {
        (0..).zip(&self.in_force).filter(|(_, in_force)| **in_force).map(|(number, _)| self.rule(number))
    }

    /// One rule, in force or not.
    pub(crate) fn rule(&self, number: u32) -> &Rule {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        match self.rules.get(at) {
            Some(rule) => rule.whole(|| self.compiled.record(at), self.monitor),
            None => self.damaged.get_or_init(|| Box::new(unreadable(None))),
        }
    }

    /// Whether any rule in force is about events of this kind.
    pub(crate) fn concerns(&self, kind: EventKind) -> bool {
        let in_force = |rules: (u32, u32)| (rules.0..rules.1).any(|rule| self.is_in_force(rule));
        let mut files = self.compiled.header.files.iter();
        files.any(|file| file.kinds.contains(&kind) && in_force(file.rules))
    }

    /// Visits the rules that may match an event, in order, each with the alternatives that may hold; `None` for all of
    /// them. Every rule that does match is among them.
    pub(crate) fn visit_candidates<'s>(
        &'s self,
        event: &Event,
        facts: &Facts,
        mut visit: impl FnMut(&'s Rule, Option<&[u16]>),
    ) {
        let mut kinds = self.compiled.kinds().iter().zip(&self.indexes);
        let Some(((_, form), index)) = kinds.find(|((kind, _), _)| *kind == event.event) else { return };
        let body = self.compiled.body();
        let in_force = |rule| self.is_in_force(rule);
        let index = index.get_or_init(|| KindIndex::read(form, body, in_force));
        index.visit_candidates(form, body, event, facts, in_force, |number, wanted| {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            match (self.rules.get(at), wanted) {
                (Some(rule), Some(wanted)) => {
                    let (rule, parts) =
                        rule.with_alternatives(|| self.compiled.record(at), wanted, self.monitor);
                    visit(rule, parts);
                }
                _ => visit(self.rule(number), None),
            }
        });
    }

    /// What lies beyond the table stands for a damaged index, and is always in force.
    fn is_in_force(&self, number: u32) -> bool {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        self.in_force.get(at).copied().unwrap_or(true)
    }

    #[cfg(test)]
    pub(crate) fn decoded(&self) -> usize {
        self.rules.iter().filter(|rule| rule.is_whole()).count()
    }
}
