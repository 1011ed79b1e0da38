// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One gate → the rules that say the same.

use tenterhook_document::{Node, Value};

use super::evaluate::Says;
use super::{Daemon, Reading};
use crate::draft::{Draft, Ids};
use tenterhook_document::yaml::{Map, Tree};

const SEVERITIES: &[&str] = &["low", "medium", "high", "critical"];

impl Reading<'_> {
    /// The rules of a gate; none if nothing of it can be carried.
    pub(super) fn gate(&mut self, gate: &Node, file_watches: bool, ids: &mut Ids) -> Vec<Draft> {
        let id = match gate.get("id").and_then(Node::text) {
            Some(id) if !id.is_empty() => id,
            _ => {
                self.left(gate.spot, None, "a gate without an `id`", "");
                return Vec::new();
            }
        };
        if gate.get("disabled").is_some_and(|node| node.value == Value::Bool(true)) {
            let hint = "remove `disabled` and import again to have it";
            self.left(gate.spot, Some(id), "it is disabled", hint);
            return Vec::new();
        }
        let (severity, mode) = self.keys(gate, id);
        let watches = mode.unwrap_or(file_watches);
        let Some(node) = gate.get("match") else {
            self.left(gate.spot, Some(id), "it has no `match`", "");
            return Vec::new();
        };
        let alternatives = self.alternatives(node, id);
        if alternatives.is_empty() {
            return Vec::new();
        }
        let Some(Node { value: Value::List(evaluators), .. }) = gate.get("evaluate") else {
            self.left(gate.spot, Some(id), "it has no list `evaluate`", "");
            return Vec::new();
        };
        let mut drafts = Vec::new();
        for evaluator in evaluators {
            for says in self.evaluator(evaluator, id) {
                // A repository's file can only deny.
                if self.project && !says.denies {
                    continue;
                }
                drafts.push(self.draft(id, severity.as_ref(), watches, &alternatives, says, ids));
            }
        }
        if drafts.is_empty() {
            let why = if self.project { "it can never deny" } else { "nothing is left of it" };
            self.left(gate.spot, Some(id), why, "");
        }
        drafts
    }

    /// The other keys of a gate: its severity, and whether it only watches.
    fn keys(&mut self, gate: &Node, id: &str) -> (Option<String>, Option<bool>) {
        let Value::Map(entries) = &gate.value else { return (None, None) };
        let (mut severity, mut watches) = (None, None);
        for (key, value) in entries {
            match (key.text().unwrap_or_default(), value.text()) {
                // Where a gate came from is not something a rule says.
                ("id" | "match" | "evaluate" | "disabled" | "source", _) => {}
                ("severity", Some(word)) if SEVERITIES.contains(&word) => severity = Some(word.to_owned()),
                ("severity", _) => {
                    let hint = "low, medium, high or critical";
                    self.left(value.spot, Some(id), "its `severity` is not one of ours", hint);
                }
                ("mode", Some(word @ ("enforce" | "monitor"))) => watches = Some(word == "monitor"),
                ("mode", _) => {
                    self.left(value.spot, Some(id), "its `mode` is not `enforce` or `monitor`", "");
                }
                (name @ ("precedence" | "priority"), _) => {
                    let message = format!("`{name}` chooses between gates of one id in several layers");
                    self.left(key.spot, Some(id), message, "here a deny of any layer stands");
                }
                (name, _) => self.left(key.spot, Some(id), format!("`{name}` decides nothing"), ""),
            }
        }
        (severity, watches)
    }

    fn draft(
        &self,
        gate: &str,
        severity: Option<&String>,
        watches: bool,
        alternatives: &[Map],
        says: Says,
        ids: &mut Ids,
    ) -> Draft {
        let id = ids.take(gate);
        let plain = format!("matched rule {gate} (deny)");
        let reason = match (says.denies, self.daemon, watches) {
            (false, ..) => None,
            // Our own words for it are the same where the rule has the gate's name.
            (true, Daemon::Firewall, false) => (id != gate).then_some(plain),
            (true, Daemon::Firewall, true) => {
                Some(format!("monitor match escalated by daemon firewall mode (rule {gate})"))
            }
            (true, Daemon::Monitor, false) => Some("deny suppressed by daemon monitor mode".to_owned()),
            (true, Daemon::Monitor, true) => Some(format!("monitor: {plain}")),
        };
        Draft {
            id,
            notes: Vec::new(),
            description: format!("{} (gate {gate})", says.what),
            severity: severity.cloned(),
            matches: joined(alternatives, &says.cases),
            when: None,
            verdict: if says.denies { "deny" } else { "none" },
            reason,
            nudge: says.nudge.filter(|_| says.denies),
        }
    }
}

/// One of the gate's alternatives and one of the evaluator's.
fn joined(gate: &[Map], says: &[Map]) -> Map {
    let any = |maps: &[Map]| ("any", Tree::List(maps.iter().cloned().map(Tree::Map).collect()));
    match (gate, says) {
        ([gate], [says]) if gate.iter().all(|(key, _)| says.iter().all(|(other, _)| key != other)) => {
            gate.iter().chain(says).cloned().collect()
        }
        (gate, [says]) => std::iter::once(any(gate)).chain(says.iter().cloned()).collect(),
        ([gate], says) => gate.iter().cloned().chain([any(says)]).collect(),
        (gate, says) => {
            let both = |says: &Map| std::iter::once(any(gate)).chain(says.iter().cloned()).collect();
            vec![any(&says.iter().map(both).collect::<Vec<Map>>())]
        }
    }
}
