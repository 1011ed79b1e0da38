// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The road of one hook call: native payload in, native reply out, and a leaf before the reply.

use std::future::Future as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tenterhook_api::{LiveEvent, LiveWarning};
use tenterhook_engine::{HookId, flow};
use tenterhook_event::{Call, Decided, Decision, Event, EventId, EventKind, Finding, Origin, Outcome, Step};
use tenterhook_harness::{Door, Harness, Reply};
use tenterhook_home::{Place, door};
use tenterhook_ledger::Entry;
use tenterhook_records::{has_secret_identifier, redact_identifiers, secrets};
use tokio::time::Instant;

use crate::approvals;
use crate::callbacks::Callbacks;
use crate::daemon::Daemon;
use crate::hook_versions::mismatch_notice;
use crate::listen::Peer;
use crate::record::CallRecorder;
use crate::session_usage;
use tenterhook_records::sanitize;

/// A payload that takes long to evaluate, compared with a usual one.
const LARGE_PAYLOAD_BYTES: usize = 256 * 1024;
/// The longest text about a refused call in the log and in live views.
const MAX_REFUSAL_CHARS: usize = 500;

/// One call of a harness.
pub(crate) struct Asked<'a> {
    pub(crate) harness: &'static Harness,
    /// The caller.
    pub(crate) peer: Peer,
    /// As the hook command names it.
    pub(crate) event: &'a str,
    /// Minted by whoever the harness called.
    pub(crate) id: EventId,
    pub(crate) project: Option<String>,
    /// The account the agent runs under.
    pub(crate) user: Option<String>,
    /// How long whoever asked waits.
    pub(crate) within: Duration,
    /// Version of the hook program; empty if the call did not come from one.
    pub(crate) hook_version: &'a str,
    pub(crate) payload: &'a [u8],
    /// The answers of hooks in the calling program.
    pub(crate) callbacks: Callbacks,
}

