// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Machines, decisions and counts, for every operator.

use axum::Json;
use serde::Deserialize;
use serde_json::{Value, json};

use super::operator::OperatorRequest;
use crate::error::FleetError;
use crate::otlp_export::otlp_logs;
use crate::store::{DecisionFilter, ExportPage, OperatorRole};

#[derive(Deserialize)]
struct MachineSearch {
    search: Option<String>,
}

#[derive(Deserialize)]
struct ExportEncoding {
    format: Option<String>,
}

#[derive(Deserialize)]
struct CountsSince {
    since: String,
}

pub(super) async fn machines(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    let MachineSearch { search } = request.parameters()?;
    let machines = request.context.store.list_machines(&request.tenant, search.as_deref()).await?;
    Ok(Json(json!({ "machines": machines })))
}

pub(super) async fn decisions(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    let filter: DecisionFilter = request.parameters()?;
    let decisions = request.context.store.list_decisions(&request.tenant, &filter).await?;
    Ok(Json(json!({ "decisions": decisions })))
}

/// Returns a page of decisions for an export, oldest first, as JSON or as a request of OTLP.
pub(super) async fn export(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    let page: ExportPage = request.parameters()?;
    let ExportEncoding { format } = request.parameters()?;
    let decisions = request.context.store.export_page(&request.tenant, &page).await?;
    let logs = (format.as_deref() == Some("otlp")).then(|| otlp_logs(&request.tenant, &decisions));
    Ok(Json(json!({ "decisions": decisions, "otlp": logs })))
}

pub(super) async fn counts(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    let CountsSince { since } = request.parameters()?;
    let counts = request.context.store.hourly_counts(&request.tenant, &since).await?;
    Ok(Json(json!({ "counts": counts })))
}
