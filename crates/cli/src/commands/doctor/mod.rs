// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `doctor`: checks the parts of an installation, and suggests a fix for each problem.

mod files;
mod harnesses;
mod ledger_state;
mod probe;
mod prove;
mod rules;
mod service;

use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tenterhook_home::Home;

use crate::commands::run::{describe_available_level, undo_interrupted};
use crate::context::Context;
use crate::error::CommandError;
use crate::setup::CliHost;
use crate::terminal::{BAD, BOLD, DIM, GOOD, WARN, count};

const EXAMPLES: &str = "\
Checks the state directory and its permissions, the installed programs, the daemon, its socket and token, the \
rules with all their examples, the ledger and the spool, the clock, and the hook settings of each harness.

Exit codes: 0 nothing is broken (there may be warnings); 1 something is broken.

Examples:
  tenterhook doctor
  tenterhook doctor --fix       also fix what needs no decision
  tenterhook doctor --probe     wait for a call of a guarded harness
  tenterhook doctor --prove     run each client once: does its hook fire?
  tenterhook doctor --prove claude-code codex
  tenterhook doctor --posture   list what agents could reach, with a fix per line; exit code 1 if something is open
  tenterhook doctor --json

`--prove` runs the client's own program from the PATH against a scripted model on 127.0.0.1. The model asks for two \
harmless commands (`touch` in a temporary directory), and a rule made for the test denies one. The client gets a copy of \
the settings that affect hooks, an empty home directory and a clean environment; your settings, your ledger and your \
daemon are not used, and hooks of other programs do not run. Results: proven, not fired, fired but not obeyed, not \
provable. Exit code 1: a hook was not fired or not obeyed, or a client that you named is not provable.";

/// Check the installation and suggest fixes
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Fix what needs no decision: permissions, leftover files, missing hook settings, the daemon
    #[arg(long)]
    fix: bool,
    /// Wait for a hook call of this harness, or of any guarded harness
    #[arg(long, value_name = "HARNESS", num_args = 0..=1, group = "timed")]
    #[expect(clippy::option_option, reason = "clap's form of an option with an optional value")]
    probe: Option<Option<String>>,
    /// Run installed clients, or the named ones, against a scripted model, and report whether their hooks fire
    #[arg(long, value_name = "HARNESS", num_args = 0.., group = "timed", conflicts_with_all = ["fix", "probe"])]
    prove: Option<Vec<String>>,
    /// Report what agents could reach: credential files, agents without a guard, rules that are off
    #[arg(long, conflicts_with_all = ["fix", "probe", "prove"])]
    posture: bool,
    /// Seconds to wait for a hook call, or for each client
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "timed")]
    within: u64,
}

/// Status of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum FindingStatus {
    Good,
    Warning,
    Broken,
}

/// Result of one check.
#[derive(Serialize)]
struct DoctorFinding {
    /// Subject of the check.
    about: String,
    standing: FindingStatus,
    /// Status, as a sentence.
    says: String,
    /// Fix that is suggested to the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    /// Whether `--fix` applied the fix.
    fixed: bool,
    #[serde(skip)]
    apply_fix: Option<FixFn>,
}

/// Function that applies a fix.
type FixFn = Box<dyn FnOnce(&Context) -> Result<(), CommandError>>;

/// State and findings of one doctor run.
struct Examination<'a> {
    context: &'a Context,
    home: &'a Home,
    findings: Vec<DoctorFinding>,
}

impl<'a> Examination<'a> {
    fn host(&self) -> CliHost<'a> {
        CliHost { context: self.context, home: self.home }
    }
}

impl DoctorFinding {
    /// Adds the suggested fix.
    fn fix(&mut self, fix: impl Into<String>) -> &mut Self {
        self.fix = Some(fix.into());
        self
    }

    /// Adds the function that applies the fix.
    fn with_fix(
        &mut self,
        apply_fix: impl FnOnce(&Context) -> Result<(), CommandError> + 'static,
    ) -> &mut Self {
        self.apply_fix = Some(Box::new(apply_fix));
        self
    }
}