/// Answers one call. Whatever goes wrong is an answer too: what can be prevented is prevented.
pub(crate) async fn answer(daemon: &Daemon, asked: Asked<'_>) -> Reply {
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

async fn decode_and_fire(daemon: &Daemon, asked: Asked<'_>) -> Reply {
    daemon.answered.fetch_add(1, Ordering::Relaxed);
    let Asked { harness, peer, event, id, project, user, within, hook_version, payload, callbacks } = asked;
    // Project files are read with the rights of the caller, if it is not the daemon's own account.
    let caller = daemon.other_account(peer);
    let began = Instant::now();
    let mut door = Door::new(id, door::now(), event);
    (door.project, door.user) = (project, user);
    let call = match harness.decode(&door, payload) {
        Ok(mut call) => {
            daemon.prepare(peer, &mut call.event);
            daemon.undelivered.note_result(&call.event);
            call
        }
        Err(error) => return refuse(daemon, harness, &door, &error.to_string()).await,
    };
    let mut call = call;
    let usage = session_usage::attach(daemon, harness, &mut call, caller).await;
    let answered = callbacks.read(&call.event);
    let outcome = match fire_as(daemon, &call, caller, answered).await {
        Ok(outcome) => outcome,
        Err(why) => return refuse(daemon, harness, &door, &why).await,
    };
    if let Some(found) = usage {
        daemon.usage.settle(&found);
        daemon.unsaved_usage.note();
    }
    let outcome = match approvals::deadline(harness, &call.event.native_event, began, within) {
        Some(until) if outcome.decision == Decision::Ask => {
            approvals::settle(daemon, peer, &call, outcome, until).await
        }
        _ => outcome,
    };
    let outcome = match mismatch_notice(hook_version).filter(|_| call.event.event == EventKind::SessionStart)
    {
        Some(notice) => {
            let finding = Finding { message: Some(notice), ..Finding::silent(Origin::Engine) };
            tenterhook_engine::fold::strengthen(outcome, finding)
        }
        None => outcome,
    };
    let mut reply = harness.encode(&call, &outcome);
    if harness.event(&call.event.native_event).is_none() {
        reply.stderr += &format!(
            "tenterhook: warning: `{}` is no event of {} that is known here; it was recorded as `other`\n",
            call.event.native_event, harness.title
        );
    }
    reply
}

impl Daemon {
    /// Prepares a decoded event: identifiers without secrets, whose session it is, and which model is at work.
    pub(crate) fn prepare(&self, peer: Peer, event: &mut Event) {
        self.redact_identifiers(event);
        self.check_session(peer, event);
        self.observers.sessions.complete(event);
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
pub(crate) async fn fire(daemon: &Daemon, call: &Call) -> Result<Outcome, String> {
    fire_on_behalf(daemon, call, &[]).await
}

/// Evaluates a call that hooks of the calling program may have answered already. `caller` is another account, with
/// whose rights the project's files are read.
async fn fire_as(
    daemon: &Daemon,
    call: &Call,
    caller: Option<u32>,
    answered: Vec<(Finding, Step)>,
) -> Result<Outcome, String> {
    let place = Place::of(&call.event);
    let in_force = match caller {
        Some(account) => daemon.generations.of_account(&place, account).await,
        None => daemon.generations.of(&place),
    };
    let in_force = in_force.map_err(|error| error.message)?;
    let (recorder, observers) = (&daemon.recorder, &daemon.observers);
    let recorder = CallRecorder { recorder, observers, made_of: &in_force.made_of };
    Ok(flow::fire_with(&in_force.generation, &recorder, call, answered).await)
}

/// Evaluates a call that these hooks made themselves: they are not asked about it.
pub(crate) async fn fire_on_behalf(
    daemon: &Daemon,
    call: &Call,
    hooks: &[HookId],
) -> Result<Outcome, String> {
    let in_force = daemon.generations.of(&Place::of(&call.event)).map_err(|error| error.message)?;
    let (recorder, observers) = (&daemon.recorder, &daemon.observers);
    let recorder = CallRecorder { recorder, observers, made_of: &in_force.made_of };
    if hooks.is_empty() {
        return Ok(flow::fire(&in_force.generation, &recorder, call).await);
    }
    let generation = in_force.generation.clone().passing_over(hooks);
    Ok(flow::fire(&generation, &recorder, call).await)
}

/// A payload nobody could read is an event too.
async fn refuse(daemon: &Daemon, harness: &Harness, door: &Door, why: &str) -> Reply {
    let row = harness.event(&door.event);
    let kind = row.map_or(EventKind::Other, |row| row.kind);
    let name = row.map_or(door.event.as_str(), |row| row.native);
    let call = Call { event: Event::new(door.id, door.ts, harness.id, kind, name), native: None };
    let finding = Finding::decided(Origin::Engine, Decision::Deny, why);
    let outcome = tenterhook_engine::fold::strengthen(Outcome::default(), finding);
    let decided =
        Decided { call: &call, outcome: &outcome, generation: "", took_us: 0, facts: None, touched: None };
    let mut reply = harness.refuse(&door.event, why);
    let (name, why) = (sanitize(&door.event, MAX_REFUSAL_CHARS), sanitize(why, MAX_REFUSAL_CHARS));
    tracing::warn!(harness = harness.id, event = name, why, "a call was refused");
    daemon.observers.metrics.refused();
    daemon.observers.metrics.minutes.refused(door::now_ms());
    daemon.observers.live.tell(|| {
        let (harness, event, why) = (harness.id.to_owned(), name.clone(), why.clone());
        LiveEvent::Warning(LiveWarning {
            what: "a call was refused".to_owned(),
            harness: Some(harness),
            event: Some(event),
            why: Some(why),
            ..LiveWarning::default()
        })
    });
    if let Err(error) = daemon.recorder.keep(Entry::decision(&decided, &secrets)).await {
        reply.stderr += &format!("tenterhook: this refusal could not be recorded: {error}\n");
    }
    reply
}
