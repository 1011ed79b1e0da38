// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Answers one hook call: decodes the native payload, records the decision, then returns the native reply.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tenterhook_api::{LiveEvent, LiveWarning};
use tenterhook_engine::{HookId, RecordError, flow};
use tenterhook_error::Failure;
use tenterhook_event::{Decision, Event, EventId, EventKind, Finding, HookCall, Origin, Outcome, TraceEntry};
use tenterhook_guard::{CallEvaluator, RefusedCall, answer_call};
use tenterhook_harness::{CallMeta, DecodeError, Harness, HookReply};
use tenterhook_home::{WorkDirs, call_meta};
use tenterhook_ledger::LedgerEntry;
use tenterhook_notify::HeadlessAsk;
use tenterhook_records::{has_secret_identifier, redact_identifiers, sanitize, secrets};
use tokio::time::Instant;

use crate::approvals;
use crate::callbacks::Callbacks;
use crate::daemon::Daemon;
use crate::hook_versions::mismatch_notice;
use crate::ledger_recorder::CallRecorder;
use crate::listen::Peer;
use crate::session_usage;

/// Payload size from which an evaluation takes noticeably long.
const LARGE_PAYLOAD_BYTES: usize = 256 * 1024;
/// Maximum length of a refusal message in the log and in live views.
const MAX_REFUSAL_CHARS: usize = 500;

/// A harness's call that has to be answered.
pub(crate) struct IncomingCall<'a> {
    pub(crate) harness: &'static Harness,
    pub(crate) peer: Peer,
    /// Event name from the hook command.
    pub(crate) event: &'a str,
    /// Id of the event, created by the hook program.
    pub(crate) id: EventId,
    pub(crate) project: Option<String>,
    /// Account under which the agent runs.
    pub(crate) user: Option<String>,
    /// The caller's time limit.
    pub(crate) within: Duration,
    /// Whether the harness runs without a prompt.
    pub(crate) headless: bool,
    /// Version of the hook program; empty if the call did not come from one.
    pub(crate) hook_version: &'a str,
    pub(crate) payload: &'a [u8],
    /// Answers of hooks that ran in the calling program.
    pub(crate) callbacks: Callbacks,
}

/// Answers one call. If the evaluation fails, the answer denies the call, provided that the call can still be
/// prevented.
pub(crate) async fn answer(daemon: &Daemon, incoming: IncomingCall<'_>) -> HookReply {
    daemon.answered.fetch_add(1, Ordering::Relaxed);
    let IncomingCall { harness, peer, event, id, within, headless, hook_version, payload, callbacks, .. } =
        incoming;
    let mut door = CallMeta::new(id, call_meta::now(), event);
    (door.project, door.user, door.headless) = (incoming.project, incoming.user, headless);
    let (began, payload_bytes) = (Instant::now(), payload.len());
    let mut call =
        DaemonCall { daemon, harness, peer, began, within, headless, hook_version, payload_bytes, callbacks };
    answer_call(&mut call, harness, &door, payload).await
}

/// Runs a step whose processor time grows with the payload. No other task can run on this thread meanwhile, so for a
/// large payload the thread's other tasks move to another thread. Calls from other accounts then continue.
pub(crate) fn run_step<T>(payload_bytes: usize, step: impl FnOnce() -> T) -> T {
    if payload_bytes > LARGE_PAYLOAD_BYTES { tokio::task::block_in_place(step) } else { step() }
}

/// A call that the daemon evaluates, with the known facts about its caller.
struct DaemonCall<'a> {
    daemon: &'a Daemon,
    harness: &'static Harness,
    peer: Peer,
    began: Instant,
    within: Duration,
    headless: bool,
    hook_version: &'a str,
    payload_bytes: usize,
    callbacks: Callbacks,
}

