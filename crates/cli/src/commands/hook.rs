// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use tenterhook_authority::Agents;
use tenterhook_engine::RecordError;
use tenterhook_event::{EventId, HookCall, Outcome};
use tenterhook_guard::usage::{MAX_READ_BYTES, TranscriptOwner, UsageReader, UsageUpdate};
use tenterhook_guard::{
    BlockingCallEvaluator, CallPipeline, LedgerHandle, RecordTarget, RefusedCall, SpoolRecorder,
    answer_call_now, refuse_call_now,
};
use tenterhook_harness::{CallMeta, Harness, HookReply};
use tenterhook_home::{Home, WorkDirs};
use tenterhook_records::has_secret_identifier;
use tenterhook_shim::ask::{DaemonAnswer, ask};
use tenterhook_shim::call::DEFAULT_CALL_TIMEOUT;
use tenterhook_shim::{VERSION, id, input, wire};

use super::daemon::start;
use crate::context::Context;
use crate::error::CommandError;
use crate::read_input;
use crate::run_until_signal;

const EXAMPLES: &str = "\
Harnesses run this command, as `tenterhook-hook`. It reads the payload from standard input, asks the daemon, \
and prints the reply in the harness's format. Without a daemon it evaluates the rules in-process and writes \
the decision to the spool, from which it is imported into the ledger later.

A hook call marks the calling process as a guarded agent, and is recorded. To test a hook by hand, use --try:
it evaluates rules and hooks in-process, prints the reply, and neither records nor marks anything.

Examples:
  tenterhook hook --try claude-code pre-tool-use < payload.json
  tenterhook hook claude-code pre-tool-use < payload.json";

/// Answer one hook call of a harness
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Harness: claude-code, codex, cursor, gemini, …
    harness: String,
    /// Event: PreToolUse, pre-tool-use or pre-tool
    event: String,
    /// Maximum time for the reply
    #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_CALL_TIMEOUT.as_secs(), value_parser = clap::value_parser!(u64).range(1..=3600))]
    within: u64,
    /// Only print the reply: record nothing, store nothing, mark no process as an agent
    #[arg(long = "try", conflicts_with_all = ["fallback", "id"])]
    is_trial: bool,
    /// Evaluate in-process; the value is the reason why the daemon did not answer
    #[arg(long, hide = true, value_name = "WHY")]
    fallback: Option<String>,
    /// Id of the event, if it already has one
    #[arg(long, hide = true, value_name = "ID")]
    id: Option<EventId>,
}

impl Args {
    /// Parses the arguments with which `tenterhook-hook` starts this program if the daemon does not answer. They
    /// always have this form, and parsing them here is faster than clap, which takes longer than an evaluation.
    pub(crate) fn parse_fallback_call(words: &[OsString]) -> Option<Self> {
        let words: Vec<_> = words.iter().skip(1).map(|word| word.to_str()).collect::<Option<_>>()?;
        let ["hook", "--fallback", why, "--id", id, "--within", within, "--", harness, event] =
            words.as_slice()
        else {
            return None;
        };
        Some(Self {
            harness: (*harness).to_owned(),
            event: (*event).to_owned(),
            within: within.parse().ok()?,
            is_trial: false,
            fallback: Some((*why).to_owned()),
            id: Some(id.parse().ok()?),
        })
    }
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let harness = read_input::parse_harness(&args.harness)?;
    // From here on, a failure becomes a reply that denies the call.
    let started = Instant::now();
    let answered = answer_hook(context, harness, args, started)
        .unwrap_or_else(|error| AnsweredCall::InProcess(harness.refuse(&args.event, &error.message)));
    let (exit, written) = match &answered {
        AnsweredCall::ByDaemon(answer) => {
            (answer.exit, context.terminal.write_reply(answer.stdout(), answer.stderr()))
        }
        AnsweredCall::InProcess(reply) => {
            (reply.exit, context.terminal.write_reply(reply.stdout.as_bytes(), reply.stderr.as_bytes()))
        }
    };
    if let (AnsweredCall::InProcess(_), Ok(home), false) = (&answered, context.home(), args.is_trial) {
        start::import_long_spool(context, home);
    }
    match written {
        Ok(()) => Ok(ExitCode::from(exit)),
        // If the reply does not reach the harness, only the exit code can tell the harness that the call failed.
        Err(error) => Err(CommandError::user(format!("cannot write the reply: {error}"))),
    }
}

