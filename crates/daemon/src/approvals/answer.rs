// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A person answers: through the gate, for this call, its session, or for good.

use std::sync::Arc;

use serde_json::{Value, json};
use tenterhook_api::{Approval, ApprovalAnswer, ApprovalResult, ApprovalScope, ApprovalVerdict};
use tenterhook_authority::{Action, Refused};
use tenterhook_error::Failure;
use tenterhook_event::Call;

use super::{Answered, askers, exception};
use crate::daemon::Daemon;
use crate::listen::Peer;

/// Why an answer does not count.
pub(crate) enum Refusal {
    /// No call of this id waits.
    NobodyWaits,
    /// An approval has to name the call by its full id and digest.
    NotNamed,
    /// The call that waits is not the one that was shown.
    Changed,
    /// Whoever answered may not.
    Refused(Refused),
    /// It cannot be done so.
    Failed(Failure),
}

/// Answers a call that waits.
pub(crate) async fn answer(
    daemon: &Arc<Daemon>,
    id: &str,
    said: ApprovalAnswer,
    peer: Peer,
) -> Result<ApprovalResult, Refusal> {
    let (card, call) = daemon.approvals.find(id).ok_or(Refusal::NobodyWaits)?;
    let ApprovalAnswer { answer: said, digest, scope, note, proof } = said;
    check_shown(&card, id, said, digest.as_deref())?;
    let mut detail =
        json!({"id": card.id, "digest": card.digest, "note": note, "rules": askers(&card.reasons)});
    if said == ApprovalVerdict::Deny {
        let caller = daemon.caller(peer);
        put(&mut detail, "authority", caller.to_json());
        let recorded = daemon.change("deny", caller.uid, detail, vec![card.id]).await;
        recorded.map_err(|error| Refusal::Failed(Failure::internal(error.to_string())))?;
        hear(daemon, &card, Answered { approved: false, who: who(daemon, peer), note })?;
        return Ok(ApprovalResult { id: card.id, answer: said, scope: None, rule: None });
    }
    // Between looking at the policy and writing it nobody else writes.
    let _turn = daemon.changing.lock().await;
    // What cannot be done is found before anybody passes the gate.
    let exception = match scope {
        ApprovalScope::Rule => Some(exception::prepare(daemon, &card, &call).map_err(Refusal::Failed)?),
        ApprovalScope::Session if call.event.harness_session_id.is_none() || card.reasons.is_empty() => {
            let failure = Failure::user("the call has no session that could be told from others");
            return Err(Refusal::Failed(failure.hint("approve it once: `--for once`")));
        }
        ApprovalScope::Once | ApprovalScope::Session => None,
    };
    put(&mut detail, "for", json!(scope));
    if let Some(exception) = &exception {
        put(&mut detail, "rule", json!({"id": exception.id, "file": daemon.home.policy()}));
    }
    daemon.admit(Action::Approve, peer, &proof, detail, vec![card.id]).await.map_err(Refusal::Refused)?;
    match (scope, &exception) {
        (ApprovalScope::Session, _) => remember(daemon, &card, &call),
        (_, Some(exception)) => {
            exception.write(daemon).map_err(Refusal::Failed)?;
            let daemon = Arc::clone(daemon);
            // The file is looked at again soon anyway.
            drop(tokio::task::spawn_blocking(move || daemon.generations.refresh(true)).await);
        }
        (ApprovalScope::Once | ApprovalScope::Rule, None) => {}
    }
    hear(daemon, &card, Answered { approved: true, who: who(daemon, peer), note })?;
    let rule = Some(exception.map(|exception| exception.id));
    Ok(ApprovalResult { id: card.id, answer: said, scope: Some(scope), rule })
}

/// Refuses an answer to another call than the one that was shown. The sender of a call chooses its id, and can
/// replace a call by another one with the same end of the id.
fn check_shown(
    card: &Approval,
    id: &str,
    said: ApprovalVerdict,
    digest: Option<&str>,
) -> Result<(), Refusal> {
    match digest {
        Some(digest) if digest != card.digest => Err(Refusal::Changed),
        Some(_) if said == ApprovalVerdict::Approve && !id.eq_ignore_ascii_case(&card.id.to_string()) => {
            Err(Refusal::NotNamed)
        }
        None if said == ApprovalVerdict::Approve => Err(Refusal::NotNamed),
        Some(_) | None => Ok(()),
    }
}

/// The call that waits hears it, if it still does.
fn hear(daemon: &Daemon, card: &Approval, answered: Answered) -> Result<(), Refusal> {
    let pending = daemon.approvals.take_shown(card).ok_or(Refusal::NobodyWaits)?;
    pending.answer.send(answered).map_err(|_| Refusal::NobodyWaits)
}

fn remember(daemon: &Daemon, card: &Approval, call: &Call) {
    if let Err(failure) = daemon.approvals.remembered().add(call, &askers(&card.reasons)) {
        tracing::warn!(
            why = failure.message,
            "an approval for a session could not be written; it counts until the daemon ends"
        );
    }
}

fn who(daemon: &Daemon, peer: Peer) -> String {
    daemon.account(peer.uid().unwrap_or(daemon.uid))
}

fn put(value: &mut Value, key: &str, what: Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.insert(key.to_owned(), what);
    }
}
