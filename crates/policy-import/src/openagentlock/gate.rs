// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts one gate to rules.

use tenterhook_document::{Node, Value};

use super::evaluate::EvaluatorVerdict;
use super::{GateImporter, OpenAgentLockMode};
use crate::draft::{ImportedRule, RuleIdGenerator};
use tenterhook_document::yaml::{Map, Tree};

const SEVERITIES: &[&str] = &["low", "medium", "high", "critical"];

impl GateImporter<'_> {
    /// Converts a gate to rules; empty if the gate cannot be converted.
    pub(super) fn convert_gate(
        &mut self,
        gate: &Node,
        file_monitored: bool,
        ids: &mut RuleIdGenerator,
    ) -> Vec<ImportedRule> {
        let id = match gate.get("id").and_then(Node::text) {
            Some(id) if !id.is_empty() => id,
            _ => {
                self.leave_out(gate.spot, None, "a gate without an `id`", "");
                return Vec::new();
            }
        };
        if gate.get("disabled").is_some_and(|node| node.value == Value::Bool(true)) {
            let hint = "remove `disabled` and import again to convert it";
            self.leave_out(gate.spot, Some(id), "it is disabled", hint);
            return Vec::new();
        }
        let (severity, mode) = self.read_gate_keys(gate, id);
        let monitored = mode.unwrap_or(file_monitored);
        let Some(node) = gate.get("match") else {
            self.leave_out(gate.spot, Some(id), "it has no `match`", "");
            return Vec::new();
        };
        let alternatives = self.convert_alternatives(node, id);
        if alternatives.is_empty() {
            return Vec::new();
        }
        let Some(Node { value: Value::List(evaluators), .. }) = gate.get("evaluate") else {
            self.leave_out(gate.spot, Some(id), "it has no list `evaluate`", "");
            return Vec::new();
        };
        let mut drafts = Vec::new();
        for evaluator in evaluators {
            for verdict in self.convert_evaluator(evaluator, id) {
                // A repository's file can only deny.
                if self.project && !verdict.denies {
                    continue;
                }
                drafts.push(self.draft(id, severity.as_ref(), monitored, &alternatives, verdict, ids));
            }
        }
        if drafts.is_empty() {
            let why =
                if self.project { "it can never deny" } else { "none of its evaluators can be converted" };
            self.leave_out(gate.spot, Some(id), why, "");
        }
        drafts
    }

    /// Reads the other keys of a gate: its severity, and whether it is only monitored.
    fn read_gate_keys(&mut self, gate: &Node, id: &str) -> (Option<String>, Option<bool>) {
        let Value::Map(entries) = &gate.value else { return (None, None) };
        let (mut severity, mut monitored) = (None, None);
        for (key, value) in entries {
            match (key.text().unwrap_or_default(), value.text()) {
                // Rules have no key for the origin of a gate.
                ("id" | "match" | "evaluate" | "disabled" | "source", _) => {}
                ("severity", Some(word)) if SEVERITIES.contains(&word) => severity = Some(word.to_owned()),
                ("severity", _) => {
                    let hint = "use low, medium, high or critical";
                    self.leave_out(value.spot, Some(id), "unknown `severity`", hint);
                }
                ("mode", Some(word @ ("enforce" | "monitor"))) => monitored = Some(word == "monitor"),
                ("mode", _) => {
                    self.leave_out(value.spot, Some(id), "`mode` must be `enforce` or `monitor`", "");
                }
                (name @ ("precedence" | "priority"), _) => {
                    let message = format!("`{name}` selects between gates of the same id in several layers");
                    self.leave_out(
                        key.spot,
                        Some(id),
                        message,
                        "in rule files, a denial in any layer applies",
                    );
                }
                (name, _) => self.leave_out(key.spot, Some(id), format!("`{name}` has no effect"), ""),
            }
        }
        (severity, monitored)
    }

    fn draft(
        &self,
        gate: &str,
        severity: Option<&String>,
        monitored: bool,
        alternatives: &[Map],
        verdict: EvaluatorVerdict,
        ids: &mut RuleIdGenerator,
    ) -> ImportedRule {
        let id = ids.generate(gate);
        let plain = format!("matched rule {gate} (deny)");
        let reason = match (verdict.denies, self.daemon, monitored) {
            (false, ..) => None,
            // If the rule has the gate's name, no reason is written, because the default reason is the same
            // text.
            (true, OpenAgentLockMode::Firewall, false) => (id != gate).then_some(plain),
            (true, OpenAgentLockMode::Firewall, true) => {
                Some(format!("monitor match escalated by daemon firewall mode (rule {gate})"))
            }
            (true, OpenAgentLockMode::Monitor, false) => {
                Some("deny suppressed by daemon monitor mode".to_owned())
            }
            (true, OpenAgentLockMode::Monitor, true) => Some(format!("monitor: {plain}")),
        };
        ImportedRule {
            id,
            notes: Vec::new(),
            description: format!("{} (gate {gate})", verdict.what),
            severity: severity.cloned(),
            matches: combine_conditions(alternatives, &verdict.cases),
            when: None,
            verdict: if verdict.denies { "deny" } else { "none" },
            reason,
            nudge: verdict.nudge.filter(|_| verdict.denies),
        }
    }
}

/// Combines one of the gate's alternatives with one of the evaluator's.
fn combine_conditions(gate: &[Map], verdict: &[Map]) -> Map {
    let any = |maps: &[Map]| ("any", Tree::List(maps.iter().cloned().map(Tree::Map).collect()));
    match (gate, verdict) {
        ([gate], [verdict]) if gate.iter().all(|(key, _)| verdict.iter().all(|(other, _)| key != other)) => {
            gate.iter().chain(verdict).cloned().collect()
        }
        (gate, [verdict]) => std::iter::once(any(gate)).chain(verdict.iter().cloned()).collect(),
        ([gate], verdict) => gate.iter().cloned().chain([any(verdict)]).collect(),
        (gate, verdict) => {
            let both = |verdict: &Map| std::iter::once(any(gate)).chain(verdict.iter().cloned()).collect();
            vec![any(&verdict.iter().map(both).collect::<Vec<Map>>())]
        }
    }
}