enum AnsweredCall {
    ByDaemon(DaemonAnswer),
    InProcess(HookReply),
}

fn answer_hook(
    context: &Context,
    harness: &'static Harness,
    args: &Args,
    started: Instant,
) -> Result<AnsweredCall, CommandError> {
    let within = Duration::from_secs(args.within);
    // The hook program has already received the payload of a fallback call, so `within` does not limit the reading.
    let payload_timeout =
        if args.fallback.is_some() { input::PAYLOAD_TIMEOUT } else { input::PAYLOAD_TIMEOUT.min(within) };
    let payload = read_input::read_standard_input(payload_timeout);
    if args.is_trial {
        return evaluate_trial(context, harness, args, &payload?).map(AnsweredCall::InProcess);
    }
    let id = match args.id {
        Some(id) => id,
        None => id::mint().parse().map_err(|error| CommandError::internal(format!("{error}")))?,
    };
    let why = match (&args.fallback, &payload) {
        (Some(why), _) => why.clone(),
        (None, Err(error)) => error.message.clone(),
        (None, Ok(payload)) => match ask_daemon(context, harness, args, id, within, payload) {
            Ok(answer) => return Ok(AnsweredCall::ByDaemon(answer)),
            Err(why) => why,
        },
    };
    if let Ok(home) = context.home() {
        start::start_if_configured(context, home);
    }
    let mut meta = context.new_call_meta(harness, &args.event)?;
    meta.id = id;
    let left = within.saturating_sub(started.elapsed());
    evaluate_in_process(context, harness, &meta, payload, &why, left).map(AnsweredCall::InProcess)
}

fn ask_daemon(
    context: &Context,
    harness: &Harness,
    args: &Args,
    id: EventId,
    within: Duration,
    payload: &[u8],
) -> Result<DaemonAnswer, String> {
    // A newer daemon also answers older hooks.
    let home = context.unchecked_home().ok_or("no state directory")?;
    let project = harness.project_variable.and_then(|name| context.env.harness_variables.get(name));
    let request = wire::HookRequest {
        harness: harness.id,
        event: &args.event,
        id: &id.to_string(),
        within_ms: u64::try_from(within.as_millis()).unwrap_or(u64::MAX),
        version: VERSION,
        revision: wire::REVISION,
        project: project.map(|path| path.as_os_str().as_bytes()),
        headless: context.env.is_headless(harness),
        parent: std::os::unix::process::parent_id(),
        payload_len: payload.len(),
    };
    ask(&home.socket(), &request, payload).map_err(|error| error.to_string())
}

/// Evaluates a `--try` call with the current files, without a record.
fn evaluate_trial(
    context: &Context,
    harness: &'static Harness,
    args: &Args,
    payload: &[u8],
) -> Result<HookReply, CommandError> {
    let meta = context.new_call_meta(harness, &args.event)?;
    let mut call = LocalCall { context, home: context.home()?, harness, records: None };
    Ok(answer_call_now(&mut call, harness, &meta, payload))
}

