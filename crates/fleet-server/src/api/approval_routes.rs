// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Approvals of all machines, and signed answers to them. The server relays answers; it cannot make them.

use axum::Json;
use axum::extract::Path;
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_fleet_protocol::{SignedAnswer, Subject};

use super::operator::OperatorRequest;
use crate::error::FleetError;
use crate::store::OperatorRole;

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

/// Relays a signed answer to its machine, which verifies it.
pub(super) async fn answer(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Approver)?;
    let answer: SignedAnswer = request.json()?;
    let context = &request.context;
    let machine = context.store.find_machine(answer.machine.as_str()).await?;
    if machine.is_none_or(|machine| machine.tenant != request.tenant || machine.has_left) {
        return Err(FleetError::not_found(format!("there is no machine `{}`", answer.machine)));
    }
    let detail = json!({
        "machine": answer.machine, "approval": answer.approval, "digest": answer.digest,
        "decision": answer.decision, "approver": answer.approver, "not_after": answer.not_after,
    });
    context.actions.record(&request.tenant, &request.actor, "approval-answer", detail).await?;
    context.store.mark_answered(&request.tenant, &answer).await?;
    let bus = context.buses.iter().find(|bus| *bus.tenant == *request.tenant);
    let bus = bus.ok_or_else(|| FleetError::internal("the tenant has no account on the message bus"))?;
    bus.store(&Subject::Answer(&bus.mailbox(&answer.machine)), &answer).await?;
    Ok(Json(json!({ "machine": answer.machine, "approval": answer.approval })))
}
