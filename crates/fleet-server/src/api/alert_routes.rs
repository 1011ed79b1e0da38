// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists and acknowledges alerts.

use axum::Json;
use axum::extract::Path;
use serde::Deserialize;
use serde_json::{Value, json};

use super::operator::OperatorRequest;
use crate::error::FleetError;
use crate::store::OperatorRole;

#[derive(Deserialize)]
struct AlertSearch {
    #[serde(default)]
    all: bool,
}

pub(super) async fn list(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    let AlertSearch { all } = request.parameters()?;
    Ok(Json(json!({ "alerts": request.context.store.list_alerts(&request.tenant, all).await? })))
}

pub(super) async fn acknowledge(
    Path(id): Path<i64>,
    request: OperatorRequest,
) -> Result<Json<Value>, FleetError> {
    request.require_on_pages(OperatorRole::Author)?;
    request.context.store.acknowledge_alert(&request.tenant, id, &request.actor).await?;
    request
        .context
        .actions
        .record(&request.tenant, &request.actor, "alert-acknowledge", json!({ "alert": id }))
        .await?;
    Ok(Json(json!({ "id": id })))
}
