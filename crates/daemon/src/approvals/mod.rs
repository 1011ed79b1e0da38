// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Calls that wait for a person: where a rule says `ask` and the harness cannot.
//!
//! The `ask` is a leaf before anybody is asked. Whatever comes of it (yes, no, or nobody) is another,
//! linked to it. What waits is in memory only: a daemon that ends denies it.

mod answer;
mod card;
mod exception;
mod other_gates;
mod remembered;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_api::Approval;
use tenterhook_engine::fold;
use tenterhook_event::{Call, Decision, EventId, Finding, Origin, Outcome, Said};
use tenterhook_harness::{Ask, Harness};
use tenterhook_home::Home;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

pub(crate) use answer::{Refusal, answer};
use other_gates::OtherGates;
use remembered::Remembered;

use crate::daemon::Daemon;
use crate::listen::Peer;

/// The longest that a call waits for a person, whatever the caller says.
pub(crate) const MAX_WAIT: Duration = Duration::from_mins(10);
/// How long before whoever asked gives up the answer has to be there.
const MARGIN: Duration = Duration::from_secs(2);

/// The calls that wait, and what was approved for whole sessions.
pub(crate) struct Approvals {
    pending: Mutex<BTreeMap<EventId, Pending>>,
    remembered: Mutex<Remembered>,
    other_gates: Mutex<OtherGates>,
    /// Counts changes, for whoever watches.
    changes: watch::Sender<u64>,
}

struct Pending {
    card: Approval,
    call: Call,
    answer: oneshot::Sender<Answered>,
}

/// What a person said, as the call that waits hears it.
pub(crate) struct Answered {
    approved: bool,
    /// Who said it, in words.
    who: String,
    note: Option<String>,
}

/// Takes a call off the list, however its waiting ends.
struct Listed<'a> {
    approvals: &'a Approvals,
    id: EventId,
}

/// Until when a call may wait for a person; `None`: the harness asks by itself, or nothing can be
/// prevented. `within` is how long whoever asked waits, since `began`.
pub(crate) fn deadline(harness: &Harness, event: &str, began: Instant, within: Duration) -> Option<Instant> {
    harness.event(event).filter(|row| row.ask == Ask::Wait)?;
    let within = harness.deadline(event).map_or(within, |deadline| deadline.min(within));
    Some(began + within.saturating_sub(MARGIN))
}

/// What becomes of a call that has to be asked about. Returns when somebody answered, or nobody did.
pub(crate) async fn settle(
    daemon: &Daemon,
    peer: Peer,
    call: &Call,
    outcome: Outcome,
    until: Instant,
) -> Outcome {
    let approvals = &daemon.approvals;
    let id = call.event.id;
    let asking = askers(&outcome.reasons);
    let covered = approvals.remembered().covers(call, &asking);
    if let Some(first) = covered {
        let detail = json!({"for": "session", "of": first, "authority": {"via": "session"}});
        return cover(daemon, id, first, detail, outcome, "approved for this session").await;
    }
    let covered = approvals.other_gates().take(call, &asking);
    if let Some(first) = covered {
        let detail = json!({"for": "once", "of": first, "authority": {"via": "same call"}});
        return cover(daemon, id, first, detail, outcome, "approved when its permission was asked for").await;
    }
    let agent = tokio::task::block_in_place(|| daemon.agent_process(peer, &call.event.source));
    let Some(_place) = daemon.begin_waiting(peer, agent) else {
        return denied(
            outcome,
            "Too many calls of this account or agent wait for an approval already, so it was not done.",
        );
    };
    let (send, receive) = oneshot::channel();
    let card = card::describe_call(call, &outcome, until);
    let waited = card::wait_seconds(&card);
    let Some(_listed) = approvals.list(Pending { card, call: call.clone(), answer: send }) else {
        return denied(outcome, "A call with this id waits for an approval already, so it was not done.");
    };
    let heard = tokio::select! {
        heard = receive => heard.ok(),
        () = tokio::time::sleep_until(until) => None,
        () = daemon.drained() => None,
    };
    daemon.observers.approval_ended(&call.event);
    match heard {
        Some(Answered { approved: true, who, .. }) => {
            approvals.other_gates().add(call, asking);
            approved(outcome, format!("approved by {who}"))
        }
        Some(Answered { approved: false, who, note }) => {
            let note = note.map(|note| format!(": {note}")).unwrap_or_default();
            denied(outcome, &format!("{who} said no{note}"))
        }
        None => {
            let why = match Instant::now() {
                _ if daemon.is_draining() => "the daemon ended",
                now if now < until => "whoever asked has gone",
                _ => "nobody answered",
            };
            let recorded = daemon.change("approval expired", daemon.uid, json!({"why": why}), vec![id]).await;
            if let Err(error) = recorded {
                tracing::warn!(%error, "an approval that expired could not be recorded");
            }
            let text = format!(
                "Nobody approved this within {waited} s, so it was not done. While a call waits, a person can \
                 see it with `tenterhook approvals list` and let it pass with `tenterhook approvals approve {id}`; \
                 try again when somebody is there."
            );
            denied(outcome, &text)
        }
    }
}

