// SPDX-License-Identifier: Apache-2.0 OR MIT

//! OpenAgentLock's gates → rules.
//!
//! There, the first gate that matches and does not say `skip` decides, and `allow` means that
//! nothing is said. So the file is one of `order: first`, and a gate that allows becomes a rule with
//! `verdict: none`: it ends the search and vouches for nothing.

mod evaluate;
mod gate;
mod listed;
mod matches;
mod re2;

use tenterhook_document::{Node, Problem, Spot, Value, parse};

use super::Imported;
use super::draft::{Draft, Ids, file};
use tenterhook_document::yaml::{Map, Tree};

/// What the whole program was told to do with what its gates say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Daemon {
    /// A deny is a deny, also one of a gate that should only watch. Its default.
    #[default]
    Firewall,
    /// Nothing is denied.
    Monitor,
}

/// The file a repository brings along.
const OF_A_PROJECT: &str = ".agentlock.yaml";

/// What is read, and what is told about it.
struct Reading<'a> {
    name: &'a str,
    daemon: Daemon,
    /// A repository's own file: it can only deny.
    project: bool,
    left_out: Vec<Problem>,
}

/// Makes rules of OpenAgentLock's gates, as they work under its default mode.
#[expect(clippy::result_large_err, reason = "once for a whole file")]
pub fn openagentlock(name: &str, text: &str) -> Result<Imported, Problem> {
    openagentlock_under(Daemon::default(), name, text)
}

/// Makes rules of OpenAgentLock's gates, as they work under a mode of its daemon. A file called
/// `.agentlock.yaml` becomes one for a project: only what denies is carried.
#[expect(clippy::result_large_err, reason = "once for a whole file")]
pub fn openagentlock_under(daemon: Daemon, name: &str, text: &str) -> Result<Imported, Problem> {
    let document = parse(text).map_err(|(spot, message)| Problem::new(name, spot, message))?;
    let gates = match document.get("gates").map(|node| (node.spot, &node.value)) {
        Some((_, Value::List(gates))) => gates.as_slice(),
        Some((_, Value::Null)) => &[],
        Some((spot, _)) => return Err(Problem::new(name, spot, "`gates` must be a list")),
        None => {
            return Err(Problem::new(name, document.spot, "there are no `gates` in it")
                .hint("name a policy file or an `.agentlock.yaml` of OpenAgentLock"));
        }
    };
    let project = name.rsplit('/').next() == Some(OF_A_PROJECT);
    let mut reading = Reading { name, daemon, project, left_out: Vec::new() };
    let watches = reading.head(&document)?;

    let mut ids = Ids::new();
    let mut drafts: Vec<Draft> = Vec::new();
    let mut carried = 0;
    for gate in gates {
        let made = reading.gate(gate, watches, &mut ids);
        carried += usize::from(!made.is_empty());
        drafts.extend(made);
    }
    Ok(Imported { yaml: reading.file(&drafts), carried, left_out: reading.left_out })
}

// === impl Reading ===

impl Reading<'_> {
    /// The keys above the gates; whether gates only watch where they do not say.
    #[expect(clippy::result_large_err, reason = "once for a whole file")]
    fn head(&mut self, document: &Node) -> Result<bool, Problem> {
        let Value::Map(entries) = &document.value else { return Ok(true) };
        let mut watches = true;
        for (key, value) in entries {
            match (key.text().unwrap_or_default(), value.text()) {
                ("version" | "gates", _) => {}
                // A repository's file has no mode of its own.
                ("mode", Some("enforce" | "monitor")) if self.project => {}
                ("mode", Some(mode @ ("enforce" | "monitor"))) => watches = mode == "monitor",
                ("mode", _) => {
                    return Err(Problem::new(self.name, value.spot, "`mode` must be `enforce` or `monitor`"));
                }
                ("defaults", _) => self.left(key.spot, None, "`defaults` has no effect in OpenAgentLock", ""),
                ("inherits" | "groups" | "users" | "members" | "extends", _) => {
                    let message =
                        format!("`{}`: policies of groups and users", key.text().unwrap_or_default());
                    let hint = "import each file by itself; rules here can name a `user` or a `group`";
                    self.left(key.spot, None, message, hint);
                }
                (name, _) => {
                    self.left(key.spot, None, format!("`{name}` has no effect in OpenAgentLock"), "");
                }
            }
        }
        Ok(watches && !self.project)
    }

    fn file(&self, drafts: &[Draft]) -> String {
        let mut notes =
            vec![format!("Made by `tenterhook policy import` from OpenAgentLock's {}.", self.name)];
        let mut head: Map = Vec::new();
        if self.daemon == Daemon::Monitor {
            head.push(("mode", Tree::text("monitor")));
        }
        if self.project {
            notes.push("Before `tenterhook policy trust`, a rule with a nudge is not in force.".to_owned());
        } else {
            notes.push(
                "The first rule that matches decides; `verdict: none` lets pass without vouching.".to_owned(),
            );
            head.push(("order", Tree::text("first")));
        }
        if !self.left_out.is_empty() {
            let lines = self.left_out.iter().filter_map(|problem| problem.line);
            let mut lines: Vec<_> = lines.map(|line| line.to_string()).collect();
            lines.dedup();
            notes.push(format!("Not everything could be carried over: see its lines {}.", lines.join(", ")));
        }
        file(&notes, &head, drafts)
    }

    /// Tells what is not carried over.
    fn left(&mut self, spot: Spot, gate: Option<&str>, message: impl Into<String>, hint: &str) {
        let problem = Problem::new(self.name, spot, message).about("gate", gate);
        self.left_out.push(if hint.is_empty() { problem } else { problem.hint(hint) });
    }
}
