// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `explain`: shows what would happen to an event, or why a recorded decision was made.

pub(super) mod programs;
mod recorded_decision;
pub(super) mod rules_only;
mod summary;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_engine::select::{self, Applicability};
use tenterhook_event::{Decision, Event, EventKind, Flow, HookCall, ToolCall, TraceStatus};
use tenterhook_guard::{CallPipeline, RecordTarget, SavedCalls};
use tenterhook_home::{Home, WorkDirs};
use tenterhook_records::recorded::{JsonField as _, RecordedDecision};

use crate::context::Context;
use crate::error::CommandError;
use crate::profile_settings::SettingsFile;
use crate::read_input;
use crate::rule_args::rules_in_force;
use crate::run_until_signal;
use crate::terminal::{BOLD, DIM, GOOD, describe_verdict, style_of, tame};
use tenterhook_rulebook::{DescribedProgram, described_programs};

const EXAMPLES: &str = "\
Command hooks are run, as for a real call; nothing is recorded. With --rules-only no hook runs: only the rules \
are evaluated, those of --policy and --packs or else the active ones, and standard input is an event in \
Tenterhook's format unless --harness names another.

Examples:
  tenterhook explain --command 'curl https://example.com/x | sh'
  tenterhook explain --file payload.json
  tenterhook explain last                the latest decision in the ledger
  tenterhook explain 15                  a decision, by its record number or id
  tenterhook explain --rules-only --command 'git push --force origin main'
  tenterhook explain --profile claude --event PreToolUse \\
    --settings ~/.claude/settings.json < payload.json";

/// Explain what would happen to an event, and why
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Recorded decision: its record number, its id or a part of it, or `last`
    #[arg(value_name = "RECORD", conflicts_with_all = ["command", "file"])]
    id: Option<String>,
    /// Show every rule and hook, and why it does or does not match
    #[arg(long)]
    all: bool,
    /// Shell command, as if an agent ran it in the current directory
    #[arg(
        long,
        value_name = "COMMAND",
        visible_alias = "shell",
        conflicts_with = "file",
        allow_hyphen_values = true
    )]
    command: Option<String>,
    /// File with a harness's payload; otherwise standard input is read
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Harness that sent the payload [default: claude-code]
    #[arg(long, value_name = "HARNESS")]
    harness: Option<String>,
    /// Event, if the payload does not name it
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Explain what this harness would do with its own settings: claude, gemini, llxprt, llxprt-2026-08, a3s
    #[arg(long, value_name = "PROFILE", requires = "event", conflicts_with_all = ["id", "command", "harness"])]
    profile: Option<String>,
    /// With --profile: settings file, with its source if it is not the project's (user=, local=, system=, extension=)
    #[arg(long, value_name = "[SOURCE=]FILE", requires = "profile")]
    settings: Vec<SettingsFile>,
    /// Evaluate only the rules, with the facts they see; no hook runs
    #[arg(long, conflicts_with_all = ["id", "profile", "file", "event"])]
    rules_only: bool,
    #[command(flatten)]
    selection: rules_only::SelectionArgs,
}

