// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Handles a user's answer to a waiting call: once, for its session, or as a rule. Approving is a privileged action.

use std::sync::Arc;

use serde_json::{Value, json};
use tenterhook_api::{Approval, ApprovalAnswer, ApprovalResult, ApprovalScope, ApprovalVerdict};
use tenterhook_authority::{Action, AuthorityRefusal};
use tenterhook_error::Failure;
use tenterhook_event::HookCall;

use super::{UserAnswer, exception, origins_that_ask};
use crate::daemon::Daemon;
use crate::listen::Peer;

/// Why an answer was refused.
pub(crate) enum AnswerRefusal {
    /// No call with this id is waiting.
    NotPending,
    /// An approval must name the call by its full id and digest.
    DigestMissing,
    /// The waiting call is not the one that was shown.
    Changed,
    /// The caller may not approve.
    Refused(AuthorityRefusal),
    /// The answer could not be carried out.
    Failed(Failure),
}

/// Answers a waiting call.
pub(crate) async fn answer(
    daemon: &Arc<Daemon>,
    id: &str,
    answer: ApprovalAnswer,
    peer: Peer,
) -> Result<ApprovalResult, AnswerRefusal> {
    let (approval, call) = daemon.approvals.find(id).ok_or(AnswerRefusal::NotPending)?;
    let ApprovalAnswer { answer: verdict, digest, scope, note, proof } = answer;
    check_shown(&approval, id, verdict, digest.as_deref())?;
    let mut detail = json!({"id": approval.id, "digest": approval.digest, "note": note, "rules": origins_that_ask(&approval.reasons)});
    if verdict == ApprovalVerdict::Deny {
        let caller = daemon.caller(peer);
        insert_field(&mut detail, "authority", caller.to_json());
        let recorded = daemon.record_change("deny", caller.uid, detail, vec![approval.id]).await;
        recorded.map_err(|error| AnswerRefusal::Failed(Failure::internal(error.to_string())))?;
        send_answer(daemon, &approval, UserAnswer { approved: false, who: daemon.user_name(peer), note })?;
        return Ok(ApprovalResult { id: approval.id, answer: verdict, scope: None, rule: None });
    }
    // The policy must not change between reading and writing it.
    let _turn = daemon.change_lock.lock().await;
    // Errors are found before the user is asked for proof.
    let exception = match scope {
        ApprovalScope::Rule => {
            Some(exception::prepare(daemon, &approval, &call).map_err(AnswerRefusal::Failed)?)
        }
        ApprovalScope::Session if call.event.harness_session_id.is_none() || approval.reasons.is_empty() => {
            let failure = Failure::user("the call has no session id");
            return Err(AnswerRefusal::Failed(failure.hint("approve it once: `--for once`")));
        }
        ApprovalScope::Once | ApprovalScope::Session => None,
    };
    insert_field(&mut detail, "for", json!(scope));
    if let Some(exception) = &exception {
        insert_field(&mut detail, "rule", json!({"id": exception.id, "file": daemon.home.policy()}));
    }
    daemon
        .admit(Action::Approve, peer, &proof, detail, vec![approval.id])
        .await
        .map_err(AnswerRefusal::Refused)?;
    match (scope, &exception) {
        (ApprovalScope::Session, _) => remember(daemon, &approval, &call),
        (_, Some(exception)) => {
            exception.write(daemon).map_err(AnswerRefusal::Failed)?;
            let daemon = Arc::clone(daemon);
            // If this fails, the file watch reads the file again.
            drop(tokio::task::spawn_blocking(move || daemon.generations.refresh(true)).await);
        }
        (ApprovalScope::Once | ApprovalScope::Rule, None) => {}
    }
    send_answer(daemon, &approval, UserAnswer { approved: true, who: daemon.user_name(peer), note })?;
    let rule = Some(exception.map(|exception| exception.id));
    Ok(ApprovalResult { id: approval.id, answer: verdict, scope: Some(scope), rule })
}

/// Refuses an approval of a call that the user was not shown. An approval must contain the full id, because a
/// sender could replace the call with another one whose id has the same ending.
fn check_shown(
    approval: &Approval,
    id: &str,
    verdict: ApprovalVerdict,
    digest: Option<&str>,
) -> Result<(), AnswerRefusal> {
    match digest {
        Some(digest) if digest != approval.digest => Err(AnswerRefusal::Changed),
        Some(_)
            if verdict == ApprovalVerdict::Approve && !id.eq_ignore_ascii_case(&approval.id.to_string()) =>
        {
            Err(AnswerRefusal::DigestMissing)
        }
        None if verdict == ApprovalVerdict::Approve => Err(AnswerRefusal::DigestMissing),
        Some(_) | None => Ok(()),
    }
}

/// Sends the answer to the waiting call.
pub(super) fn send_answer(
    daemon: &Daemon,
    approval: &Approval,
    answered: UserAnswer,
) -> Result<(), AnswerRefusal> {
    let pending = daemon.approvals.take_shown(approval).ok_or(AnswerRefusal::NotPending)?;
    pending.answer.send(answered).map_err(|_| AnswerRefusal::NotPending)
}

fn remember(daemon: &Daemon, approval: &Approval, call: &HookCall) {
    if let Err(failure) =
        daemon.approvals.lock_session_approvals().add(call, &origins_that_ask(&approval.reasons))
    {
        tracing::warn!(
            why = failure.message,
            "an approval for a session could not be saved; it is valid until the daemon shuts down"
        );
    }
}

fn insert_field(value: &mut Value, key: &str, what: Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.insert(key.to_owned(), what);
    }
}
