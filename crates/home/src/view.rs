// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The rules in force, as people and programs look at them.

use tenterhook_api::{EnforcementMode, PolicyLayer, RuleLayer, RuleSeverity, RuleView};
use tenterhook_document::Problem;
use tenterhook_event::Timestamp;
use tenterhook_policy::{Rule, RuleMode, RuleSet, Severity, SourceLayer};

use crate::sources::{Sources, Text};
use crate::trust::Standing;

/// The rules in force, and those that would be if nobody had turned them off.
pub struct View<'a> {
    /// Where they come from.
    pub sources: &'a Sources,
    /// All of them.
    pub all: RuleSet,
    /// Those that count.
    pub in_force: RuleSet,
    /// How much cannot be used.
    pub problems: usize,
    now: Timestamp,
}

impl<'a> View<'a> {
    /// Loads them once more, which gives the same rules.
    pub fn new(sources: &'a Sources, now: Timestamp) -> Self {
        let (loaded, all) = (sources.load(), sources.all_rules());
        let problems = loaded.problems.len() + sources.problems.len();
        Self { sources, all, in_force: loaded.rules, problems, now }
    }

    /// What is special about a rule.
    pub fn marks(&self, rule: &Rule) -> Vec<String> {
        let mut marks = Vec::new();
        if rule.locked() {
            marks.push("locked".to_owned());
        }
        if self.in_force.rule(rule.id()).is_none() {
            marks.push("off".to_owned());
        }
        if rule.mode() == RuleMode::Monitor {
            marks.push("watches".to_owned());
        }
        match rule.expires() {
            Some(end) if end <= self.now => marks.push("expired".to_owned()),
            Some(end) => marks.push(format!("until {end}")),
            None => {}
        }
        let by: Vec<_> = self
            .in_force
            .rules()
            .filter(|other| other.overrides().any(|id| id == rule.id()))
            .map(Rule::id)
            .collect();
        if !by.is_empty() {
            marks.push(format!("can be set aside by {}", by.join(", ")));
        }
        marks
    }

    /// One rule, as the API describes it.
    pub fn rule_view(&self, rule: &Rule) -> RuleView {
        RuleView {
            id: rule.id().to_owned(),
            description: rule.description().to_owned(),
            layer: rule_layer(rule.layer()),
            source: rule.source().to_owned(),
            line: rule.line(),
            verdict: rule.verdict(),
            severity: match rule.severity() {
                Severity::Low => RuleSeverity::Low,
                Severity::Medium => RuleSeverity::Medium,
                Severity::High => RuleSeverity::High,
                Severity::Critical => RuleSeverity::Critical,
            },
            mode: match rule.mode() {
                RuleMode::Enforce => EnforcementMode::Enforce,
                RuleMode::Monitor => EnforcementMode::Monitor,
            },
            reason: rule.reason().map(ToOwned::to_owned),
            nudge: rule.nudge().map(ToOwned::to_owned),
            locked: rule.locked(),
            disabled: self.in_force.rule(rule.id()).is_none(),
            expired: rule.expires().is_some_and(|end| end <= self.now),
            expires: rule.expires(),
            overrides: rule.overrides().map(ToOwned::to_owned).collect(),
        }
    }

    /// Every rule.
    pub fn rules(&self) -> Vec<RuleView> {
        self.all.rules().map(|rule| self.rule_view(rule)).collect()
    }

    /// Every source of rules.
    pub fn layers(&self) -> Vec<PolicyLayer> {
        let layer = |part: &Text| PolicyLayer {
            layer: rule_layer(part.layer),
            source: part.name.clone(),
            pack: part.pack.clone(),
            trusted: part.standing == Standing::Trusted,
            standing: part.standing.word().to_owned(),
        };
        self.sources.texts.iter().map(layer).collect()
    }

    /// Problems that do not keep a rule from being used.
    pub fn warnings(&self) -> Vec<Problem> {
        let own = self.in_force.warnings(self.now);
        self.sources.warnings.iter().cloned().chain(own).collect()
    }
}

fn rule_layer(layer: SourceLayer) -> RuleLayer {
    match layer {
        SourceLayer::Baseline => RuleLayer::Baseline,
        SourceLayer::Organisation => RuleLayer::Organisation,
        SourceLayer::User => RuleLayer::User,
        SourceLayer::Project => RuleLayer::Project,
    }
}
