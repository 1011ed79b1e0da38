// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The rules alone: no hooks, no ledger, no home. What `judge`, `scan` and `policy` ask.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenterhook_event::{Decision, Event, EventId, EventKind, Finding, Origin, Timestamp, ToolCall};
use tenterhook_home::{Home, Place, Sources, packs};
use tenterhook_policy::{Facts, Layer, Problem, RuleSet, SessionState, Surroundings};

use crate::env::Env;
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
    /// Judge by these packs as well (see `tenterhook rules list`)
    #[arg(long, value_name = "PACK", value_delimiter = ',')]
    pub(crate) packs: Vec<String>,
}

/// Rules, and the person in whose home they judge.
pub(crate) struct Rulebook {
    pub(crate) rules: RuleSet,
    pub(crate) problems: Vec<Problem>,
    home: Option<String>,
    /// Whether it is looked at the disk, where links lead.
    looks: bool,
}

/// What a rule says about one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ruling {
    pub(crate) verdict: Decision,
    pub(crate) rule: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) nudge: Option<String>,
}

// === impl RuleArgs ===

impl RuleArgs {
    /// Whether anything was said about rules.
    pub(crate) fn is_given(&self) -> bool {
        self.no_baseline || !self.policy.is_empty() || !self.packs.is_empty()
    }
}

// === impl Rulebook ===

impl Rulebook {
    /// The rules in force in a home, for an agent that works in a place.
    pub(crate) fn in_force(home: &Home, env: &Env, place: &Place) -> Self {
        let sources = Sources::in_force(home, env, place);
        let loaded = sources.load();
        let person = env.home.as_deref().and_then(Path::to_str).map(ToOwned::to_owned);
        Self { rules: loaded.rules, problems: loaded.problems, home: person, looks: true }
    }

    /// The rules that were asked for, without any home.
    pub(crate) fn asked(args: &RuleArgs, person: Option<&Path>) -> Result<Self, CommandError> {
        let mut sources = Sources::default();
        if let Some(name) = args.packs.iter().find(|name| packs::compiled_in(name).is_none()) {
            let known: Vec<_> = RuleSet::packs().iter().map(|pack| pack.name).collect();
            let error = CommandError::user(format!("there is no pack `{name}`"));
            return Err(error.hint(format!("known: {}", known.join(", "))));
        }
        sources.compiled_in(|pack| {
            pack.on_by_default && !args.no_baseline || args.packs.iter().any(|name| name == pack.name)
        });
        sources.texts.extend(Sources::files(&args.policy, Layer::User)?.texts);
        let loaded = sources.load();
        let home = person.and_then(Path::to_str).map(ToOwned::to_owned);
        Ok(Self { rules: loaded.rules, problems: loaded.problems, home, looks: true })
    }

    /// The same rules in another home, on no disk at all.
    pub(crate) fn at_home(self, home: &str) -> Self {
        Self { home: Some(home.to_owned()), ..self.without_looking() }
    }

    /// The same rules where paths are only their letters: what is judged is not about to run here.
    pub(crate) fn without_looking(self) -> Self {
        Self { looks: false, ..self }
    }

    pub(crate) fn facts(&self, event: &Event) -> Facts {
        let (home, programs) = (self.home.as_deref(), self.rules.programs());
        let around = Surroundings { home, programs, ..Surroundings::default() };
        if self.looks {
            tenterhook_guard::symlinks::facts(event, &around)
        } else {
            tenterhook_policy::facts(event, &around)
        }
    }

    /// Whether all of a call can be understood.
    pub(crate) fn reads(&self, event: &Event) -> bool {
        self.facts(event).unread.is_empty()
    }

    /// What the rules say together: the strictest counts, and among equals the first.
    pub(crate) fn rule_on(&self, event: &Event) -> Ruling {
        self.strictest(event, &SessionState::default())
    }

    /// The same in a session that carries labels.
    pub(crate) fn strictest(&self, event: &Event, state: &SessionState) -> Ruling {
        let mut strictest = Ruling::default();
        for ruling in self.rulings(event, state) {
            if ruling.verdict > strictest.verdict {
                strictest = ruling;
            }
        }
        strictest
    }

    /// What every rule that matches says.
    pub(crate) fn rulings_on(&self, event: &Event) -> Vec<Ruling> {
        self.rulings(event, &SessionState::default())
    }

    /// The same in a session that carries labels.
    pub(crate) fn rulings(&self, event: &Event, state: &SessionState) -> Vec<Ruling> {
        self.rulings_by(event, &self.facts(event), state)
    }

    /// The same by facts that were found before.
    pub(crate) fn rulings_by(&self, event: &Event, facts: &Facts, state: &SessionState) -> Vec<Ruling> {
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
    pub(crate) fn whole(self) -> Result<Self, CommandError> {
        let Some(first) = self.problems.first() else { return Ok(self) };
        let more = self.problems.len() - 1;
        let message = if more == 0 { first.to_string() } else { format!("{first} (and {more} more)") };
        Err(CommandError::user(message).hint("see them all: `tenterhook policy check FILE`"))
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
