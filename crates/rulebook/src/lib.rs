// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates rules alone: no hooks, no ledger, no state directory.
//!
//! A [`Rulebook`] is a set of rules and the home directory that `~` stands for. It returns a [`Ruling`] for each rule
//! that matches an event. [`about_to_run`] makes the event of a shell command; [`cases`] runs test cases for rules, and
//! [`read_strict_json`] reads events that others wrote.
//! Where the rules come from is for the caller to say.

pub mod cases;
mod described;
mod json_lines;
mod strict_json;

use std::path::Path;

use serde_json::json;
use tenterhook_error::Failure;
use tenterhook_event::{Decision, Event, EventId, EventKind, Finding, Origin, Timestamp, ToolCall};
use tenterhook_policy::{Facts, Problem, RuleSet, SessionState, Surroundings};

pub use described::{DescribedProgram, described_programs};
pub use json_lines::{CommandEventFn, RulingLine, is_too_long, judge_line, read_line_bounded};
pub use strict_json::read_strict_json;

/// Extracts facts from an event: [`tenterhook_policy::facts`], or a function that looks at the disk as well.
pub type FactsFn = fn(&Event, &Surroundings<'_>) -> Facts;

/// Rules, and the home directory of the user they are evaluated for.
pub struct Rulebook {
    /// The rules that can be used.
    pub rules: RuleSet,
    /// The rules that cannot be used, and why.
    pub problems: Vec<Problem>,
    home: Option<String>,
    facts_of: FactsFn,
}

/// What a rule says about one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ruling {
    /// What the rule decides.
    pub verdict: Decision,
    /// Id of the rule.
    pub rule: Option<String>,
    /// Reason shown to the user and the model.
    pub reason: Option<String>,
    /// Suggestion of what to do instead.
    pub nudge: Option<String>,
}

// === impl Rulebook ===

impl Rulebook {
    /// Rules for a user with this home directory, and what is wrong with them. Paths are compared as text.
    pub fn new(rules: RuleSet, problems: Vec<Problem>, home: Option<&Path>) -> Self {
        let home = home.and_then(Path::to_str).map(ToOwned::to_owned);
        Self { rules, problems, home, facts_of: tenterhook_policy::facts }
    }

    /// The same rules with another source of facts, such as one that resolves symbolic links.
    #[must_use]
    pub fn with_facts(self, facts_of: FactsFn) -> Self {
        Self { facts_of, ..self }
    }

    /// The same rules in another home directory, without looking at the disk.
    #[must_use]
    pub fn at_home(self, home: &str) -> Self {
        Self { home: Some(home.to_owned()), ..self.without_looking() }
    }

    /// The same rules where paths are compared as text: the commands are not about to run on this machine.
    #[must_use]
    pub fn without_looking(self) -> Self {
        self.with_facts(tenterhook_policy::facts)
    }

    /// What the event would do.
    pub fn facts(&self, event: &Event) -> Facts {
        let (home, programs) = (self.home.as_deref(), self.rules.programs());
        (self.facts_of)(event, &Surroundings { home, programs, ..Surroundings::default() })
    }

    /// Whether all of a call can be understood.
    pub fn reads(&self, event: &Event) -> bool {
        self.facts(event).unread.is_empty()
    }

    /// What the rules say together: the strictest counts, and among equals the first.
    pub fn rule_on(&self, event: &Event) -> Ruling {
        self.strictest(event, &SessionState::default())
    }

    /// The same in a session that carries labels.
    pub fn strictest(&self, event: &Event, state: &SessionState) -> Ruling {
        let mut strictest = Ruling::default();
        for ruling in self.rulings(event, state) {
            if ruling.verdict > strictest.verdict {
                strictest = ruling;
            }
        }
        strictest
    }

    /// What every rule that matches says.
    pub fn rulings_on(&self, event: &Event) -> Vec<Ruling> {
        self.rulings(event, &SessionState::default())
    }

    /// The same in a session that carries labels.
    pub fn rulings(&self, event: &Event, state: &SessionState) -> Vec<Ruling> {
        self.rulings_by(event, &self.facts(event), state)
    }

    /// The same by facts that were found before.
    pub fn rulings_by(&self, event: &Event, facts: &Facts, state: &SessionState) -> Vec<Ruling> {
        let judged = tenterhook_policy::judge(event, facts, state, &self.rules);
        let ruling = |finding: Finding| Ruling {
            verdict: finding.decision,
            rule: match finding.by {
                Origin::Rule(id) => Some(id.to_string()),
                _ => None,
            },
            reason: finding.reason,
            nudge: finding.nudge,
        };
        judged.findings.into_iter().map(ruling).collect()
    }

    /// An error if a rule that was asked for cannot be used: judging by half of the rules would look
    /// like judging by all of them.
    pub fn whole(self) -> Result<Self, Failure> {
        let Some(first) = self.problems.first() else { return Ok(self) };
        let more = self.problems.len() - 1;
        let message = if more == 0 { first.to_string() } else { format!("{first} (and {more} more)") };
        Err(Failure::user(message).hint("see them all: `tenterhook policy check FILE`"))
    }
}

/// An event as if an agent were about to call a tool here and now.
pub fn about_to(tool: ToolCall, cwd: Option<&str>, now: Timestamp) -> Event {
    let id = EventId::from_parts(now.unix_ms(), 0);
    let mut event = Event::new(id, now, "tenterhook", EventKind::PreTool, "PreToolUse");
    event.cwd = cwd.map(ToOwned::to_owned);
    event.project = cwd.map(ToOwned::to_owned);
    event.tool = Some(tool);
    event
}

/// The same for a shell command.
pub fn about_to_run(command: &str, cwd: Option<&str>, now: Timestamp) -> Event {
    about_to(ToolCall::new("Bash", json!({"command": command})), cwd, now)
}
