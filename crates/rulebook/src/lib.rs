// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates rules without hooks, ledger or state directory.
//!
//! A [`Rulebook`] is a set of rules and the home directory that `~` refers to. It returns a [`Ruling`] for
//! each rule that matches an event. [`command_event`] builds the event of a shell command; [`cases`] runs
//! test cases for rules, and [`read_strict_json`] parses events from untrusted input. The caller loads the
//! rules.

pub mod cases;
mod described;
mod json_lines;
mod strict_json;

use std::path::Path;

use serde_json::json;
use tenterhook_error::Failure;
use tenterhook_event::{Decision, Event, EventId, EventKind, Finding, Origin, Timestamp, ToolCall};
use tenterhook_policy::{EvalEnvironment, Facts, Problem, RuleSet, SessionState};

pub use described::{DescribedProgram, described_programs};
pub use json_lines::{CommandEventFn, RulingLine, is_too_long, judge_line, read_line_bounded};
pub use strict_json::read_strict_json;

/// Derives facts from an event: [`tenterhook_policy::facts`], or a function that also looks at the disk.
pub type FactsFn = fn(&Event, &EvalEnvironment<'_>) -> Facts;

/// Rules, and the home directory of the user they are evaluated for.
pub struct Rulebook {
    /// The rules that can be used.
    pub rules: RuleSet,
    /// Problems with rules that cannot be used.
    pub problems: Vec<Problem>,
    home: Option<String>,
    facts_of: FactsFn,
}

/// Verdict of a rule on one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ruling {
    /// Verdict of the rule.
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
    /// Creates a rulebook for a user with this home directory. Paths are compared as text.
    pub fn new(rules: RuleSet, problems: Vec<Problem>, home: Option<&Path>) -> Self {
        let home = home.and_then(Path::to_str).map(ToOwned::to_owned);
        Self { rules, problems, home, facts_of: tenterhook_policy::facts }
    }

    /// Uses another source of facts, such as one that resolves symbolic links.
    #[must_use]
    pub fn with_facts(self, facts_of: FactsFn) -> Self {
        Self { facts_of, ..self }
    }

    /// Uses another home directory and does not look at the disk.
    #[must_use]
    pub fn with_home(self, home: &str) -> Self {
        Self { home: Some(home.to_owned()), ..self.without_disk() }
    }

    /// Compares paths as text, for commands that will not run on this machine.
    #[must_use]
    pub fn without_disk(self) -> Self {
        self.with_facts(tenterhook_policy::facts)
    }

    /// Returns the facts of an event.
    pub fn facts(&self, event: &Event) -> Facts {
        let (home, programs) = (self.home.as_deref(), self.rules.programs());
        (self.facts_of)(event, &EvalEnvironment { home, programs, ..EvalEnvironment::default() })
    }

    /// Whether a call can be parsed completely.
    pub fn can_parse(&self, event: &Event) -> bool {
        self.facts(event).unread.is_empty()
    }

    /// Returns the strictest ruling on an event; of several equally strict rulings, the first.
    pub fn strictest_ruling(&self, event: &Event) -> Ruling {
        self.strictest(event, &SessionState::default())
    }

    /// Returns the strictest ruling on an event in a session with this state.
    pub fn strictest(&self, event: &Event, state: &SessionState) -> Ruling {
        let mut strictest = Ruling::default();
        for ruling in self.rulings(event, state) {
            if ruling.verdict > strictest.verdict {
                strictest = ruling;
            }
        }
        strictest
    }

    /// Returns the rulings of all rules that match an event.
    pub fn rulings_without_state(&self, event: &Event) -> Vec<Ruling> {
        self.rulings(event, &SessionState::default())
    }

    /// Returns the rulings of all rules that match an event in a session with this state.
    pub fn rulings(&self, event: &Event, state: &SessionState) -> Vec<Ruling> {
        self.rulings_from_facts(event, &self.facts(event), state)
    }

    /// Returns the rulings of all rules that match, given the facts of the event.
    pub fn rulings_from_facts(&self, event: &Event, facts: &Facts, state: &SessionState) -> Vec<Ruling> {
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

    /// Returns an error if a rule cannot be used. Otherwise the verdict of the remaining rules would look
    /// like the verdict of all rules.
    pub fn require_usable(self) -> Result<Self, Failure> {
        let Some(first) = self.problems.first() else { return Ok(self) };
        let more = self.problems.len() - 1;
        let message = if more == 0 { first.to_string() } else { format!("{first} (and {more} more)") };
        Err(Failure::user(message).hint("run `tenterhook check FILE` to see all of them"))
    }
}

/// Creates the event for an agent that is about to call a tool.
pub fn tool_call_event(tool: ToolCall, cwd: Option<&str>, now: Timestamp) -> Event {
    let id = EventId::from_parts(now.unix_ms(), 0);
    let mut event = Event::new(id, now, "tenterhook", EventKind::PreTool, "PreToolUse");
    event.cwd = cwd.map(ToOwned::to_owned);
    event.project = cwd.map(ToOwned::to_owned);
    event.tool = Some(tool);
    event
}

/// Creates the event for an agent that is about to run a shell command.
pub fn command_event(command: &str, cwd: Option<&str>, now: Timestamp) -> Event {
    tool_call_event(ToolCall::new("Bash", json!({"command": command})), cwd, now)
}
