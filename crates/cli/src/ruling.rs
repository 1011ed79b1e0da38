// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The rules alone: no hooks, no ledger, no home. What `judge`, `scan` and `policy` ask.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenterhook_event::{Decision, Event, EventId, EventKind, Finding, Origin, Timestamp, ToolCall};
use tenterhook_policy::{Facts, Layer, Problem, RuleSet, SessionState, Source, Surroundings};

use crate::error::CommandError;

/// Which rules to judge by, as it is typed.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct RuleArgs {
    /// Judge by the rules of this file as well; may be given more than once
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Vec<PathBuf>,
    /// Leave out the rules that are compiled in
    #[arg(long)]
    pub(crate) no_baseline: bool,
}

/// Rules, and the person in whose home they judge.
pub(crate) struct Rulebook {
    pub(crate) rules: RuleSet,
    pub(crate) problems: Vec<Problem>,
    home: Option<String>,
}

/// What a rule says about one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ruling {
    pub(crate) verdict: Decision,
    pub(crate) rule: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) nudge: Option<String>,
}

// === impl Rulebook ===

impl Rulebook {
    /// The rules that were asked for, without any home.
    pub(crate) fn asked(args: &RuleArgs, person: Option<&Path>) -> Result<Self, CommandError> {
        let mut files = Vec::new();
        for path in &args.policy {
            let text =
                fs_err::read_to_string(path).map_err(|error| CommandError::unusable(error.to_string()))?;
            files.push((path.display().to_string(), text));
        }
        let mut sources = if args.no_baseline { Vec::new() } else { RuleSet::baseline_sources().to_vec() };
        sources.extend(files.iter().map(|(name, text)| Source {
            name,
            text,
            layer: Layer::User,
            trusted: true,
        }));
        let loaded = RuleSet::load_in_haste(&sources);
        let home = person.and_then(Path::to_str).map(ToOwned::to_owned);
        Ok(Self { rules: loaded.rules, problems: loaded.problems, home })
    }

    pub(crate) fn facts(&self, event: &Event) -> Facts {
        tenterhook_policy::facts(
            event,
            &Surroundings { home: self.home.as_deref(), ..Surroundings::default() },
        )
    }

    /// Whether all of a call can be understood.
    pub(crate) fn reads(&self, event: &Event) -> bool {
        self.facts(event).unread.is_empty()
    }

    /// What the rules say together: the strictest counts, and among equals the first.
    pub(crate) fn rule_on(&self, event: &Event) -> Ruling {
        let mut strictest = Ruling::default();
        for ruling in self.rulings_on(event) {
            if ruling.verdict > strictest.verdict {
                strictest = ruling;
            }
        }
        strictest
    }

    /// What every rule that matches says.
    pub(crate) fn rulings_on(&self, event: &Event) -> Vec<Ruling> {
        let judged =
            tenterhook_policy::judge(event, &self.facts(event), &SessionState::default(), &self.rules);
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
    pub(crate) fn whole(self) -> Result<Self, CommandError> {
        let Some(first) = self.problems.first() else { return Ok(self) };
        let more = self.problems.len() - 1;
        let message = if more == 0 { first.to_string() } else { format!("{first} (and {more} more)") };
        Err(CommandError::unusable(message).hint("see them all: `tenterhook policy check FILE`"))
    }
}

/// An event as if an agent were about to call a tool here and now.
pub(crate) fn about_to(tool: ToolCall, cwd: Option<&str>, now: Timestamp) -> Event {
    let id = EventId::from_parts(now.unix_ms(), 0);
    let mut event = Event::new(id, now, "tenterhook", EventKind::PreTool, "PreToolUse");
    event.cwd = cwd.map(ToOwned::to_owned);
    event.project = cwd.map(ToOwned::to_owned);
    event.tool = Some(tool);
    event
}

/// The same for a shell command.
pub(crate) fn about_to_run(command: &str, cwd: Option<&str>, now: Timestamp) -> Event {
    about_to(ToolCall::new("Bash", json!({"command": command})), cwd, now)
}
