// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `doctor`: looks at everything that a guard depends on, and says what to do about each thing.

mod files;
mod harnesses;
mod probe;
mod prove;
mod record;
mod rules;
mod service;

use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tenterhook_home::Home;

use crate::context::Context;
use crate::error::CommandError;
use crate::setup::CliHost;
use crate::terminal::{BAD, BOLD, DIM, GOOD, WARN, count};

const EXAMPLES: &str = "\
Looked at are the home and who can write to it, the programs in it, the daemon, its socket and token, the
rules with all their examples, the ledger and the spool, the clock, and how each harness is wired.

Exit codes: 0 nothing is broken (there may be warnings); 1 something is.

Examples:
  tenterhook doctor
  tenterhook doctor --fix       also does what can be done without asking
  tenterhook doctor --probe     waits until a harness that is wired calls, to see that it does
  tenterhook doctor --prove     runs each installed client once, and reports whether its hook fires
  tenterhook doctor --prove claude-code codex
  tenterhook doctor --json

`--prove` runs the client's own program from the PATH against a scripted model on 127.0.0.1. The model asks for two
harmless commands (`touch` in a temporary directory), and a rule of the proof denies one. The client gets a copy of the
settings that decide about hooks, an empty home and a clean environment; your settings, your ledger and your daemon are
not used, and hooks of other programs do not run. Results: proven, not fired, fired but not obeyed, not provable. Exit
code 1: a hook was not fired or not obeyed, or a client that you named is not provable.";

/// Look at everything a guard depends on, and say what to do
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Do what can be done without asking: permissions, leftovers, lost wiring, a daemon
    #[arg(long)]
    fix: bool,
    /// Wait for a hook to be called: of this harness, else of any that is wired
    #[arg(long, value_name = "HARNESS", num_args = 0..=1, group = "timed")]
    #[expect(clippy::option_option, reason = "so clap says an option whose value may be left out")]
    probe: Option<Option<String>>,
    /// Run installed clients, or the named ones, against a scripted model, and report whether their hooks fire
    #[arg(long, value_name = "HARNESS", num_args = 0.., group = "timed", conflicts_with_all = ["fix", "probe"])]
    prove: Option<Vec<String>>,
    /// How long to wait for a hook, or for each client, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "timed")]
    within: u64,
}

/// How one thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Standing {
    Good,
    Warning,
    Broken,
}

/// One thing that was looked at.
#[derive(Serialize)]
struct Finding {
    /// What was looked at.
    about: String,
    standing: Standing,
    /// How it stands, in a sentence.
    says: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    /// Whether that was done.
    fixed: bool,
    #[serde(skip)]
    mend: Option<Mend>,
}

/// Does what the fix says.
type Mend = Box<dyn FnOnce(&Context) -> Result<(), CommandError>>;

/// What every examination is given.
struct Patient<'a> {
    context: &'a Context,
    home: &'a Home,
    findings: Vec<Finding>,
}

impl<'a> Patient<'a> {
    fn host(&self) -> CliHost<'a> {
        CliHost { context: self.context, home: self.home }
    }
}

impl Finding {
    /// The same with what to do about it.
    fn fix(&mut self, fix: impl Into<String>) -> &mut Self {
        self.fix = Some(fix.into());
        self
    }

    /// The same with how that is done.
    fn mend(&mut self, mend: impl FnOnce(&Context) -> Result<(), CommandError> + 'static) -> &mut Self {
        self.mend = Some(Box::new(mend));
        self
    }
}

impl Patient<'_> {
    fn good(&mut self, about: &str, says: impl Into<String>) {
        self.found(about, Standing::Good, says);
    }

    fn warning(&mut self, about: &str, says: impl Into<String>) -> &mut Finding {
        self.found(about, Standing::Warning, says)
    }

    fn broken(&mut self, about: &str, says: impl Into<String>) -> &mut Finding {
        self.found(about, Standing::Broken, says)
    }

    #[expect(clippy::indexing_slicing, reason = "it was pushed a line before")]
    fn found(&mut self, about: &str, standing: Standing, says: impl Into<String>) -> &mut Finding {
        let (about, says) = (about.to_owned(), says.into());
        self.findings.push(Finding { about, standing, says, fix: None, fixed: false, mend: None });
        let last = self.findings.len() - 1;
        &mut self.findings[last]
    }
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    if let Some(named) = &args.prove {
        return prove::run(context, named, Duration::from_secs(args.within));
    }
    let home = context.home()?;
    let mut patient = Patient { context, home, findings: Vec::new() };
    if let Some(harness) = &args.probe {
        probe::examine(&mut patient, harness.as_deref(), args.within)?;
    }
    files::examine(&mut patient);
    service::examine(&mut patient);
    rules::examine(&mut patient);
    record::examine(&mut patient);
    harnesses::examine(&mut patient);
    let mut findings = patient.findings;
    if args.fix {
        for finding in &mut findings {
            let Some(mend) = finding.mend.take() else { continue };
            match mend(context) {
                Ok(()) => finding.fixed = true,
                Err(error) => finding.says += &format!(" (and could not be mended: {})", error.message),
            }
        }
    }
    let left = |standing: Standing| {
        findings.iter().filter(|finding| finding.standing == standing && !finding.fixed).count()
    };
    let (broken, warnings) = (left(Standing::Broken), left(Standing::Warning));
    if context.terminal.json {
        context.terminal.print_json(&json!({"healthy": broken == 0, "findings": findings}))?;
    } else {
        let mut text: String = findings.iter().map(line).collect();
        text += &match (broken, warnings) {
            (0, 0) => format!("{GOOD}✓ all is well{GOOD:#}\n"),
            (0, some) => format!("{GOOD}✓ nothing is broken{GOOD:#}, {}\n", count(some, "warning")),
            (some, more) => format!(
                "{BAD}✗ {} broken{BAD:#}, {}\n",
                if some == 1 { "1 thing is".to_owned() } else { format!("{some} things are") },
                count(more, "warning")
            ),
        };
        let mendable = findings.iter().any(|finding| finding.mend.is_some() && !finding.fixed);
        if mendable && !args.fix {
            text += &format!("{DIM}`tenterhook doctor --fix` does some of it{DIM:#}\n");
        }
        context.terminal.say(&text)?;
    }
    Ok(if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// So many of something, in plain letters: it may go into JSON.
fn many(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn line(finding: &Finding) -> String {
    let (mark, style) = match (finding.fixed, finding.standing) {
        (true, _) | (_, Standing::Good) => ("✓", GOOD),
        (_, Standing::Warning) => ("!", WARN),
        (_, Standing::Broken) => ("✗", BAD),
    };
    let mut line = format!("{style}{mark}{style:#} {BOLD}{}{BOLD:#}: {}\n", finding.about, finding.says);
    match (&finding.fix, finding.fixed) {
        (Some(fix), true) => line += &format!("  {DIM}done: {fix}{DIM:#}\n"),
        (Some(fix), false) => line += &format!("  {DIM}→ {fix}{DIM:#}\n"),
        (None, _) => {}
    }
    line
}
