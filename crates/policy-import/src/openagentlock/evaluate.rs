// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts the evaluators of a gate to verdicts of rules, in the order in which they are evaluated.

use tenterhook_document::{Node, Value};

use super::GateImporter;
use super::listed::{HOSTS, NameList, PACKAGES, packages};
use tenterhook_document::yaml::{Map, Tree};

/// One verdict of an evaluator, with its conditions.
#[derive(Debug)]
pub(super) struct EvaluatorVerdict {
    /// Description for the reader of the rule file.
    pub(super) what: &'static str,
    /// Conditions in addition to those of the gate. At least one of these cases must be true.
    pub(super) cases: Vec<Map>,
    /// Whether the verdict denies the call; otherwise it ends the search for a matching rule.
    pub(super) denies: bool,
    pub(super) nudge: Option<String>,
}

/// Verdict on a case: whether the call is denied. `None` means `skip`: the next evaluator decides.
type Verdict = Option<bool>;

impl GateImporter<'_> {
    /// Converts all verdicts of an evaluator.
    pub(super) fn convert_evaluator(&mut self, node: &Node, gate: &str) -> Vec<EvaluatorVerdict> {
        let text = |key: &str| node.get(key).and_then(Node::text);
        let nudge = text("nudge").filter(|nudge| !nudge.is_empty()).map(ToOwned::to_owned);
        let kind = text("kind").unwrap_or_default();
        let mut verdict = match kind {
            "always" => match text("action") {
                Some("deny") => vec![EvaluatorVerdict::new("Denies every match", vec![Vec::new()], true)],
                Some("allow") => vec![EvaluatorVerdict::new("Exempts every match", vec![Vec::new()], false)],
                _ => self.reject(node, gate, "`action` must be `allow` or `deny`"),
            },
            "allowlist" => self.convert_list(node, gate, &PACKAGES),
            "host-allowlist" => self.convert_list(node, gate, &HOSTS),
            "typosquat" => self.convert_typosquat(node, gate),
            "pin-tofu" => {
                let message = "`pin-tofu` compares with values stored in a file, which rules cannot do";
                self.leave_out(
                    node.spot,
                    Some(gate),
                    message,
                    "no harness sends the data it needs, so it never had an effect",
                );
                Vec::new()
            }
            kind => self.reject(node, gate, &format!("unknown kind of evaluator `{kind}`")),
        };
        self.unknown_keys(node, kind, gate);
        for verdict in &mut verdict {
            verdict.nudge.clone_from(&nudge);
        }
        verdict
    }

    /// Converts an evaluator with a list: its verdicts on listed names and on other names.
    fn convert_list(&mut self, node: &Node, gate: &str, about: &NameList) -> Vec<EvaluatorVerdict> {
        let Some(list) = self.inline_list(node, "list", gate) else { return Vec::new() };
        let verdict = |key: &str| match node.get(key).and_then(Node::text) {
            Some("allow") => Some(Some(false)),
            Some("deny") => Some(Some(true)),
            Some("skip") => Some(None),
            _ => None,
        };
        let (Some(hit), Some(miss)) = (verdict("on_hit"), verdict("on_miss")) else {
            return self.reject(node, gate, "`on_hit` and `on_miss` must be `allow`, `deny` or `skip`");
        };
        about.verdicts(&list, hit, miss)
    }

    fn convert_typosquat(&mut self, node: &Node, gate: &str) -> Vec<EvaluatorVerdict> {
        let Some(list) = self.inline_list(node, "reference", gate) else { return Vec::new() };
        match node.get("action_on_near_miss").and_then(Node::text) {
            Some("skip") => Vec::new(),
            None | Some("deny") if list.is_empty() => Vec::new(),
            None | Some("deny") => {
                let near = ("package", Tree::Map(vec![("near", packages(&list))]));
                vec![EvaluatorVerdict::new(
                    "Denies a package whose name is similar to a known one",
                    vec![vec![near]],
                    true,
                )]
            }
            Some(_) => self.reject(node, gate, "`action_on_near_miss` must be `deny` or `skip`"),
        }
    }

    /// Returns the names of a list that is given inline.
    fn inline_list(&mut self, node: &Node, key: &str, gate: &str) -> Option<Vec<String>> {
        let Some(list) = node.get(key) else {
            self.leave_out(node.spot, Some(gate), format!("it has no `{key}`"), "");
            return None;
        };
        let Some(inline) = list.text().and_then(|text| text.strip_prefix("__INLINE__:")) else {
            let hint = format!("write the names as `{key}: \"__INLINE__:a,b\"` and import again");
            self.leave_out(
                list.spot,
                Some(gate),
                format!("`{key}` refers to another file, which is not read"),
                &hint,
            );
            return None;
        };
        Some(
            inline.split(',').map(str::trim).filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect(),
        )
    }

    fn reject(&mut self, node: &Node, gate: &str, message: &str) -> Vec<EvaluatorVerdict> {
        self.leave_out(node.spot, Some(gate), message, "OpenAgentLock rejects this as well");
        Vec::new()
    }

    /// Reports keys that this kind of evaluator does not use.
    fn unknown_keys(&mut self, node: &Node, kind: &str, gate: &str) {
        let known: &[&str] = match kind {
            "always" => &["action"],
            "allowlist" | "host-allowlist" => &["list", "on_hit", "on_miss"],
            "typosquat" => &["reference", "action_on_near_miss"],
            _ => return,
        };
        let Value::Map(entries) = &node.value else { return };
        for (key, _) in entries {
            let name = key.text().unwrap_or_default();
            if !["kind", "nudge"].contains(&name) && !known.contains(&name) {
                self.leave_out(key.spot, Some(gate), format!("`{name}` has no effect in `{kind}`"), "");
            }
        }
    }
}

impl EvaluatorVerdict {
    pub(super) fn new(what: &'static str, cases: Vec<Map>, denies: bool) -> Self {
        Self { what, cases, denies, nudge: None }
    }
}

impl NameList {
    /// Combines the verdicts on listed and on other names. Denials come first, because one denied name is enough,
    /// regardless of the other names in the call.
    fn verdicts(&self, list: &[String], hit: Verdict, miss: Verdict) -> Vec<EvaluatorVerdict> {
        let any = || vec![vec![self.known_condition(&[])], vec![self.text_condition(None)]];
        let on = || {
            vec![vec![self.known_condition(&self.listed_globs(list))], vec![self.text_condition(Some(list))]]
        };
        let off = || {
            vec![
                vec![self.known_condition(&self.unlisted_globs(list))],
                vec![self.text_condition(None), self.unlisted_condition(list)],
            ]
        };
        let denied = match (hit, miss) {
            (Some(true), Some(true)) => Some(EvaluatorVerdict::new(self.denies_any, any(), true)),
            (Some(true), _) if !list.is_empty() => Some(EvaluatorVerdict::new(self.denies_on, on(), true)),
            (_, Some(true)) => Some(EvaluatorVerdict::new(self.denies_off, off(), true)),
            _ => None,
        };
        let passed = match (hit, miss) {
            // This case covers everything that was not denied before.
            (Some(false), Some(_)) | (Some(_), Some(false)) => Some(any()),
            (Some(false), None) if !list.is_empty() => Some(on()),
            (None, Some(false)) => Some(off()),
            _ => None,
        };
        denied
            .into_iter()
            .chain(passed.map(|cases| EvaluatorVerdict::new(self.passes, cases, false)))
            .collect()
    }
}
