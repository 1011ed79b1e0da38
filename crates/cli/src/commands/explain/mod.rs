// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `explain`: what would happen to an event, or why something happened.

pub(super) mod programs;
mod short;
mod which;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_engine::select::{self, Applies};
use tenterhook_event::{Call, Decision, Event, EventKind, Flow, Status, ToolCall};
use tenterhook_guard::{Memory, Road};
use tenterhook_home::Place;

use crate::context::Context;
use crate::error::CommandError;
use crate::intake;
use crate::profile_settings::SettingsFile;
use crate::rule_args::rules_in_force;
use crate::terminal::{BOLD, DIM, GOOD, style_of, tame, verdict_in_words};
use crate::until;
use tenterhook_rulebook::{DescribedProgram, described_programs};

const EXAMPLES: &str = "\
Hooks that are commands are run, as they would be; nothing is recorded.

Examples:
  tenterhook explain --command 'curl https://example.com/x | sh'
  tenterhook explain --file payload.json
  tenterhook explain --profile claude --event PreToolUse --settings ~/.claude/settings.json < payload.json
  tenterhook explain last                                   the latest decision in the ledger
  tenterhook explain 15                                     a decision, by the number of its record or by its id";

/// Say in plain words what would happen to an event, and why
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A recorded decision: the number of its record, its id or a part of it, or `last`
    #[arg(value_name = "RECORD", conflicts_with_all = ["command", "file"])]
    id: Option<String>,
    /// Show every rule and hook, and why it does or does not match
    #[arg(long)]
    all: bool,
    /// A shell command, as if an agent wanted to run it here
    #[arg(long, value_name = "COMMAND", conflicts_with = "file")]
    command: Option<String>,
    /// A native payload in a file; without any of these it is read from standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The harness whose payload it is
    #[arg(long, default_value = "claude-code")]
    harness: String,
    /// The event, if the payload does not name it
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// What a harness would make of its own settings: claude, gemini, llxprt, llxprt-2026-08, a3s
    #[arg(long, value_name = "PROFILE", requires = "event", conflicts_with_all = ["id", "command", "harness"])]
    profile: Option<String>,
    /// With --profile: a settings file, with its source if it is not the project's (user=, local=, system=, extension=)
    #[arg(long, value_name = "[SOURCE=]FILE", requires = "profile")]
    settings: Vec<SettingsFile>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    if let Some(profile) = &args.profile {
        return by_profile(context, args, profile);
    }
    let recorded = args.id.as_deref().map(|said| which::recorded(context, said)).transpose()?;
    let call = match &recorded {
        Some(leaf) => Call { event: leaf.event.clone(), native: None },
        None => asked(context, args)?,
    };
    let home = context.home()?;
    let place = Place::of(&call.event);
    let road = Road::open(home, &context.env, &place, Memory::None)?;
    let mut outcome = match &recorded {
        Some(leaf) => leaf.outcome.clone(),
        None => until::fire(&road, &call)?,
    };
    let (facts, notes) = road.explain(&call.event, recorded.as_ref().map(|leaf| &leaf.seen));
    let generation = road.generation();
    let mut hooks: Vec<HookNote> = generation
        .all_hooks()
        .iter()
        .map(|hook| HookNote::of_settings(&hook.id, &select::applies(hook, &call.event), &outcome))
        .collect();
    let programs = programs::list(home)?;
    if let (Some(programs), None) = (&programs, &recorded) {
        hooks.extend(programs::ask_all(home, programs, &call.event, &mut outcome));
    }
    let rules = &rules_in_force(home, &context.env, &place).rules;
    let described = described_programs(rules, &facts);
    if context.terminal.json {
        let hooks: Vec<_> = hooks
            .iter()
            .map(|hook| {
                json!({"hook": hook.id, "matched": hook.why_not.is_none(), "why": hook.why_not, "program": hook.program})
            })
            .collect();
        context.terminal.print_json(&json!({
            "event": call.event, "outcome": outcome, "facts": facts, "rules": notes, "hooks": hooks,
            "by": outcome.decided_by(), "daemon": programs.is_some(), "described": described,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.all {
        let (event, outcome, daemon) = (&call.event, &outcome, programs.is_some());
        let (notes, hooks, described) = (&notes, &hooks, &described);
        let explained = short::Explained { event, outcome, notes, hooks, rules, daemon, described };
        context.terminal.say(&short::text(&explained))?;
        return Ok(ExitCode::SUCCESS);
    }

    let event = &call.event;
    let mut text = String::new();
    let _ = write!(text, "{BOLD}{}{BOLD:#} {DIM}from {}{DIM:#}", tame(&event.native_event), event.source);
    if let Some(tool) = &event.tool {
        let _ =
            write!(text, "  {} {DIM}({}){DIM:#} {}", tame(&tool.name), tool.class.name(), tame(&tool.gist()));
    }
    let style = style_of(outcome.decision);
    let _ = writeln!(text, "\n\n  {style}{}{style:#}", verdict_in_words(outcome.decision));
    if let Some(reason) = outcome.reason_with_nudge() {
        for line in reason.lines() {
            let _ = writeln!(text, "  {}", tame(line));
        }
    }
    let _ = writeln!(text, "\n{BOLD}Rules{BOLD:#}");
    for note in &notes {
        let (mark, style) = if note.matched { ("●", style_of(note.verdict)) } else { ("○", DIM) };
        let _ = writeln!(text, "  {style}{mark}{style:#} {:<26} {DIM}{}{DIM:#}", note.rule, tame(&note.why));
    }
    text += &directories(&facts);
    text += &links(&facts);
    text += &descriptions(&described);
    let _ = writeln!(text, "\n{BOLD}Hooks{BOLD:#}");
    if hooks.is_empty() {
        let _ = writeln!(text, "  {DIM}none{DIM:#}");
    }
    for hook in &hooks {
        let id = tame(&hook.id);
        match &hook.why_not {
            None => {
                let _ = writeln!(text, "  {GOOD}●{GOOD:#} {id:<26} {DIM}{}{DIM:#}", tame(&hook.became));
            }
            Some(why) => {
                let _ = writeln!(text, "  {DIM}○ {id:<26} {}{DIM:#}", tame(why));
            }
        }
    }
    if programs.is_none() {
        let _ = writeln!(text, "  {DIM}no daemon is running, so hooks of programs are not known{DIM:#}");
    }
    context.terminal.say(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The working directories that the arguments of the call name.
fn directories(facts: &tenterhook_policy::Facts) -> String {
    let mut text = String::new();
    if !facts.directories.is_empty() {
        let _ = writeln!(text, "\n{BOLD}Runs in{BOLD:#}");
    }
    for directory in &facts.directories {
        let resolved = directory.resolved.as_deref().unwrap_or("unknown");
        let _ = writeln!(text, "  {} → {}", tame(&directory.text), tame(resolved));
    }
    text
}

/// The links that paths of the event lead through.
pub(super) fn links(facts: &tenterhook_policy::Facts) -> String {
    let mut text = String::new();
    if !facts.links.is_empty() {
        let _ = writeln!(text, "\n{BOLD}Links{BOLD:#} {DIM}as they were seen{DIM:#}");
    }
    for (link, says) in &facts.links.links {
        let _ = writeln!(text, "  {} → {}", tame(link), tame(says));
    }
    text
}

/// The files of the policy that describe programs of the call.
pub(super) fn descriptions(described: &[DescribedProgram]) -> String {
    let mut text = String::new();
    if !described.is_empty() {
        let _ = writeln!(text, "\n{BOLD}Described programs{BOLD:#}");
    }
    for program in described {
        let _ = writeln!(text, "  {}", tame(&program.to_string()));
    }
    text
}

/// What a harness would make of its own settings, hook by hook.
fn by_profile(context: &Context, args: &Args, profile: &str) -> Result<ExitCode, CommandError> {
    let (stage, fired) = super::fire::fire_profile(
        context,
        profile,
        &args.settings,
        args.event.as_deref().unwrap_or_default(),
        args.file.as_deref(),
    )?;
    if context.terminal.json {
        context.terminal.print_json(&fired.to_json(&stage))?;
        return Ok(ExitCode::SUCCESS);
    }
    let (decision, flow) = tenterhook_profile::decision(stage.profile, fired.event, &fired.aggregated);
    let style = style_of(decision);
    let mut text = format!("{BOLD}{}{BOLD:#} {DIM}as {} has it{DIM:#}\n\n", fired.event, stage.profile.name);
    let _ = write!(text, "  {style}{}{style:#}", verdict_in_words(decision));
    let _ = writeln!(text, "{}", if flow == Flow::Go { "" } else { ", and the agent stops" });
    let _ = writeln!(
        text,
        "\n{BOLD}Hooks{BOLD:#}{}",
        if fired.plan.sequential { ", one after the other" } else { "" }
    );
    let mut traces = fired.trace.iter();
    for step in &fired.plan.steps {
        let entry = stage.settings.entries.get(step.entry);
        let label = tame(entry.map_or("", tenterhook_profile::Entry::label));
        let (mark, style) = if step.matched { ("●", GOOD) } else { ("○", DIM) };
        let _ = writeln!(text, "  {style}{mark}{style:#} {label:<26} {DIM}{}{DIM:#}", tame(&step.why));
        if step.matched
            && let Some(trace) = traces.next()
        {
            let _ = writeln!(text, "      {}", tame(&said_in_words(trace)));
        }
    }
    context.terminal.say(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What one hook did, and what was made of it.
fn said_in_words(trace: &Value) -> String {
    let exit =
        trace["exitCode"].as_i64().map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
    let took = trace["durationMs"].as_u64().unwrap_or_default();
    let meant = match (&trace["error"], &trace["output"]) {
        (Value::String(error), _) => format!("failed: {error}"),
        (_, Value::Null) => "said nothing".to_owned(),
        (_, output) => format!("was heard as {output}"),
    };
    format!("{exit} in {took} ms; {meant}")
}

fn asked(context: &Context, args: &Args) -> Result<Call, CommandError> {
    let harness = intake::harness(&args.harness)?;
    if let Some(command) = &args.command {
        let door = context.door(harness, "PreToolUse")?;
        let mut event = Event::new(door.id, door.ts, "explain", EventKind::PreTool, "PreToolUse");
        let here = std::env::current_dir()?.to_str().map(ToOwned::to_owned);
        event.cwd.clone_from(&here);
        event.project = here;
        event.tool = Some(ToolCall::new("Bash", json!({"command": command})));
        event.detail.unhooked_stdin = harness.unhooked_stdin;
        return Ok(Call { event, native: None });
    }
    let event = args.event.as_deref().unwrap_or_default();
    if !event.is_empty() && harness.event(event).is_none() {
        return Err(super::fire::unknown_event(harness, event));
    }
    if args.file.is_none() {
        intake::not_typed(
            "for example `tenterhook explain --command 'rm -rf ~/'`, or `tenterhook explain last`",
        )?;
    }
    let payload = intake::payload(args.file.as_deref())?;
    let door = context.door(harness, event)?;
    harness.decode(&door, &payload).map_err(|error| CommandError::user(error.to_string()))
}

/// What became of one hook.
struct HookNote {
    id: String,
    /// The program that it is a function of; absent for hooks of the settings.
    program: Option<String>,
    /// Why it does not apply, if so.
    why_not: Option<String>,
    became: String,
}

impl HookNote {
    fn of_settings(id: &str, applies: &Applies, outcome: &tenterhook_event::Outcome) -> Self {
        let why_not = match applies {
            Applies::Yes => None,
            Applies::No(why) | Applies::Unknown(why) => Some(why.clone()),
        };
        Self { id: id.to_owned(), program: None, why_not, became: became_of(outcome, id) }
    }

    /// For a line: `guard (failed: script … does not exist)`.
    fn brief(&self) -> String {
        let program = self.program.as_ref().map(|program| format!("{program}: ")).unwrap_or_default();
        format!("{} ({program}{})", self.id, self.became)
    }
}

fn became_of(outcome: &tenterhook_event::Outcome, id: &str) -> String {
    let by = tenterhook_event::Origin::hook(id);
    let Some(step) = outcome.trace.iter().find(|step| step.by == by) else {
        return "it applies".to_owned();
    };
    let took = step.took_us;
    let note = step.note.as_deref().unwrap_or_default();
    match step.status {
        Status::Failed => format!("failed after {took} µs: {note}"),
        Status::TimedOut => format!("timed out: {note}"),
        Status::Skipped => format!("skipped: {note}"),
        Status::Detached => "runs by itself; nothing it says counts".to_owned(),
        Status::Overridden => "set aside by a rule".to_owned(),
        Status::Expired => "its time is over".to_owned(),
        Status::Ran | Status::Matched | Status::Monitored => match step.decision {
            Decision::None => format!("ran for {took} µs and did not object"),
            decision => format!("ran for {took} µs and said {decision}"),
        },
    }
}
