// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The rules in force, as people and programs look at them.

use serde_json::{Value, json};
use tenterhook_event::Timestamp;
use tenterhook_policy::{Mode, Rule, RuleSet};

use crate::sources::Sources;
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
        if rule.mode() == Mode::Monitor {
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

    /// One rule, for programs.
    pub fn json(&self, rule: &Rule) -> Value {
        json!({
            "id": rule.id(),
            "description": rule.description(),
            "layer": rule.layer(),
            "source": rule.source(),
            "line": rule.line(),
            "verdict": rule.verdict(),
            "severity": rule.severity(),
            "mode": rule.mode(),
            "reason": rule.reason(),
            "nudge": rule.nudge(),
            "locked": rule.locked(),
            "disabled": self.in_force.rule(rule.id()).is_none(),
            "expired": rule.expires().is_some_and(|end| end <= self.now),
            "expires": rule.expires(),
            "overrides": rule.overrides().collect::<Vec<_>>(),
        })
    }

    /// All of it.
    pub fn all_json(&self) -> Value {
        let layers: Vec<_> = self
            .sources
            .texts
            .iter()
            .map(|part| {
                json!({
                    "layer": part.layer, "source": part.name, "pack": part.pack,
                    "trusted": part.standing == Standing::Trusted, "standing": part.standing.word(),
                })
            })
            .collect();
        let rules: Vec<_> = self.all.rules().map(|rule| self.json(rule)).collect();
        let own = self.in_force.warnings(self.now);
        let warnings: Vec<_> = self.sources.warnings.iter().chain(&own).collect();
        json!({"layers": layers, "rules": rules, "problems": self.problems, "warnings": warnings})
    }
}
