// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Creates, lists and revokes enrolment tokens.

use axum::Json;
use axum::extract::Path;
use serde_json::{Value, json};

use super::operator::OperatorRequest;
use crate::error::FleetError;
use crate::store::{NewToken, OperatorRole};

pub(super) async fn create(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Admin)?;
    let new: NewToken = request.json()?;
    let (id, token) = request.context.store.create_token(&request.tenant, &new, &request.actor).await?;
    let detail = json!({ "token": id, "uses": new.uses, "life_seconds": new.life_seconds, "labels": new.labels, "ci": new.ci, "ring": new.ring });
    if let Err(error) =
        request.context.actions.record(&request.tenant, &request.actor, "token-create", detail).await
    {
        // A token that was not recorded must not be usable.
        request.context.store.revoke_token(&request.tenant, &id).await?;
        return Err(error);
    }
    Ok(Json(json!({ "id": id, "token": token })))
}

pub(super) async fn list(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Admin)?;
    Ok(Json(json!({ "tokens": request.context.store.list_tokens(&request.tenant).await? })))
}

pub(super) async fn revoke(
    Path(id): Path<String>,
    request: OperatorRequest,
) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Admin)?;
    request.context.store.revoke_token(&request.tenant, &id).await?;
    request
        .context
        .actions
        .record(&request.tenant, &request.actor, "token-revoke", json!({ "token": id }))
        .await?;
    Ok(Json(json!({ "id": id })))
}