/// An earlier approval counts for this event too, once that is recorded.
async fn cover(
    daemon: &Daemon,
    id: EventId,
    first: EventId,
    detail: Value,
    outcome: Outcome,
    why: &str,
) -> Outcome {
    match daemon.change("approve", daemon.uid, detail, vec![id, first]).await {
        Ok(()) => approved(outcome, why.to_owned()),
        Err(why) => denied(outcome, &format!("The approval could not be recorded: {why}")),
    }
}

fn approved(mut outcome: Outcome, why: String) -> Outcome {
    outcome.decision = Decision::Allow;
    outcome.reasons = vec![Said { by: Origin::Engine, what: why }];
    outcome.nudges.clear();
    outcome
}

fn denied(outcome: Outcome, why: &str) -> Outcome {
    let reason = outcome.reason().map(|reason| reason + "\n").unwrap_or_default() + why;
    fold::strengthen(outcome, Finding::decided(Origin::Engine, Decision::Deny, reason))
}

/// Who asks: the rules and hooks that an approval is about.
fn askers(reasons: &[Said<String>]) -> Vec<Origin> {
    let mut askers: Vec<Origin> = reasons.iter().map(|said| said.by.clone()).collect();
    askers.sort();
    askers.dedup();
    askers
}

// === impl Approvals ===

impl Approvals {
    pub(crate) fn new(home: &Home) -> Self {
        Self {
            pending: Mutex::default(),
            remembered: Mutex::new(Remembered::read(home)),
            other_gates: Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }

    /// How many calls wait.
    pub(crate) fn count(&self) -> usize {
        self.pending().len()
    }

    /// What waits, oldest first.
    pub(crate) fn cards(&self) -> Vec<Approval> {
        self.pending().values().map(|pending| pending.card.clone()).collect()
    }

    /// The one call whose id this is, or ends like this.
    pub(crate) fn find(&self, said: &str) -> Option<(Approval, Call)> {
        let said = said.to_ascii_uppercase();
        let pending = self.pending();
        let mut found = pending.iter().filter(|(id, _)| id.to_string().ends_with(&said));
        match (found.next(), found.next()) {
            (Some((_, pending)), None) if said.len() >= 4 => {
                Some((pending.card.clone(), pending.call.clone()))
            }
            _ => None,
        }
    }

    /// Whoever waited for this call has gone.
    pub(crate) fn abandon(&self, id: EventId) {
        drop(self.take(id));
    }

    /// Tells whoever watches when something changes.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Takes the call that a card shows off the list, and no other of its id.
    fn take_shown(&self, card: &Approval) -> Option<Pending> {
        let mut all = self.pending();
        all.get(&card.id).filter(|pending| pending.card.digest == card.digest)?;
        let taken = all.remove(&card.id);
        drop(all);
        self.changes.send_modify(|count| *count += 1);
        taken
    }

    fn take(&self, id: EventId) -> Option<Pending> {
        let taken = self.pending().remove(&id);
        if taken.is_some() {
            self.changes.send_modify(|count| *count += 1);
        }
        taken
    }

    fn list(&self, pending: Pending) -> Option<Listed<'_>> {
        let id = pending.card.id;
        let mut all = self.pending();
        // The same id twice is the same call twice; the first one has the place.
        if all.contains_key(&id) {
            return None;
        }
        all.insert(id, pending);
        drop(all);
        self.changes.send_modify(|count| *count += 1);
        Some(Listed { approvals: self, id })
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, BTreeMap<EventId, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn other_gates(&self) -> std::sync::MutexGuard<'_, OtherGates> {
        self.other_gates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, Remembered> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.approvals.abandon(self.id);
    }
}
