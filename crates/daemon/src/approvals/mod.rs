// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Calls that wait for a user's approval, because a rule or hook asks and the harness itself cannot ask the user.
//!
//! The `ask` is recorded before a user sees it. Its result (approved, denied, expired) is a second record, linked to
//! the first. Waiting calls are in memory only, and are denied when the daemon shuts down.

mod answer;
mod exception;
mod pending_call;
mod repeated_gates;
mod session_approvals;
mod signed_answer;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_api::Approval;
use tenterhook_engine::fold;
use tenterhook_event::{Attributed, Decision, EventId, Finding, HookCall, Origin, Outcome};
use tenterhook_harness::{AskSupport, Harness};
use tenterhook_home::Home;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

pub(crate) use answer::{AnswerRefusal, answer};
use repeated_gates::ApprovedGates;
use session_approvals::SessionApprovals;
pub(crate) use signed_answer::answer_signed;

use crate::daemon::Daemon;
use crate::listen::Peer;

/// Maximum time that a call waits for a user, even if its caller would wait longer.
pub(crate) const MAX_WAIT: Duration = Duration::from_mins(10);
/// How long before the caller's timeout the answer is sent.
const REPLY_MARGIN: Duration = Duration::from_secs(2);

/// Calls that wait for approval, and approvals for whole sessions.
pub(crate) struct Approvals {
    pending: Mutex<BTreeMap<EventId, WaitingCall>>,
    remembered: Mutex<SessionApprovals>,
    other_gates: Mutex<ApprovedGates>,
    /// Counts changes of the list and notifies watchers.
    changes: watch::Sender<u64>,
}

/// A call that waits for a user.
struct WaitingCall {
    approval: Approval,
    call: HookCall,
    answer: oneshot::Sender<UserAnswer>,
}

/// A user's answer, sent to the waiting call.
pub(crate) struct UserAnswer {
    approved: bool,
    /// Name of the user.
    who: String,
    note: Option<String>,
}

/// Removes a call from the list when dropped.
struct ListedCall<'a> {
    approvals: &'a Approvals,
    id: EventId,
}

/// Returns the time until which a call may wait for a user; `None` if the harness asks the user itself or the
/// event cannot be prevented. `began` is when the caller started to wait, and `within` is its timeout. If
/// `waits_headless`, the harness runs without its prompt, and the user chose that its calls wait.
pub(crate) fn deadline(
    harness: &Harness,
    event: &str,
    began: Instant,
    within: Duration,
    waits_headless: bool,
) -> Option<Instant> {
    let waits = |ask| ask == AskSupport::Wait || waits_headless && ask == AskSupport::Prompt;
    harness.event(event).filter(|row| waits(row.ask))?;
    let within = harness.deadline(event).map_or(within, |deadline| deadline.min(within));
    Some(began + within.saturating_sub(REPLY_MARGIN))
}

/// Waits for a user to answer a call whose outcome is `ask`. Returns the final outcome.
pub(crate) async fn wait_for_answer(
    daemon: &Daemon,
    peer: Peer,
    call: &HookCall,
    outcome: Outcome,
    until: Instant,
) -> Outcome {
    let approvals = &daemon.approvals;
    let id = call.event.id;
    let asking = origins_that_ask(&outcome.reasons);
    let covered = approvals.lock_session_approvals().covers(call, &asking);
    if let Some(first) = covered {
        let detail = json!({"for": "session", "of": first, "authority": {"via": "session"}});
        return apply_earlier_approval(daemon, id, first, detail, outcome, "approved for this session").await;
    }
    let covered = approvals.lock_gates().take(call, &asking);
    if let Some(first) = covered {
        let detail = json!({"for": "once", "of": first, "authority": {"via": "same call"}});
        return apply_earlier_approval(
            daemon,
            id,
            first,
            detail,
            outcome,
            "approved at the permission request of this call",
        )
        .await;
    }
    let agent = tokio::task::block_in_place(|| daemon.agent_process(peer, &call.event.source));
    let Some(_place) = daemon.begin_waiting(peer, agent) else {
        return deny(
            outcome,
            "Too many calls of this account or agent are waiting for approval, so this call was denied. Retry it later.",
        );
    };
    let (send, receive) = oneshot::channel();
    let approval = pending_call::describe_call(call, &outcome, until);
    let waited = pending_call::wait_seconds(&approval);
    let notice = daemon.notifications.waiting_notice(peer, &approval, outcome.deciding_rule(), waited);
    let Some(_listed) = approvals.add_pending(WaitingCall { approval, call: call.clone(), answer: send })
    else {
        return deny(
            outcome,
            "A call with this id is already waiting for approval, so this call was denied.",
        );
    };
    daemon.notifications.send(notice);
    let answer = tokio::select! {
        answer = receive => answer.ok(),
        () = tokio::time::sleep_until(until) => None,
        () = daemon.wait_drained() => None,
    };
    daemon.observers.approval_ended(&call.event);
    match answer {
        Some(UserAnswer { approved: true, who, .. }) => {
            approvals.lock_gates().add(call, asking);
            approve(outcome, format!("approved by {who}"))
        }
        Some(UserAnswer { approved: false, who, note }) => {
            let note = note.map(|note| format!(": {note}")).unwrap_or_default();
            deny(outcome, &format!("Denied by {who}{note}"))
        }
        None => {
            let why = match Instant::now() {
                _ if daemon.is_draining() => "the daemon shut down",
                now if now < until => "the caller is gone",
                _ => "no user answered",
            };
            let recorded =
                daemon.record_change("approval expired", daemon.uid, json!({"why": why}), vec![id]).await;
            if let Err(error) = recorded {
                tracing::warn!(%error, "an expired approval could not be recorded");
            }
            let text = format!(
                "No user approved this call within {waited} s, so it was denied. Ask the user to watch \
                 `tenterhook approvals list` and to run `tenterhook approvals approve {id}` while the call waits, \
                 then retry it."
            );
            deny(outcome, &text)
        }
    }
}

