// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One hook call in the daemon: native payload in, native reply out, and a record before the reply.

use std::future::Future as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tenterhook_api::{LiveEvent, LiveWarning};
use tenterhook_engine::{HookId, RecordError, flow};
use tenterhook_error::Failure;
use tenterhook_event::{Decision, Event, EventId, EventKind, Finding, HookCall, Origin, Outcome, TraceEntry};
use tenterhook_guard::{CallEvaluator, RefusedCall, answer_call};
use tenterhook_harness::{CallMeta, Harness, HookReply};
use tenterhook_home::{Place, call_meta};
use tenterhook_ledger::LedgerEntry;
use tenterhook_records::{has_secret_identifier, redact_identifiers, sanitize, secrets};
use tokio::time::Instant;

use crate::approvals;
use crate::callbacks::Callbacks;
use crate::daemon::Daemon;
use crate::hook_versions::mismatch_notice;
use crate::listen::Peer;
use crate::record::CallRecorder;
use crate::session_usage;

/// A payload that takes long to evaluate, compared with a usual one.
const LARGE_PAYLOAD_BYTES: usize = 256 * 1024;
/// The longest text about a refused call in the log and in live views.
const MAX_REFUSAL_CHARS: usize = 500;

/// One call of a harness.
pub(crate) struct Asked<'a> {
    pub(crate) harness: &'static Harness,
    pub(crate) peer: Peer,
    /// Event name from the hook command.
    pub(crate) event: &'a str,
    /// Minted by the hook program.
    pub(crate) id: EventId,
    pub(crate) project: Option<String>,
    /// The account the agent runs under.
    pub(crate) user: Option<String>,
    /// How long the caller waits.
    pub(crate) within: Duration,
    /// Version of the hook program; empty if the call did not come from one.
    pub(crate) hook_version: &'a str,
    pub(crate) payload: &'a [u8],
    /// The answers of hooks in the calling program.
    pub(crate) callbacks: Callbacks,
}

/// Answers one call. A failure is an answer too: it denies what can be prevented.
pub(crate) async fn answer(daemon: &Daemon, asked: Asked<'_>) -> HookReply {
    let mut is_long = asked.payload.len() > LARGE_PAYLOAD_BYTES;
    let mut answering = std::pin::pin!(decode_and_fire(daemon, asked));
    // Decoding and evaluating are the first step, and no other task runs on this thread meanwhile: a large payload
    // gets a thread of its own, so that calls of other accounts go on.
    std::future::poll_fn(|cx| {
        if std::mem::take(&mut is_long) {
            return tokio::task::block_in_place(|| answering.as_mut().poll(cx));
        }
        answering.as_mut().poll(cx)
    })
    .await
}

async fn decode_and_fire(daemon: &Daemon, asked: Asked<'_>) -> HookReply {
    daemon.answered.fetch_add(1, Ordering::Relaxed);
    let Asked { harness, peer, event, id, project, user, within, hook_version, payload, callbacks } = asked;
    let mut door = CallMeta::new(id, call_meta::now(), event);
    (door.project, door.user) = (project, user);
    let mut call =
        DaemonCall { daemon, harness, peer, began: Instant::now(), within, hook_version, callbacks };
    answer_call(&mut call, harness, &door, payload).await
}

/// A call that the daemon evaluates, with what it knows about the caller.
struct DaemonCall<'a> {
    daemon: &'a Daemon,
    harness: &'static Harness,
    peer: Peer,
    began: Instant,
    within: Duration,
    hook_version: &'a str,
    callbacks: Callbacks,
}

impl CallEvaluator for DaemonCall<'_> {
    async fn evaluate(&mut self, call: &mut HookCall) -> Result<Outcome, Failure> {
        let (daemon, harness) = (self.daemon, self.harness);
        // Project files are read with the rights of the caller, if it is not the daemon's own account.
        let caller = daemon.other_account(self.peer);
        daemon.prepare(self.peer, &mut call.event);
        daemon.undelivered.note_result(&call.event);
        let usage = session_usage::attach(daemon, harness, call, caller).await;
        let answered = std::mem::take(&mut self.callbacks).read(&call.event);
        let outcome = fire_as(daemon, call, caller, answered).await?;
        if let Some(found) = usage {
            daemon.usage.settle(&found);
            daemon.unsaved_usage.note();
        }
        let outcome = match approvals::deadline(harness, &call.event.native_event, self.began, self.within) {
            Some(until) if outcome.decision == Decision::Ask => {
                approvals::wait_for_answer(daemon, self.peer, call, outcome, until).await
            }
            _ => outcome,
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
        self.daemon.recorder.keep(entry).await.map(drop)
    }
}

impl Daemon {
    /// Prepares a decoded event: identifiers without secrets, whose session it is, and which model is at work.
    pub(crate) fn prepare(&self, peer: Peer, event: &mut Event) {
        self.redact_identifiers(event);
        self.check_session(peer, event);
        self.observers.sessions.fill_from_session(event);
    }

    /// Replaces identifiers that are secrets, as the ledger's settings say.
    pub(crate) fn redact_identifiers(&self, event: &mut Event) {
        let sealing = self.ledger.sealing();
        if !sealing.keep_raw && has_secret_identifier(event) {
            redact_identifiers(event, &sealing.key);
        }
    }
}

/// Takes a call down the road, under the generation of its place.
pub(crate) async fn fire(daemon: &Daemon, call: &HookCall) -> Result<Outcome, Failure> {
    fire_on_behalf(daemon, call, &[]).await
}

/// Evaluates a call that hooks of the calling program may have answered already. `caller` is another account, with
/// whose rights the project's files are read.
async fn fire_as(
    daemon: &Daemon,
    call: &HookCall,
    caller: Option<u32>,
    answered: Vec<(Finding, TraceEntry)>,
) -> Result<Outcome, Failure> {
    let place = Place::of(&call.event);
    let in_force = match caller {
        Some(account) => daemon.generations.of_account(&place, account).await,
        None => daemon.generations.of(&place),
    };
    let in_force = in_force?;
    let (recorder, observers) = (&daemon.recorder, &daemon.observers);
    let recorder = CallRecorder { recorder, observers, made_of: &in_force.made_of };
    Ok(flow::fire_with_findings(&in_force.generation, &recorder, call, answered).await)
}

/// Evaluates a call that these hooks made themselves: they are not asked about it.
pub(crate) async fn fire_on_behalf(
    daemon: &Daemon,
    call: &HookCall,
    hooks: &[HookId],
) -> Result<Outcome, Failure> {
    let in_force = daemon.generations.of(&Place::of(&call.event))?;
    let (recorder, observers) = (&daemon.recorder, &daemon.observers);
    let recorder = CallRecorder { recorder, observers, made_of: &in_force.made_of };
    if hooks.is_empty() {
        return Ok(flow::fire(&in_force.generation, &recorder, call).await);
    }
    let generation = in_force.generation.clone().skipping_hooks(hooks);
    Ok(flow::fire(&generation, &recorder, call).await)
}
