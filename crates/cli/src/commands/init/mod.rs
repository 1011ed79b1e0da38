// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `init`: sets Tenterhook up, one step after the other. The steps are in [`STEPS`]; each is a module.

mod agents_step;
mod audit_step;
mod daemon_step;
mod interrupt;
mod mode_step;
mod notify_step;
mod progress;
mod shell_step;
mod step;

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use self::interrupt::InterruptGuard;
use self::progress::InitProgress;
use self::step::{InitSite, InitStep, StepPlan, StepReport, UserChoice};
use super::choices::{ChoiceAnswer, ChoiceList, read_line};
use crate::context::Context;
use crate::error::CommandError;
use crate::setup::refuse_guarded_agent;
use crate::terminal::{BAD, BOLD, DIM, GOOD, Terminal};

const EXAMPLES: &str = "\
Each step shows what it found and asks before it changes anything; a step can be skipped. Ctrl-C or `q` stops, and \
the next `tenterhook init` continues: finished steps are checked and left out. With --yes the marked choices are \
made: guard every agent that was found, start the daemon, add the program to the PATH, no notifications.

Exit codes: 0 every step is finished or was skipped; 1 a step failed; 2 wrong usage, or neither a terminal nor --yes.

Examples:
  tenterhook init
  tenterhook init --dry-run               what it would do
  tenterhook init --yes --skip shell      in a script
  tenterhook init --only notify           one step, also if it is finished";

/// Exit code if questions cannot be asked.
const EXIT_NO_TERMINAL: u8 = 2;

/// The steps, in order.
const STEPS: &[&dyn InitStep] = &[
    &audit_step::AuditStep,
    &agents_step::AgentsStep,
    &daemon_step::DaemonStep,
    &shell_step::ShellStep,
    &mode_step::ModeStep,
    &notify_step::NotifyStep,
];

/// Set up step by step: audit, agents, daemon, shell, notifications
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only these steps, even if they are finished
    #[arg(long, value_name = "STEP", value_delimiter = ',', value_parser = step_names(), conflicts_with = "skip")]
    only: Vec<String>,
    /// Leave these steps out
    #[arg(long, value_name = "STEP", value_delimiter = ',', value_parser = step_names())]
    skip: Vec<String>,
    /// Make the marked choices without asking
    #[arg(long, short)]
    yes: bool,
    /// Show what each step would do, without doing it
    #[arg(long)]
    dry_run: bool,
}

fn step_names() -> PossibleValuesParser {
    PossibleValuesParser::new(STEPS.iter().map(|step| step.name()))
}

/// Result of one step.
struct StepOutcome {
    step: &'static dyn InitStep,
    result: StepResult,
    plan: StepPlan,
    report: StepReport,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepResult {
    /// It was finished before.
    Finished,
    /// It is only shown.
    Planned,
    Done,
    Skipped,
    Failed,
}

impl StepResult {
    fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Planned => "planned",
            Self::Done => "done",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let may_ask = Terminal::is_interactive() && !context.terminal.json;
    let is_plan = args.dry_run || !args.yes && !may_ask;
    if !is_plan {
        refuse_guarded_agent(home, "set Tenterhook up")?;
    }
    let site = InitSite { context, home, is_interactive: may_ask && !args.yes };
    let steps: Vec<_> = STEPS.iter().copied().filter(|step| args.includes(step.name())).collect();
    let mut outcomes = Vec::new();
    if is_plan {
        for step in &steps {
            outcomes.push(plan_step(&site, *step, args)?);
        }
        print_outcomes(&site, &outcomes)?;
        return if args.dry_run { Ok(ExitCode::SUCCESS) } else { refuse_without_terminal(context) };
    }
    let interrupts = site.is_interactive.then(|| InterruptGuard::install(context.terminal)).transpose()?;
    for (number, step) in steps.iter().enumerate() {
        let position = format!("Step {} of {}", number + 1, steps.len());
        let Some(outcome) = run_step(&site, *step, args, &position, interrupts.as_ref())? else {
            context.terminal.eprint(&format!("\n{}\n", interrupt::CONTINUE_LATER))?;
            return Ok(ExitCode::SUCCESS);
        };
        outcomes.push(outcome);
    }
    print_outcomes(&site, &outcomes)?;
    let has_failed = outcomes.iter().any(|outcome| outcome.result == StepResult::Failed);
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

impl Args {
    fn includes(&self, name: &str) -> bool {
        let has = |names: &[String]| names.iter().any(|other| other == name);
        if self.only.is_empty() { !has(&self.skip) } else { has(&self.only) }
    }