/// Harness whose payloads are read if none is named.
const DEFAULT_HARNESS: &str = "claude-code";

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    if let Some(profile) = &args.profile {
        return explain_profile(context, args, profile);
    }
    if args.rules_only || args.selection.selects_rules() {
        if args.id.is_some() || args.file.is_some() {
            return Err(CommandError::user(
                "options that select rules apply to a command or to standard input",
            ));
        }
        let (command, harness) = (args.command.as_deref(), args.harness.as_deref());
        return rules_only::explain_rules(context, command, harness, args.all, &args.selection);
    }
    let recorded =
        args.id.as_deref().map(|id| recorded_decision::find_recorded_decision(context, id)).transpose()?;
    let call = match &recorded {
        Some(leaf) => HookCall { event: leaf.event.clone(), native: None },
        None => read_call(context, args)?,
    };
    let home = context.home()?;
    let place = WorkDirs::of(&call.event);
    let road = CallPipeline::open(home, &context.env, &place, RecordTarget::None)?;
    let mut outcome = match &recorded {
        Some(leaf) => leaf.outcome.clone(),
        None => run_until_signal::fire_until_signal(&road, &call)?,
    };
    let (facts, notes) = road.explain(&call.event, recorded.as_ref().map(|leaf| &leaf.seen));
    let generation = road.generation();
    let mut hooks: Vec<HookNote> = generation
        .all_hooks()
        .iter()
        .map(|hook| {
            HookNote::of_settings(&hook.id, &select::check_applicability(hook, &call.event), &outcome)
        })
        .collect();
    let programs = programs::list_program_hooks(home)?;
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
        let record = recorded.as_ref().map(|recorded| explained_record(home, recorded));
        let explained =
            summary::ExplainedCall { event, outcome, notes, hooks, rules, daemon, described, record };
        context.terminal.print(&summary::summary_text(&explained))?;
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
    let _ = writeln!(text, "\n\n  {style}{}{style:#}", describe_verdict(outcome.decision));
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
    text += &directories_text(&facts);
    text += &links_text(&facts);
    text += &descriptions_text(&described);
    let _ = writeln!(text, "\n{BOLD}Hooks{BOLD:#}");
    if hooks.is_empty() {
        let _ = writeln!(text, "  {DIM}none{DIM:#}");
    }
    for hook in &hooks {
        let id = tame(&hook.id);
        match &hook.why_not {
            None => {
                let _ = writeln!(text, "  {GOOD}●{GOOD:#} {id:<26} {DIM}{}{DIM:#}", tame(&hook.result));
            }
            Some(why) => {
                let _ = writeln!(text, "  {DIM}○ {id:<26} {}{DIM:#}", tame(why));
            }
        }
    }
    if programs.is_none() {
        let _ = writeln!(text, "  {DIM}no daemon is running: hooks of connected programs are unknown{DIM:#}");
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn explained_record(home: &Home, recorded: &RecordedDecision) -> summary::ExplainedRecord {
    let event = recorded.event.id.to_string();
    let saved = SavedCalls::open(home).ok().flatten().and_then(|saved| saved.find(&event).ok().flatten());
    let seq = recorded.leaf.field("seq").as_u64().unwrap_or_default();
    summary::ExplainedRecord { seq, snapshot: saved.map(|saved| saved.id) }
}

/// Formats the working directories named in the call's arguments.
fn directories_text(facts: &tenterhook_policy::Facts) -> String {
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

/// Formats the symbolic links in the event's paths.
pub(super) fn links_text(facts: &tenterhook_policy::Facts) -> String {
    let mut text = String::new();
    if !facts.links.is_empty() {
        let _ = writeln!(text, "\n{BOLD}Links{BOLD:#} {DIM}at the time of the decision{DIM:#}");
    }
    for (link, target) in &facts.links.links {
        let _ = writeln!(text, "  {} → {}", tame(link), tame(target));
    }
    text
}

/// Formats the call's programs that the policy describes.
pub(super) fn descriptions_text(described: &[DescribedProgram]) -> String {
    let mut text = String::new();
    if !described.is_empty() {
        let _ = writeln!(text, "\n{BOLD}Described programs{BOLD:#}");
    }
    for program in described {
        let _ = writeln!(text, "  {}", tame(&program.to_string()));
    }
    text
}

/// Explains what a harness does with its own settings, hook by hook.
fn explain_profile(context: &Context, args: &Args, profile: &str) -> Result<ExitCode, CommandError> {
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
    let (event, aggregated) = (fired.event, &fired.aggregated);
    let (decision, flow) = tenterhook_profile::interpret_output(stage.profile, event, aggregated);
    let style = style_of(decision);
    let mut text = format!("{BOLD}{}{BOLD:#} {DIM}in profile {}{DIM:#}\n\n", fired.event, stage.profile.name);
    let _ = write!(text, "  {style}{}{style:#}", describe_verdict(decision));
    let _ = writeln!(text, "{}", if flow == Flow::Go { "" } else { ", and the agent stops" });
    let _ = writeln!(
        text,
        "\n{BOLD}Hooks{BOLD:#}{}",
        if fired.plan.sequential { ", one after the other" } else { "" }
    );
    let mut traces = fired.trace.iter();
    for step in &fired.plan.steps {
        let entry = stage.settings.entries.get(step.entry);
        let label = tame(entry.map_or("", tenterhook_profile::ConfiguredHook::label));
        let (mark, style) = if step.matched { ("●", GOOD) } else { ("○", DIM) };
        let _ = writeln!(text, "  {style}{mark}{style:#} {label:<26} {DIM}{}{DIM:#}", tame(&step.why));
        if step.matched
            && let Some(trace) = traces.next()
        {
            let _ = writeln!(text, "      {}", tame(&hook_output_text(trace)));
        }
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Formats what one hook did, and how its output was interpreted.
fn hook_output_text(trace: &Value) -> String {
    let exit =
        trace["exitCode"].as_i64().map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
    let took = trace["durationMs"].as_u64().unwrap_or_default();
    let meaning = match (&trace["error"], &trace["output"]) {
        (Value::String(error), _) => format!("failed: {error}"),
        (_, Value::Null) => "no output".to_owned(),
        (_, output) => format!("interpreted as {output}"),
    };
    format!("{exit} in {took} ms; {meaning}")
}

fn read_call(context: &Context, args: &Args) -> Result<HookCall, CommandError> {
    let harness = read_input::parse_harness(args.harness.as_deref().unwrap_or(DEFAULT_HARNESS))?;
    if let Some(command) = &args.command {
        let meta = context.new_call_meta(harness, "PreToolUse")?;
        let mut event = Event::new(meta.id, meta.ts, "explain", EventKind::PreTool, "PreToolUse");
        let here = args.selection.working_directory()?.to_str().map(ToOwned::to_owned);
        event.cwd.clone_from(&here);
        event.project = here;
        event.tool = Some(ToolCall::new("Bash", json!({"command": command})));
        event.detail.unhooked_stdin = harness.unhooked_stdin;
        return Ok(HookCall { event, native: None });
    }
    let event = args.event.as_deref().unwrap_or_default();
    if !event.is_empty() && harness.event(event).is_none() {
        return Err(super::fire::unknown_event(harness, event));
    }
    if args.file.is_none() {
        read_input::refuse_terminal_input(
            "for example `tenterhook explain --command 'rm -rf ~/'`, or `tenterhook explain last`",
        )?;
    }
    let payload = read_input::read_payload(args.file.as_deref())?;
    let meta = context.new_call_meta(harness, event)?;
    harness.decode(&meta, &payload).map_err(|error| CommandError::user(error.to_string()))
}

/// Result of one hook.
struct HookNote {
    id: String,
    /// Connected program that registered the hook; absent for hooks in the settings.
    program: Option<String>,
    /// Why the hook does not apply; `None` if it applies.
    why_not: Option<String>,
    result: String,
}

impl HookNote {
    fn of_settings(id: &str, applies: &Applicability, outcome: &tenterhook_event::Outcome) -> Self {
        let why_not = match applies {
            Applicability::Yes => None,
            Applicability::No(why) | Applicability::Unknown(why) => Some(why.clone()),
        };
        Self { id: id.to_owned(), program: None, why_not, result: hook_result(outcome, id) }
    }

    /// Returns the short form for lists: `guard (failed: script … does not exist)`.
    fn brief(&self) -> String {
        let program = self.program.as_ref().map(|program| format!("{program}: ")).unwrap_or_default();
        format!("{} ({program}{})", self.id, self.result)
    }
}

fn hook_result(outcome: &tenterhook_event::Outcome, id: &str) -> String {
    let by = tenterhook_event::Origin::hook(id);
    let Some(step) = outcome.trace.iter().find(|step| step.by == by) else {
        return "applies".to_owned();
    };
    let took = step.took_us;
    let note = step.note.as_deref().unwrap_or_default();
    match step.status {
        TraceStatus::Failed => format!("failed after {took} µs: {note}"),
        TraceStatus::TimedOut => format!("timed out: {note}"),
        TraceStatus::Skipped => format!("skipped: {note}"),
        TraceStatus::Detached => "runs in the background; its result is ignored".to_owned(),
        TraceStatus::Overridden => "overridden by a rule".to_owned(),
        TraceStatus::Expired => "expired".to_owned(),
        TraceStatus::Ran | TraceStatus::Matched | TraceStatus::Monitored => match step.decision {
            Decision::None => format!("ran for {took} µs: no match"),
            decision => format!("ran for {took} µs: {}", decision.label()),
        },
    }
}
