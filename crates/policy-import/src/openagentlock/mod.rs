// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts the policy of OpenAgentLock, another guard for agents, to rules. OpenAgentLock calls its rules gates.
//!
//! In OpenAgentLock, the first gate that matches and does not `skip` decides, and `allow` only means that no gate
//! denies. The rule file therefore has `order: first`, and a gate that allows becomes a rule with `verdict: none`,
//! which ends the search but does not allow the call.

mod evaluate;
mod gate;
mod listed;
mod matches;
mod re2;

use tenterhook_document::{Node, Problem, Spot, Value, parse};

use super::ImportedRules;
use super::draft::{ImportedRule, RuleIdGenerator, write_rule_file};
use tenterhook_document::yaml::{Map, Tree};

/// Mode of OpenAgentLock's daemon.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OpenAgentLockMode {
    /// Denials are enforced, even those of gates in monitor mode. The default.
    #[default]
    Firewall,
    /// Nothing is denied.
    Monitor,
}

/// Name of the policy file in a repository.
const PROJECT_FILE_NAME: &str = ".agentlock.yaml";

/// State of one conversion.
struct GateImporter<'a> {
    name: &'a str,
    daemon: OpenAgentLockMode,
    /// Whether the file belongs to a repository. A repository's file can only deny.
    project: bool,
    left_out: Vec<Problem>,
}

/// Converts OpenAgentLock's gates, as they work in the default mode of its daemon.
#[expect(clippy::result_large_err, reason = "once for a whole file")]
pub fn import_openagentlock(name: &str, text: &str) -> Result<ImportedRules, Problem> {
    import_openagentlock_in_mode(OpenAgentLockMode::default(), name, text)
}

/// Converts OpenAgentLock's gates, as they work in the given mode of its daemon. A file named `.agentlock.yaml` becomes
/// a rule file for a project: only denials are converted.
#[expect(clippy::result_large_err, reason = "once for a whole file")]
pub fn import_openagentlock_in_mode(
    daemon: OpenAgentLockMode,
    name: &str,
    text: &str,
) -> Result<ImportedRules, Problem> {
    let document = parse(text).map_err(|(spot, message)| Problem::new(name, spot, message))?;
    let gates = match document.get("gates").map(|node| (node.spot, &node.value)) {
        Some((_, Value::List(gates))) => gates.as_slice(),
        Some((_, Value::Null)) => &[],
        Some((spot, _)) => return Err(Problem::new(name, spot, "`gates` must be a list")),
        None => {
            return Err(Problem::new(name, document.spot, "the file has no `gates`")
                .hint("name a policy file or an `.agentlock.yaml` of OpenAgentLock"));
        }
    };
    let project = name.rsplit('/').next() == Some(PROJECT_FILE_NAME);
    let mut importer = GateImporter { name, daemon, project, left_out: Vec::new() };
    let monitored = importer.read_head(&document)?;

    let mut ids = RuleIdGenerator::new();
    let mut drafts: Vec<ImportedRule> = Vec::new();
    let mut carried = 0;
    for gate in gates {
        let made = importer.convert_gate(gate, monitored, &mut ids);
        carried += usize::from(!made.is_empty());
        drafts.extend(made);
    }
    Ok(ImportedRules { yaml: importer.write_file(&drafts), carried, left_out: importer.left_out })
}

// === impl GateImporter ===

impl GateImporter<'_> {
    /// Reads the keys above the gates; returns whether gates are only monitored by default.
    #[expect(clippy::result_large_err, reason = "once for a whole file")]
    fn read_head(&mut self, document: &Node) -> Result<bool, Problem> {
        let Value::Map(entries) = &document.value else { return Ok(true) };
        let mut monitored = true;
        for (key, value) in entries {
            match (key.text().unwrap_or_default(), value.text()) {
                ("version" | "gates", _) => {}
                // A repository's file has no mode of its own.
                ("mode", Some("enforce" | "monitor")) if self.project => {}
                ("mode", Some(mode @ ("enforce" | "monitor"))) => monitored = mode == "monitor",
                ("mode", _) => {
                    return Err(Problem::new(self.name, value.spot, "`mode` must be `enforce` or `monitor`"));
                }
                ("defaults", _) => {
                    self.leave_out(key.spot, None, "`defaults` has no effect in OpenAgentLock", "");
                }
                ("inherits" | "groups" | "users" | "members" | "extends", _) => {
                    let message =
                        format!("`{}`: policies of groups and users", key.text().unwrap_or_default());
                    let hint = "import each file separately; rules can have a `user` or `group` condition";
                    self.leave_out(key.spot, None, message, hint);
                }
                (name, _) => {
                    self.leave_out(key.spot, None, format!("`{name}` has no effect in OpenAgentLock"), "");
                }
            }
        }
        Ok(monitored && !self.project)
    }

    fn write_file(&self, drafts: &[ImportedRule]) -> String {
        let mut notes =
            vec![format!("Made by `tenterhook policy import` from OpenAgentLock's {}.", self.name)];
        let mut head: Map = Vec::new();
        if self.daemon == OpenAgentLockMode::Monitor {
            head.push(("mode", Tree::text("monitor")));
        }
        if self.project {
            notes.push("Until `tenterhook policy trust`, rules with a nudge are not active.".to_owned());
        } else {
            notes.push(
                "The first matching rule decides; `verdict: none` ends the search without allowing."
                    .to_owned(),
            );
            head.push(("order", Tree::text("first")));
        }
        if !self.left_out.is_empty() {
            let lines = self.left_out.iter().filter_map(|problem| problem.line);
            let mut lines: Vec<_> = lines.map(|line| line.to_string()).collect();
            lines.dedup();
            notes.push(format!("Not everything could be converted: see lines {}.", lines.join(", ")));
        }
        write_rule_file(&notes, &head, drafts)
    }

    /// Records an item that is not converted.
    fn leave_out(&mut self, spot: Spot, gate: Option<&str>, message: impl Into<String>, hint: &str) {
        let problem = Problem::new(self.name, spot, message).about("gate", gate);
        self.left_out.push(if hint.is_empty() { problem } else { problem.hint(hint) });
    }
}
