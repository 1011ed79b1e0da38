// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use tenterhook_event::{Event, EventKind};
use tenterhook_guard::{CallPipeline, LedgerHandle, RecordTarget};
use tenterhook_harness::Harness;
use tenterhook_home::WorkDirs;
use tenterhook_profile::ProblemLevel;
use tenterhook_profile_run::{ProfileEventResult, ProfileStage};

use crate::context::Context;
use crate::error::CommandError;
use crate::profile_settings::{SettingsFile, open_profile};
use crate::read_input;
use crate::run_until_signal::{self, run_until_signal};
use crate::terminal::tame;

const EXAMPLES: &str = "\
Without --profile: prints Tenterhook's reply, from your rules and hooks. Unlike `hook`, it records nothing \
without --record, and an unreadable payload is an error.

With --profile: runs the hooks of a harness's own settings file exactly as that harness does. The reply is \
that of one merged hook, so this command can be configured as a hook of that harness; --json shows the plan, \
every hook's output and the merged result.

Examples:
  tenterhook fire --event PreToolUse < payload.json   the reply Claude Code would get
  tenterhook fire --file payload.json --json          the event, outcome and reply
  tenterhook fire --profile gemini --event BeforeTool \\
    --settings ~/.gemini/settings.json --json < input.json";

/// Run one event through hooks and rules and print the reply
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Harness that sent the payload
    #[arg(long, value_name = "HARNESS", default_value = "claude-code", conflicts_with = "profile")]
    harness: String,
    /// Run as this harness would: claude, gemini, llxprt, llxprt-2026-08, a3s
    #[arg(long, value_name = "PROFILE", requires = "event")]
    profile: Option<String>,
    /// With --profile: settings file, with its source if it is not the project's (user=, local=, system=, extension=)
    #[arg(long, value_name = "[SOURCE=]FILE", requires = "profile")]
    settings: Vec<SettingsFile>,
    /// Event, if the payload does not name it
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Read the payload from a file instead of standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Also record the decision in the ledger
    #[arg(long, conflicts_with = "profile")]
    record: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.profile {
        Some(profile) => fire_and_print_profile(context, args, profile),
        None => fire_harness(context, args),
    }
}

fn fire_harness(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let harness = read_input::parse_harness(&args.harness)?;
    let event = args.event.as_deref().unwrap_or_default();
    if !event.is_empty() && harness.event(event).is_none() {
        return Err(unknown_event(harness, event));
    }
    let payload = read_input::read_payload(args.file.as_deref())?;
    let meta = context.new_call_meta(harness, event)?;
    let call = harness.decode(&meta, &payload).map_err(|error| CommandError::user(error.to_string()))?;
    let home = context.home()?;
    let book = Arc::new(LedgerHandle::of(home));
    let memory = if args.record {
        home.create()?;
        RecordTarget::Ledger(Arc::clone(&book))
    } else {
        RecordTarget::None
    };
    let outcome = run_until_signal::fire_until_signal(
        &CallPipeline::open(home, &context.env, &WorkDirs::of(&call.event), memory)?,
        &call,
    )?;
    for note in book.take_notes() {
        context.terminal.eprint(&format!("tenterhook: warning: {note}\n"))?;
    }
    let reply = harness.encode(&call, &outcome);
    if context.terminal.json {
        let reply =
            json!({"stdout": reply.stdout, "stderr": reply.stderr, "exit": reply.exit, "lost": reply.lost});
        context.terminal.print_json(&json!({"event": call.event, "outcome": outcome, "reply": reply}))?;
        return Ok(ExitCode::SUCCESS);
    }
    context.terminal.print_raw(&reply.stdout, &reply.stderr)?;
    Ok(ExitCode::from(reply.exit))
}

fn fire_and_print_profile(context: &Context, args: &Args, profile: &str) -> Result<ExitCode, CommandError> {
    let event = args.event.as_deref().unwrap_or_default();
    let (stage, fired) = fire_profile(context, profile, &args.settings, event, args.file.as_deref())?;
    if context.terminal.json {
        context.terminal.print_json(&fired.to_json(&stage))?;
        return Ok(ExitCode::SUCCESS);
    }
    let reply = tenterhook_profile::format_reply(stage.profile, fired.event, &fired.aggregated);
    context.terminal.print_raw(&reply.stdout, &reply.stderr)?;
    Ok(ExitCode::from(reply.exit))
}

/// Reads settings and input, and fires the event as the profile's harness would.
pub(super) fn fire_profile(
    context: &Context,
    profile: &str,
    settings: &[SettingsFile],
    event: &str,
    file: Option<&Path>,
) -> Result<(ProfileStage, ProfileEventResult), CommandError> {
    let stage = open_profile(profile, settings, &context.env)?;
    let event = stage.event(event)?;
    let payload = read_input::read_payload(file)?;
    let input: Value = serde_json::from_slice(&payload)
        .map_err(|error| CommandError::user(format!("invalid JSON in the input: {error}")))?;
    if !input.is_object() {
        return Err(CommandError::user("the input is not a JSON object"));
    }
    report_problems(context, &stage)?;
    let base = profile_event(profile)?;
    let fired = run_until_signal(async { Ok(stage.fire(event, &input, &base).await) })?;
    Ok((stage, fired))
}

/// Creates the base event from which all events of a profile are derived.
pub(super) fn profile_event(profile: &str) -> Result<Event, CommandError> {
    let meta = tenterhook_home::call_meta::mint()?;
    // The profile sets the kind and the name.
    Ok(Event::new(meta.id, meta.ts, profile, EventKind::Other, ""))
}

/// Reports unusable settings on standard error.
pub(super) fn report_problems(context: &Context, stage: &ProfileStage) -> Result<(), CommandError> {
    let errors = stage.problems(ProblemLevel::Error).map(|finding| ("problem", &finding.problem));
    let warnings = stage.problems(ProblemLevel::Warning).map(|finding| ("warning", &finding.problem));
    let mut text = String::new();
    for (word, problem) in errors.chain(warnings) {
        text += &format!("{word}: {}\n", tame(&problem.to_string()));
    }
    context.terminal.print_raw("", &text)
}

pub(super) fn unknown_event(harness: &Harness, name: &str) -> CommandError {
    let known: Vec<_> = harness.events.iter().map(|row| row.native).collect();
    CommandError::user(format!("unknown event `{name}` of {}", harness.title))
        .hint(format!("known: {}", known.join(", ")))
}