impl Examination<'_> {
    fn good(&mut self, about: &str, says: impl Into<String>) {
        self.push(about, FindingStatus::Good, says);
    }

    fn warning(&mut self, about: &str, says: impl Into<String>) -> &mut DoctorFinding {
        self.push(about, FindingStatus::Warning, says)
    }

    fn broken(&mut self, about: &str, says: impl Into<String>) -> &mut DoctorFinding {
        self.push(about, FindingStatus::Broken, says)
    }

    #[expect(clippy::indexing_slicing, reason = "the entry was pushed in the line above")]
    fn push(&mut self, about: &str, standing: FindingStatus, says: impl Into<String>) -> &mut DoctorFinding {
        let (about, says) = (about.to_owned(), says.into());
        self.findings.push(DoctorFinding { about, standing, says, fix: None, fixed: false, apply_fix: None });
        let last = self.findings.len() - 1;
        &mut self.findings[last]
    }
}

/// Names the sandbox that this machine supports. Nothing is broken if it supports none: a sandbox is optional.
fn check_sandbox(examination: &mut Examination<'_>) {
    let (is_complete, text) = describe_available_level();
    if is_complete {
        examination.good("sandbox", text);
    } else {
        examination.warning("sandbox", text);
    }
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    if let Some(named) = &args.prove {
        return prove::run(context, named, Duration::from_secs(args.within));
    }
    let home = context.home()?;
    undo_interrupted(context, home)?;
    if args.posture {
        return report_posture(context, &CliHost { context, home });
    }
    let mut examination = Examination { context, home, findings: Vec::new() };
    if let Some(harness) = &args.probe {
        probe::wait_for_call(&mut examination, harness.as_deref(), args.within)?;
    }
    files::check_files(&mut examination);
    service::check_service(&mut examination);
    rules::check_rules(&mut examination);
    ledger_state::check_ledger_state(&mut examination);
    harnesses::check_harnesses(&mut examination);
    check_sandbox(&mut examination);
    let mut findings = examination.findings;
    if args.fix {
        for finding in &mut findings {
            let Some(apply_fix) = finding.apply_fix.take() else { continue };
            match apply_fix(context) {
                Ok(()) => finding.fixed = true,
                Err(error) => finding.says += &format!(" (fix failed: {})", error.message),
            }
        }
    }
    let left = |standing: FindingStatus| {
        findings.iter().filter(|finding| finding.standing == standing && !finding.fixed).count()
    };
    let (broken, warnings) = (left(FindingStatus::Broken), left(FindingStatus::Warning));
    if context.terminal.json {
        context.terminal.print_json(&json!({"healthy": broken == 0, "findings": findings}))?;
    } else {
        let mut text: String = findings.iter().map(finding_line).collect();
        text += &match (broken, warnings) {
            (0, 0) => format!("{GOOD}✓ no problems found{GOOD:#}\n"),
            (0, some) => format!("{GOOD}✓ nothing is broken{GOOD:#}, {}\n", count(some, "warning")),
            (some, more) => format!(
                "{BAD}✗ {} broken{BAD:#}, {}\n",
                if some == 1 { "1 thing is".to_owned() } else { format!("{some} things are") },
                count(more, "warning")
            ),
        };
        let is_fixable = findings.iter().any(|finding| finding.apply_fix.is_some() && !finding.fixed);
        if is_fixable && !args.fix {
            text += &format!("{DIM}`tenterhook doctor --fix` applies fixes that need no decision{DIM:#}\n");
        }
        context.terminal.print(&text)?;
    }
    Ok(if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn report_posture(context: &Context, host: &CliHost<'_>) -> Result<ExitCode, CommandError> {
    let report = tenterhook_posture::check_posture(&host.setup(), tenterhook_home::call_meta::now());
    if context.terminal.json {
        context.terminal.print_json(&report)?;
    } else {
        context.terminal.print(&report.text())?;
    }
    Ok(if report.closed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Formats a count with its noun, without styles because the result may be part of JSON.
fn count_text(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn finding_line(finding: &DoctorFinding) -> String {
    let (mark, style) = match (finding.fixed, finding.standing) {
        (true, _) | (_, FindingStatus::Good) => ("✓", GOOD),
        (_, FindingStatus::Warning) => ("!", WARN),
        (_, FindingStatus::Broken) => ("✗", BAD),
    };
    let mut line = format!("{style}{mark}{style:#} {BOLD}{}{BOLD:#}: {}\n", finding.about, finding.says);
    match (&finding.fix, finding.fixed) {
        (Some(fix), true) => line += &format!("  {DIM}done: {fix}{DIM:#}\n"),
        (Some(fix), false) => line += &format!("  {DIM}→ {fix}{DIM:#}\n"),
        (None, _) => {}
    }
    line
}
