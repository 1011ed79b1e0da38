// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Keys of operators.

use axum::Json;
use axum::extract::Path;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use super::operator::OperatorRequest;
use crate::error::FleetError;
use crate::store::OperatorRole;

#[derive(Deserialize)]
struct NewOperator {
    name: String,
    role: OperatorRole,
    public_key: String,
}

pub(super) async fn add(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Admin)?;
    let new: NewOperator = request.json()?;
    let key: Option<[u8; 32]> = STANDARD.decode(&new.public_key).ok().and_then(|key| key.try_into().ok());
    let key = key.ok_or_else(|| FleetError::invalid("the public key is not 32 bytes in base 64"))?;
    let detail = json!({ "name": new.name, "role": new.role, "public_key": new.public_key });
    request.context.actions.record(&request.tenant, &request.actor, "key-add", detail).await?;
    let operator = (request.tenant.as_str(), new.name.as_str(), new.role);
    let id = request.context.store.add_operator(operator, &key, &request.actor).await?;
    Ok(Json(json!({ "id": id })))
}

pub(super) async fn list(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    Ok(Json(json!({ "keys": request.context.store.list_operators(&request.tenant).await? })))
}

pub(super) async fn revoke(
    Path(id): Path<String>,
    request: OperatorRequest,
) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Admin)?;
    request.context.store.revoke_operator(&request.tenant, &id).await?;
    request
        .context
        .actions
        .record(&request.tenant, &request.actor, "key-revoke", json!({ "key": id }))
        .await?;
    Ok(Json(json!({ "id": id })))
}