/// Evaluates a call without a daemon.
fn evaluate_in_process(
    context: &Context,
    harness: &'static Harness,
    meta: &CallMeta,
    payload: Result<Vec<u8>, CommandError>,
    why: &str,
    within: Duration,
) -> Result<HookReply, CommandError> {
    let home = context.home()?;
    home.create()?;
    let why = &remember_agent(home, harness.id, why);
    let payload = match payload {
        // The hook program passes the reason why it could not read the payload.
        Ok(payload) if payload.is_empty() && why.starts_with(input::UNREADABLE_INPUT) => {
            let error = harness.decode(meta, &payload).err();
            Err(error.map_or_else(|| why.to_owned(), |error| format!("{error} ({why})")))
        }
        Ok(payload) => Ok(payload),
        Err(error) => Err(error.message),
    };
    let mut call = LocalCall { context, home, harness, records: Some(SpooledDecision { why, within }) };
    Ok(match payload {
        Ok(payload) => answer_call_now(&mut call, harness, meta, &payload),
        Err(reason) => refuse_call_now(&mut call, harness, meta, reason),
    })
}

/// Marks the calling process as a guarded agent. Returns the reason for the in-process evaluation, which is recorded
/// with the call. If the mark cannot be written, the reason mentions that.
pub(in crate::commands) fn remember_agent(home: &Home, harness: &str, why: &str) -> String {
    let pid = i32::try_from(std::process::id()).unwrap_or(0);
    match Agents::of(home).remember(pid, harness) {
        Ok(()) => why.to_owned(),
        Err(error) => format!("{why}; cannot mark the agent: {}", error.message),
    }
}

/// A call that this process evaluates.
struct LocalCall<'a> {
    context: &'a Context,
    home: &'a Home,
    harness: &'static Harness,
    /// `None` if the call is a trial and leaves no record.
    records: Option<SpooledDecision<'a>>,
}

/// A decision that is written to the spool.
struct SpooledDecision<'a> {
    /// Reason why the daemon did not decide.
    why: &'a str,
    /// Time limit for all hooks together.
    within: Duration,
}

impl BlockingCallEvaluator for LocalCall<'_> {
    fn evaluate_now(&mut self, call: &mut HookCall) -> Result<Outcome, CommandError> {
        let (home, env) = (self.home, &self.context.env);
        if self.records.is_some() && has_secret_identifier(&mut call.event) {
            LedgerHandle::of(home).redact_identifiers(&mut call.event);
        }
        let place = WorkDirs::of(&call.event);
        let pipeline = match &self.records {
            Some(SpooledDecision { why, within }) => CallPipeline::offline(home, env, &place, why, *within),
            None => CallPipeline::open(home, env, &place, RecordTarget::None),
        };
        let pipeline = pipeline?;
        let usage = attach_usage(self.context, home, &pipeline, self.harness, call);
        let outcome = run_until_signal::fire_until_signal(&pipeline, call)?;
        if let Some((reader, found)) = usage.filter(|_| self.records.is_some()) {
            reader.mark_recorded(&found);
            reader.save();
        }
        // The process ends right after this, so freeing the rules would only take time.
        std::mem::forget(pipeline);
        Ok(outcome)
    }

    fn record_refusal_now(&mut self, refusal: &RefusedCall) -> Result<(), RecordError> {
        let Some(SpooledDecision { why, .. }) = &self.records else { return Ok(()) };
        let facts = json!({"fallback": why});
        SpoolRecorder { home: self.home.clone(), detail: None, facts }.spool_decision(&refusal.decided())
    }
}

/// Reads the usage of the call's session if a rule has a budget. Otherwise the daemon reads it later.
fn attach_usage(
    context: &Context,
    home: &Home,
    pipeline: &CallPipeline,
    harness: &'static Harness,
    call: &mut HookCall,
) -> Option<(UsageReader, UsageUpdate)> {
    if !pipeline.has_budgets() {
        return None;
    }
    let request = UsageReader::request(harness, call)?;
    let reader = UsageReader::new(home, &context.env);
    let found = reader.read(&request, TranscriptOwner::current(), MAX_READ_BYTES);
    call.event.detail.usage.clone_from(&found.usage);
    Some((reader, found))
}
