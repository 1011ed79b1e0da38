// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Routes that remove machines from the fleet.

use axum::Json;
use axum::extract::Path;
use serde::Deserialize;
use serde_json::{Value, json};

use super::operator::OperatorRequest;
use crate::error::FleetError;
use crate::store::OperatorRole;

/// Maximum length of a reason.
const MAX_REASON_CHARS: usize = 400;

#[derive(Deserialize)]
struct MachineRevocation {
    #[serde(default)]
    reason: Option<String>,
}

/// Removes a machine. Its key is refused from then on, and its evidence stays.
pub(super) async fn revoke(
    Path(name): Path<String>,
    request: OperatorRequest,
) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Admin)?;
    let MachineRevocation { reason } = request.json()?;
    let reason = reason
        .map(|reason| reason.replace('\0', "\u{fffd}").chars().take(MAX_REASON_CHARS).collect::<String>());
    let (context, tenant) = (&request.context, request.tenant.as_str());
    let machine = context.store.find_machine_by_name(tenant, &name).await?;
    let detail = json!({ "machine": machine, "reason": reason });
    context.actions.record(tenant, &request.actor, "machine-revoke", detail).await?;
    context.store.revoke_machine((tenant, &machine), &request.actor, reason.as_deref()).await?;
    let is_disconnected = context.revocations.send_soon(tenant).await;
    Ok(Json(json!({ "machine": machine, "disconnected": is_disconnected })))
}
