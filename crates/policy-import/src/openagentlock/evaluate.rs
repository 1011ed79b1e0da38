// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a gate says about what it matches → what rules say, in the order they are asked.

use tenterhook_document::{Node, Value};

use super::Reading;
use super::listed::{HOSTS, Listed, PACKAGES, packages};
use tenterhook_document::yaml::{Map, Tree};

/// One thing an evaluator says, and when.
#[derive(Debug)]
pub(super) struct Says {
    /// For people.
    pub(super) what: &'static str,
    /// When, beside what the gate looks for: in one of these cases.
    pub(super) cases: Vec<Map>,
    /// Otherwise it lets pass.
    pub(super) denies: bool,
    pub(super) nudge: Option<String>,
}

/// What is said about a case; `None` is `skip`: the next evaluator is asked.
type Verdict = Option<bool>;

impl Reading<'_> {
    /// Everything an evaluator says.
    pub(super) fn evaluator(&mut self, node: &Node, gate: &str) -> Vec<Says> {
        let text = |key: &str| node.get(key).and_then(Node::text);
        let nudge = text("nudge").filter(|nudge| !nudge.is_empty()).map(ToOwned::to_owned);
        let kind = text("kind").unwrap_or_default();
        let mut says = match kind {
            "always" => match text("action") {
                Some("deny") => vec![Says::new("Denies all of it", vec![Vec::new()], true)],
                Some("allow") => vec![Says::new("Lets all of it pass", vec![Vec::new()], false)],
                _ => self.unusable(node, gate, "its `action` is not `allow` or `deny`"),
            },
            "allowlist" => self.listed(node, gate, &PACKAGES),
            "host-allowlist" => self.listed(node, gate, &HOSTS),
            "typosquat" => self.typosquat(node, gate),
            "pin-tofu" => {
                let message = "`pin-tofu` remembers what it saw before in a file, which no rule can";
                self.left(
                    node.spot,
                    Some(gate),
                    message,
                    "no harness sends it what it needs, so it never spoke",
                );
                Vec::new()
            }
            kind => self.unusable(node, gate, &format!("`{kind}` is no kind of evaluator")),
        };
        self.unknown_keys(node, kind, gate);
        for says in &mut says {
            says.nudge.clone_from(&nudge);
        }
        says
    }

    /// A list of names, and what is said of those on it and of the others.
    fn listed(&mut self, node: &Node, gate: &str, about: &Listed) -> Vec<Says> {
        let Some(list) = self.list(node, "list", gate) else { return Vec::new() };
        let verdict = |key: &str| match node.get(key).and_then(Node::text) {
            Some("allow") => Some(Some(false)),
            Some("deny") => Some(Some(true)),
            Some("skip") => Some(None),
            _ => None,
        };
        let (Some(hit), Some(miss)) = (verdict("on_hit"), verdict("on_miss")) else {
            return self.unusable(node, gate, "`on_hit` and `on_miss` must be `allow`, `deny` or `skip`");
        };
        about.says(&list, hit, miss)
    }

    fn typosquat(&mut self, node: &Node, gate: &str) -> Vec<Says> {
        let Some(list) = self.list(node, "reference", gate) else { return Vec::new() };
        match node.get("action_on_near_miss").and_then(Node::text) {
            Some("skip") => Vec::new(),
            None | Some("deny") if list.is_empty() => Vec::new(),
            None | Some("deny") => {
                let near = ("package", Tree::Map(vec![("near", packages(&list))]));
                vec![Says::new("Denies a package whose name is nearly a known one", vec![vec![near]], true)]
            }
            Some(_) => self.unusable(node, gate, "`action_on_near_miss` must be `deny` or `skip`"),
        }
    }

    /// The names of a list that stands in the policy itself.
    fn list(&mut self, node: &Node, key: &str, gate: &str) -> Option<Vec<String>> {
        let Some(list) = node.get(key) else {
            self.left(node.spot, Some(gate), format!("it has no `{key}`"), "");
            return None;
        };
        let Some(inline) = list.text().and_then(|text| text.strip_prefix("__INLINE__:")) else {
            let hint = format!("write the names as `{key}: \"__INLINE__:a,b\"` and import again");
            self.left(
                list.spot,
                Some(gate),
                format!("`{key}` is another file, which is not read here"),
                &hint,
            );
            return None;
        };
        Some(
            inline.split(',').map(str::trim).filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect(),
        )
    }

    fn unusable(&mut self, node: &Node, gate: &str, message: &str) -> Vec<Says> {
        self.left(node.spot, Some(gate), message, "OpenAgentLock does not start with this either");
        Vec::new()
    }

    /// Keys that this kind of evaluator does not know.
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
                self.left(key.spot, Some(gate), format!("`{name}` decides nothing in `{kind}`"), "");
            }
        }
    }
}

impl Says {
    pub(super) fn new(what: &'static str, cases: Vec<Map>, denies: bool) -> Self {
        Self { what, cases, denies, nudge: None }
    }
}

impl Listed {
    /// What two verdicts come to. What denies is asked first: one name that is not on the list is
    /// enough, whatever else is asked for beside it.
    fn says(&self, list: &[String], hit: Verdict, miss: Verdict) -> Vec<Says> {
        let any = || vec![vec![self.fact(&[])], vec![self.pattern(None)]];
        let on = || vec![vec![self.fact(&self.named(list))], vec![self.pattern(Some(list))]];
        let off = || vec![vec![self.fact(&self.others(list))], vec![self.pattern(None), self.not_of(list)]];
        let denied = match (hit, miss) {
            (Some(true), Some(true)) => Some(Says::new(self.denies_any, any(), true)),
            (Some(true), _) if !list.is_empty() => Some(Says::new(self.denies_on, on(), true)),
            (_, Some(true)) => Some(Says::new(self.denies_off, off(), true)),
            _ => None,
        };
        let passed = match (hit, miss) {
            // Whatever is left when what is denied has been.
            (Some(false), Some(_)) | (Some(_), Some(false)) => Some(any()),
            (Some(false), None) if !list.is_empty() => Some(on()),
            (None, Some(false)) => Some(off()),
            _ => None,
        };
        denied.into_iter().chain(passed.map(|cases| Says::new(self.passes, cases, false))).collect()
    }
}