    /// Whether the step is left out because it is finished.
    fn leaves_out(&self, step: &dyn InitStep, plan: &StepPlan, progress: &InitProgress) -> bool {
        self.only.is_empty() && plan.is_finished_with(step.name(), progress)
    }
}

fn plan_step(
    site: &InitSite<'_>,
    step: &'static dyn InitStep,
    args: &Args,
) -> Result<StepOutcome, CommandError> {
    let plan = step.plan(site)?;
    let is_finished = args.leaves_out(step, &plan, &InitProgress::read(site.home));
    let result = if is_finished { StepResult::Finished } else { StepResult::Planned };
    Ok(StepOutcome { step, result, plan, report: StepReport::default() })
}

/// Runs one step. Returns `None` if the user wants to stop.
fn run_step(
    site: &InitSite<'_>,
    step: &'static dyn InitStep,
    args: &Args,
    position: &str,
    interrupts: Option<&InterruptGuard>,
) -> Result<Option<StepOutcome>, CommandError> {
    let terminal = site.context.terminal;
    let mut outcome = plan_step(site, step, args)?;
    if outcome.result == StepResult::Finished {
        return Ok(Some(outcome));
    }
    if site.is_interactive {
        terminal.eprint(&screen_header(position, step.title(), &outcome.plan))?;
    }
    let chosen = match choose(site, &outcome.plan)? {
        StepAnswer::Chosen(chosen) => chosen,
        StepAnswer::Skip => return Ok(Some(StepOutcome { result: StepResult::Skipped, ..outcome })),
        StepAnswer::Quit => return Ok(None),
    };
    let applied = {
        // Only reading the past can be interrupted at any point.
        let _uninterrupted =
            interrupts.filter(|_| !outcome.plan.choices.is_empty()).map(InterruptGuard::hold);
        step.apply(site, &chosen)
    };
    let mut report =
        applied.unwrap_or_else(|error| StepReport { failures: vec![error], ..StepReport::default() });
    report.lines.extend(report.failures.iter().map(failure_text));
    outcome.result = if report.failures.is_empty() { StepResult::Done } else { StepResult::Failed };
    if outcome.result == StepResult::Done {
        let real = outcome.plan.choices.iter().filter(|choice| choice.is_done && !outcome.plan.is_single);
        let ids = chosen.iter().map(|item| item.id).chain(real.map(|choice| choice.id));
        let ids: BTreeSet<_> = ids.map(ToOwned::to_owned).collect();
        let offered = outcome.plan.choices.iter().map(|choice| choice.id.to_owned()).collect();
        InitProgress::read(site.home).finish(site.home, step.name(), ids, offered)?;
    }
    if site.is_interactive {
        terminal.eprint(&(report.lines.join("\n") + "\n"))?;
        if outcome.plan.choices.is_empty() {
            terminal.eprint(&format!("\n{DIM}Enter: continue.{DIM:#} "))?;
            if read_line()?.is_none() {
                return Ok(None);
            }
        }
    }
    Ok(Some(StepOutcome { report, ..outcome }))
}

/// What the user answered to a step.
enum StepAnswer {
    Chosen(Vec<UserChoice>),
    Skip,
    Quit,
}

/// Lets the user choose, or takes the marked choices.
fn choose(site: &InitSite<'_>, plan: &StepPlan) -> Result<StepAnswer, CommandError> {
    let open = plan.open_choices();
    let marked = open.iter().enumerate().filter(|(_, choice)| choice.is_default).map(|(at, _)| at).collect();
    let selected = if !site.is_interactive || open.is_empty() {
        marked
    } else {
        let list = ChoiceList {
            question: plan.question.to_owned(),
            rows: open.iter().map(|choice| (choice.label.clone(), choice.note.clone())).collect(),
            footer: String::new(),
            is_single: plan.is_single,
            can_leave: true,
        };
        match list.ask(site.context.terminal, marked)? {
            ChoiceAnswer::Chosen(selected) => selected,
            ChoiceAnswer::Skip => return Ok(StepAnswer::Skip),
            ChoiceAnswer::Quit => return Ok(StepAnswer::Quit),
        }
    };
    let mut chosen = Vec::new();
    for choice in selected.into_iter().filter_map(|at| open.get(at)) {
        let mut text = String::new();
        if let Some(question) = choice.input {
            site.context.terminal.eprint(question)?;
            match read_line()? {
                Some(line) => text = line,
                None => return Ok(StepAnswer::Quit),
            }
        }
        chosen.push(UserChoice { id: choice.id, text });
    }
    Ok(StepAnswer::Chosen(chosen))
}

fn screen_header(position: &str, title: &str, plan: &StepPlan) -> String {
    let mut text = format!("\n{BOLD}{position}: {title}{BOLD:#}\n");
    text.extend(plan.found.iter().map(|line| format!("{line}\n")));
    text
}

fn failure_text(error: &CommandError) -> String {
    let mut text = format!("{BAD}✗{BAD:#} {}", error.message);
    text.extend(error.hints.iter().map(|hint| format!("\n  {DIM}→ {hint}{DIM:#}")));
    text
}

/// Prints the results of all steps. On a terminal, their details were shown before.
fn print_outcomes(site: &InitSite<'_>, outcomes: &[StepOutcome]) -> Result<(), CommandError> {
    let terminal = site.context.terminal;
    if terminal.json {
        let steps: Vec<_> = outcomes.iter().map(outcome_json).collect();
        return terminal.print_json(&json!({"steps": steps}));
    }
    let mut text = if site.is_interactive { "\n".to_owned() } else { String::new() };
    text.extend(outcomes.iter().map(|outcome| outcome_text(outcome, !site.is_interactive)));
    if outcomes.iter().all(|one| matches!(one.result, StepResult::Finished | StepResult::Done)) {
        text += &format!(
            "{DIM}next: start a session of your agent; `tenterhook tui` shows what it does{DIM:#}\n"
        );
    }
    terminal.print(&text)
}

fn outcome_text(outcome: &StepOutcome, has_details: bool) -> String {
    let StepOutcome { step, result, plan, report } = outcome;
    let name = step.name();
    let mark = match result {
        StepResult::Finished | StepResult::Done => format!("{GOOD}✓{GOOD:#}"),
        StepResult::Failed => format!("{BAD}✗{BAD:#}"),
        StepResult::Skipped => format!("{DIM}–{DIM:#}"),
        StepResult::Planned => "·".to_owned(),
    };
    let hint = match result {
        StepResult::Skipped | StepResult::Failed => format!("; `tenterhook init --only {name}`"),
        _ => String::new(),
    };
    let lines = match result {
        StepResult::Planned => plan_lines(plan),
        StepResult::Done | StepResult::Failed if has_details => report.lines.clone(),
        _ => Vec::new(),
    };
    if lines.is_empty() {
        return format!("{mark} {BOLD}{name}{BOLD:#}: {}{hint}\n", result.name());
    }
    let mut text = format!("{mark} {BOLD}{name}{BOLD:#}: {}\n", step.title());
    text.extend(lines.iter().flat_map(|line| line.lines()).map(|line| format!("    {line}\n")));
    text
}

/// Describes what a step would do.
fn plan_lines(plan: &StepPlan) -> Vec<String> {
    let mut lines = plan.found.clone();
    lines.extend(plan.open_choices().iter().map(|choice| {
        let mark = if choice.is_default { "x" } else { " " };
        format!("[{mark}] {}{DIM}{}{DIM:#}", choice.label, choice.note)
    }));
    lines
}

fn outcome_json(outcome: &StepOutcome) -> Value {
    let StepOutcome { step, result, plan, report } = outcome;
    let failures =
        report.failures.iter().map(|error| json!({"message": error.message, "hints": error.hints}));
    json!({
        "step": step.name(),
        "result": result.name(),
        "plan": plan.to_json(),
        "detail": report.detail,
        "errors": failures.collect::<Vec<_>>(),
    })
}

fn refuse_without_terminal(context: &Context) -> Result<ExitCode, CommandError> {
    context.terminal.eprint(&format!(
        "{BAD}error{BAD:#}: `init` asks questions, but standard input is not a terminal; nothing was changed\n\
         {DIM}hint{DIM:#}: make the marked choices with `--yes`, or run it in a terminal\n"
    ))?;
    Ok(ExitCode::from(EXIT_NO_TERMINAL))
}
