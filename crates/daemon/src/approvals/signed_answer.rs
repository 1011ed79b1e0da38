// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Handles an answer that an approver of the fleet signed. The signature is the proof; who delivers it does not matter.

use std::sync::Arc;

use serde_json::{Value, json};
use tenterhook_api::{ApprovalResult, ApprovalScope, ApprovalVerdict, SignedApprovalAnswer};
use tenterhook_authority::{AuthorityRefusal, RemoteApprover, UsedAnswers, check_signed_answer};
use tenterhook_error::Failure;
use tenterhook_event::EventId;
use tenterhook_fleet_protocol::{AnswerDecision, SignedAnswer};
use tenterhook_home::{FleetPolicy, call_meta};
use tenterhook_records::sanitize;

use super::answer::{AnswerRefusal, send_answer};
use super::{UserAnswer, origins_that_ask};
use crate::daemon::Daemon;
use crate::listen::Peer;

/// Answers a waiting call with a signed answer. Every refusal is recorded.
pub(crate) async fn answer_signed(
    daemon: &Arc<Daemon>,
    id: &str,
    answer: SignedApprovalAnswer,
    peer: Peer,
) -> Result<ApprovalResult, AnswerRefusal> {
    let asked = json!({"id": sanitize(id, 100), "answer": sanitize_answer(&answer)});
    let done = try_answer(daemon, id, answer).await;
    if let Err(refusal) = &done {
        let why = match refusal {
            AnswerRefusal::NotPending => "no call with this id waits for an answer",
            AnswerRefusal::DigestMissing | AnswerRefusal::Changed => "the waiting call is another one",
            AnswerRefusal::Refused(refused) => refused.why.as_str(),
            AnswerRefusal::Failed(failure) => failure.message.as_str(),
        };
        let detail = json!({
            "action": "approve", "why": why, "asked": asked,
            "authority": {"via": "fleet", "proof": "signature", "from": daemon.caller(peer).to_json()},
        });
        let links = id.parse::<EventId>().into_iter().collect();
        if let Err(error) = daemon.record_change("refused", daemon.uid, detail, links).await {
            tracing::warn!(%error, "a refused answer could not be recorded");
        }
    }
    done
}

async fn try_answer(
    daemon: &Arc<Daemon>,
    id: &str,
    answer: SignedApprovalAnswer,
) -> Result<ApprovalResult, AnswerRefusal> {
    let (approval, _) = daemon
        .approvals
        .find(id)
        .filter(|(approval, _)| id.eq_ignore_ascii_case(&approval.id.to_string()))
        .ok_or(AnswerRefusal::NotPending)?;
    let answer: SignedAnswer = serde_json::to_value(answer)
        .and_then(serde_json::from_value)
        .map_err(|error| AnswerRefusal::Failed(Failure::user(format!("invalid signed answer: {error}"))))?;
    // Two answers to one call must not both be accepted.
    let _turn = daemon.change_lock.lock().await;
    let checked = tokio::task::block_in_place(|| {
        let policy = FleetPolicy::load(&daemon.home);
        let needs_code = daemon.authority.codes.is_enabled();
        let now = call_meta::now_ms() / 1000;
        let approver = check_signed_answer(&answer, &approval, policy.as_ref(), needs_code, now)?;
        UsedAnswers::of(&daemon.home).claim(&answer, now)?;
        Ok::<RemoteApprover, AuthorityRefusal>(approver)
    });
    let approver = checked.map_err(AnswerRefusal::Refused)?;
    let verdict = match answer.decision {
        AnswerDecision::Allow => ApprovalVerdict::Approve,
        AnswerDecision::Deny => ApprovalVerdict::Deny,
    };
    let what = if verdict == ApprovalVerdict::Approve { "approve" } else { "deny" };
    let detail = json!({
        "id": approval.id, "digest": approval.digest, "call": answer.digest, "for": "once",
        "rules": origins_that_ask(&approval.reasons),
        "authority": {
            "via": "fleet", "proof": "signature", "approver": approver.name, "policy": approver.version,
            "signature": answer.signature, "not_after": answer.not_after,
        },
    });
    let recorded = daemon.record_change(what, daemon.uid, detail, vec![approval.id]).await;
    recorded.map_err(|error| AnswerRefusal::Failed(Failure::internal(error.to_string())))?;
    let approved = verdict == ApprovalVerdict::Approve;
    let who = format!("{} (fleet)", approver.name);
    send_answer(daemon, &approval, UserAnswer { approved, who, note: None })?;
    let scope = approved.then_some(ApprovalScope::Once);
    Ok(ApprovalResult { id: approval.id, answer: verdict, scope, rule: approved.then_some(None) })
}

/// Returns the parts of an answer that a record of its refusal contains.
fn sanitize_answer(answer: &SignedApprovalAnswer) -> Value {
    let SignedApprovalAnswer { machine, approval, digest, decision, not_after, approver, .. } = answer;
    let text = |text: &str| sanitize(text, 100);
    json!({
        "machine": text(machine), "approval": text(approval), "digest": text(digest),
        "decision": text(decision), "not_after": not_after, "approver": text(approver),
    })
}