/// Applies an earlier approval to this event, and records that it was applied.
async fn apply_earlier_approval(
    daemon: &Daemon,
    id: EventId,
    first: EventId,
    detail: Value,
    outcome: Outcome,
    why: &str,
) -> Outcome {
    match daemon.record_change("approve", daemon.uid, detail, vec![id, first]).await {
        Ok(()) => approve(outcome, why.to_owned()),
        Err(why) => deny(outcome, &format!("The approval could not be recorded: {why}")),
    }
}

fn approve(mut outcome: Outcome, why: String) -> Outcome {
    outcome.decision = Decision::Allow;
    outcome.reasons = vec![Attributed { by: Origin::Engine, value: why }];
    outcome.nudges.clear();
    outcome
}

fn deny(outcome: Outcome, why: &str) -> Outcome {
    let reason = outcome.reason().map(|reason| reason + "\n").unwrap_or_default() + why;
    fold::strengthen(outcome, Finding::decided(Origin::Engine, Decision::Deny, reason))
}

/// Returns the rules and hooks that ask, sorted.
fn origins_that_ask(reasons: &[Attributed<String>]) -> Vec<Origin> {
    let mut origins_that_ask: Vec<Origin> = reasons.iter().map(|reason| reason.by.clone()).collect();
    origins_that_ask.sort();
    origins_that_ask.dedup();
    origins_that_ask
}

impl Approvals {
    pub(crate) fn new(home: &Home) -> Self {
        Self {
            pending: Mutex::default(),
            remembered: Mutex::new(SessionApprovals::read(home)),
            other_gates: Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.lock_pending().len()
    }

    /// Returns the waiting calls, oldest first.
    pub(crate) fn list_pending(&self) -> Vec<Approval> {
        self.lock_pending().values().map(|pending| pending.approval.clone()).collect()
    }

    /// Returns the only call whose id equals `id_end` or ends with it.
    pub(crate) fn find(&self, id_end: &str) -> Option<(Approval, HookCall)> {
        let id_end = id_end.to_ascii_uppercase();
        let pending = self.lock_pending();
        let mut found = pending.iter().filter(|(id, _)| id.to_string().ends_with(&id_end));
        match (found.next(), found.next()) {
            (Some((_, pending)), None) if id_end.len() >= 4 => {
                Some((pending.approval.clone(), pending.call.clone()))
            }
            _ => None,
        }
    }

    /// Removes a call whose caller has disconnected.
    pub(crate) fn abandon(&self, id: EventId) {
        drop(self.take(id));
    }

    /// Returns a receiver that is notified when the list changes.
    pub(crate) fn subscribe_changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Removes the call that was shown. A different call with the same id stays.
    fn take_shown(&self, approval: &Approval) -> Option<WaitingCall> {
        let mut all = self.lock_pending();
        all.get(&approval.id).filter(|pending| pending.approval.digest == approval.digest)?;
        let taken = all.remove(&approval.id);
        drop(all);
        self.changes.send_modify(|count| *count += 1);
        taken
    }

    fn take(&self, id: EventId) -> Option<WaitingCall> {
        let taken = self.lock_pending().remove(&id);
        if taken.is_some() {
            self.changes.send_modify(|count| *count += 1);
        }
        taken
    }

    fn add_pending(&self, pending: WaitingCall) -> Option<ListedCall<'_>> {
        let id = pending.approval.id;
        let mut all = self.lock_pending();
        // A repeated id means that the same call was sent twice. The first one stays in the list.
        if all.contains_key(&id) {
            return None;
        }
        all.insert(id, pending);
        drop(all);
        self.changes.send_modify(|count| *count += 1);
        Some(ListedCall { approvals: self, id })
    }

    fn lock_pending(&self) -> std::sync::MutexGuard<'_, BTreeMap<EventId, WaitingCall>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_gates(&self) -> std::sync::MutexGuard<'_, ApprovedGates> {
        self.other_gates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_session_approvals(&self) -> std::sync::MutexGuard<'_, SessionApprovals> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ListedCall<'_> {
    fn drop(&mut self) {
        self.approvals.abandon(self.id);
    }
}
