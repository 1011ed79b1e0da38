// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Approvals of all machines, and signed answers to them. The server relays answers; it cannot make them.

use axum::Json;
use axum::extract::Path;
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_fleet_bundle::BundleDraft;
use tenterhook_fleet_protocol::{ApprovalRequest, SignedAnswer, Subject};
use tenterhook_ledger::VerifierKey;

use super::operator::OperatorRequest;
use crate::error::FleetError;
use crate::store::{ApprovalRow, OperatorRole, Store, unix_seconds};

#[derive(Deserialize)]
struct ApprovalSearch {
    #[serde(default)]
    all: bool,
}

pub(super) async fn list(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    let ApprovalSearch { all } = request.parameters()?;
    Ok(Json(json!({ "approvals": request.context.store.list_approvals(&request.tenant, all).await? })))
}

/// Returns one approval by its id or the end of it.
pub(super) async fn show(
    Path(id): Path<String>,
    request: OperatorRequest,
) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    let mut found = request.context.store.find_approvals(&request.tenant, &id).await?;
    match (found.pop(), found.is_empty()) {
        (Some(approval), true) => Ok(Json(json!({ "approval": approval }))),
        (Some(_), false) => {
            Err(FleetError::conflict(format!("several approvals end in `{id}`")).with_hint("use the full id"))
        }
        (None, _) => Err(FleetError::not_found(format!("there is no approval `{id}`"))),
    }
}

/// Relays a signed answer to its machine, which verifies it. The server verifies it first, so that a mistake is found here
/// and an answer that the machine would refuse does not take the place of a valid one.
pub(super) async fn answer(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Approver)?;
    let answer: SignedAnswer = request.json()?;
    let (context, tenant) = (&request.context, request.tenant.as_str());
    let machine = context.store.find_machine(answer.machine.as_str()).await?;
    if machine.is_none_or(|machine| machine.tenant != tenant || machine.has_left) {
        return Err(FleetError::not_found(format!("there is no machine `{}`", answer.machine)));
    }
    let bus = context.buses.iter().find(|bus| *bus.tenant == *tenant);
    let bus = bus.ok_or_else(|| FleetError::internal("the tenant has no account on the message bus"))?;
    let detail = json!({
        "machine": answer.machine, "approval": answer.approval, "digest": answer.digest,
        "decision": answer.decision, "approver": answer.approver, "not_after": answer.not_after,
    });
    let mut client = context.store.client().await?;
    let transaction = client.transaction().await?;
    let waiting = Store::lock_waiting_approval(&transaction, tenant, &answer).await?;
    let bundles = Store::bundles_of_machine(&transaction, tenant, answer.machine.as_str()).await?;
    check_answer(&answer, &waiting, &bundles)?;
    let action = (tenant, request.actor.as_str(), "approval-answer");
    context.actions.record_in(&transaction, action, detail).await?;
    Store::mark_answered(&transaction, tenant, &answer).await?;
    // It is answered only if the message bus has the answer. If the commit fails after that, the machine still takes the
    // answer, and reports that the call does not wait any more.
    bus.store(&Subject::Answer(&bus.mailbox(&answer.machine)), &answer).await?;
    transaction.commit().await?;
    Ok(Json(json!({ "machine": answer.machine, "approval": answer.approval })))
}

/// Verifies an answer with the approvers of a bundle that the machine may have.
fn check_answer(answer: &SignedAnswer, waiting: &ApprovalRow, bundles: &[Vec<u8>]) -> Result<(), FleetError> {
    let asked = ApprovalRequest {
        machine: answer.machine.clone(),
        approval: waiting.approval.clone(),
        call: waiting.call.clone(),
        expires: 0,
        closed: false,
    };
    let mut refused = None;
    for bytes in bundles {
        let manifest = BundleDraft::decode(bytes).and_then(|draft| draft.manifest());
        let Ok(manifest) = manifest else { continue };
        let keys: Vec<VerifierKey> =
            manifest.approvals.keys.iter().filter_map(|key| key.parse().ok()).collect();
        match answer.check(&asked, &keys, unix_seconds()) {
            Ok(()) => return Ok(()),
            Err(error) => refused = Some(refused.unwrap_or(error)),
        }
    }
    let why = refused
        .map_or_else(|| "the machine has no policy with approvers".to_owned(), |error| error.to_string());
    Err(FleetError::forbidden(format!("the answer is refused: {why}"))
        .with_hint("the machine would refuse it too; the call still waits"))
}