impl CallEvaluator for DaemonCall<'_> {
    fn decode(&self, harness: &Harness, door: &CallMeta, payload: &[u8]) -> Result<HookCall, DecodeError> {
        run_step(payload.len(), || harness.decode(door, payload))
    }

    async fn evaluate(&mut self, call: &mut HookCall) -> Result<Outcome, Failure> {
        let (daemon, harness) = (self.daemon, self.harness);
        // If the caller is not the daemon's own account, project files are read with the caller's rights.
        let caller = daemon.other_account(self.peer);
        daemon.prepare(self.peer, &mut call.event);
        daemon.undelivered.note_result(&call.event);
        let usage = session_usage::attach(daemon, harness, call, caller).await;
        let answered = std::mem::take(&mut self.callbacks).read(&call.event);
        let outcome = fire_as(daemon, call, self.peer, self.payload_bytes, answered).await?;
        if let Some(found) = usage {
            daemon.usage.mark_recorded(&found);
            daemon.unsaved_usage.note();
        }
        let waits_headless = self.headless && daemon.notifications.headless() == HeadlessAsk::Wait;
        let native_event = &call.event.native_event;
        let outcome =
            match approvals::deadline(harness, native_event, self.began, self.within, waits_headless) {
                Some(until) if outcome.decision == Decision::Ask => {
                    approvals::wait_for_answer(daemon, self.peer, call, outcome, until).await
                }
                _ => {
                    daemon.notifications.report_outcome(self.peer, call, &outcome);
                    outcome
                }
            };
        let is_start = call.event.event == EventKind::SessionStart;
        Ok(match mismatch_notice(self.hook_version).filter(|_| is_start) {
            Some(notice) => {
                let finding = Finding { message: Some(notice), ..Finding::silent(Origin::Engine) };
                tenterhook_engine::fold::strengthen(outcome, finding)
            }
            None => outcome,
        })
    }

    async fn record_refusal(&mut self, refusal: &RefusedCall) -> Result<(), RecordError> {
        let (observers, harness) = (&self.daemon.observers, refusal.harness_id());
        let name = sanitize(&refusal.event_name, MAX_REFUSAL_CHARS);
        let why = sanitize(&refusal.reason, MAX_REFUSAL_CHARS);
        tracing::warn!(harness, event = name, why, "a call was refused");
        observers.metrics.count_refusal();
        observers.metrics.minutes.count_refusal(call_meta::now_ms());
        observers.live.publish(|| {
            LiveEvent::Warning(LiveWarning {
                what: "a call was refused".to_owned(),
                harness: Some(harness.to_owned()),
                event: Some(name.clone()),
                why: Some(why.clone()),
                ..LiveWarning::default()
            })
        });
        let entry = LedgerEntry::decision(&refusal.decided(), &secrets);
        self.daemon.recorder.append(entry).await.map(drop)
    }
}

impl Daemon {
    /// Prepares a decoded event: redacts identifiers, checks the session's owner, and adds the current model.
    pub(crate) fn prepare(&self, peer: Peer, event: &mut Event) {
        self.redact_identifiers(event);
        self.check_session(peer, event);
        self.attach_run(peer, event);
        self.observers.sessions.fill_from_session(event);
    }

    /// Redacts identifiers that are secrets, as the ledger's settings require.
    pub(crate) fn redact_identifiers(&self, event: &mut Event) {
        let sealing = self.ledger.sealing();
        if !sealing.keep_raw && has_secret_identifier(event) {
            redact_identifiers(event, &sealing.key);
        }
    }
}

/// Evaluates a call with the active rules and hooks of its directory.
pub(crate) async fn fire(daemon: &Daemon, call: &HookCall) -> Result<Outcome, Failure> {
    fire_on_behalf(daemon, call, &[]).await
}

/// Evaluates a call that hooks of the calling program may have answered already. If the caller is another account, the
/// project's files and the files that the call runs are read with that account's rights.
async fn fire_as(
    daemon: &Daemon,
    call: &HookCall,
    peer: Peer,
    payload_bytes: usize,
    answered: Vec<(Finding, TraceEntry)>,
) -> Result<Outcome, Failure> {
    let place = WorkDirs::of(&call.event);
    let caller = daemon.other_account(peer);
    let active = match caller {
        Some(account) => daemon.generations.for_account(&place, account).await,
        None => daemon.generations.active_for(&place),
    }?;
    let (recorder, observers) = (&daemon.recorder, &daemon.observers);
    let recorder = CallRecorder { recorder, observers, detail: &active.detail, payload_bytes };
    let account = peer.uid().filter(|_| daemon.home.is_machine_wide());
    let for_account = account.map(|account| active.generation.clone().for_account(account));
    let generation = for_account.as_ref().unwrap_or(&active.generation);
    let finished = flow::run_hooks(generation, call).await;
    let evaluate = || flow::evaluate(generation, call, answered, finished);
    // The evaluation may wait for a thread that reads files of another account.
    let may_wait = caller.is_some() && call.event.tool.is_some();
    let evaluated =
        if may_wait { tokio::task::block_in_place(evaluate) } else { run_step(payload_bytes, evaluate) };
    Ok(evaluated.record(generation, &recorder, call).await)
}

/// Evaluates a call that these hooks made themselves. The hooks do not run for it.
pub(crate) async fn fire_on_behalf(
    daemon: &Daemon,
    call: &HookCall,
    hooks: &[HookId],
) -> Result<Outcome, Failure> {
    let active = daemon.generations.active_for(&WorkDirs::of(&call.event))?;
    let (recorder, observers) = (&daemon.recorder, &daemon.observers);
    let recorder = CallRecorder { recorder, observers, detail: &active.detail, payload_bytes: 0 };
    if hooks.is_empty() {
        return Ok(flow::fire(&active.generation, &recorder, call).await);
    }
    let generation = active.generation.clone().skipping_hooks(hooks);
    Ok(flow::fire(&generation, &recorder, call).await)
}
