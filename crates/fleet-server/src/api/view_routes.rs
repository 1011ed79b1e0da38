// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What only the pages of the dashboard show. Every operator may read it.

use axum::extract::Path;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use tenterhook_event::Timestamp;
use tenterhook_fleet_bundle::{Bundle, Trust, find_changes};

use super::SharedContext;
use super::operator::OperatorRequest;
use super::policy_routes::current_trust;
use crate::error::FleetError;
use crate::store::OperatorRole;

/// Maximum number of changes of a bundle that are listed.
const MAX_LISTED_CHANGES: usize = 50;

/// Builds the routes.
pub(super) fn router() -> Router<SharedContext> {
    Router::new()
        .route("/v1/overview", get(overview))
        .route("/v1/decisions/values", get(values))
        .route("/v1/machines/{machine}/records/{record}", get(record))
        .route("/v1/policy/bundles/{version}/changes", get(changes))
        .route("/v1/policy/history", get(history))
}

async fn overview(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    Ok(Json(json!({ "overview": request.context.store.overview(&request.tenant).await? })))
}

async fn values(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    Ok(Json(json!({ "values": request.context.store.decision_values(&request.tenant).await? })))
}

async fn record(
    Path((machine, record)): Path<(String, u64)>,
    request: OperatorRequest,
) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    let found = request.context.store.find_record(&request.tenant, &machine, record).await?;
    let found = found.ok_or_else(|| {
        FleetError::not_found(format!("no row of record {record} of `{machine}`"))
            .with_hint("only asked, denied, changed and failed calls have rows")
    })?;
    Ok(Json(json!({ "record": found })))
}

async fn history(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    Ok(Json(json!({ "history": request.context.store.rollout_history(&request.tenant).await? })))
}

/// Compares a bundle with the version before it, as machines do: which changes weaken protection?
async fn changes(Path(version): Path<u64>, request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    let (store, tenant) = (&request.context.store, &request.tenant);
    let (_, bytes) = store
        .find_bundle(tenant, version)
        .await?
        .ok_or_else(|| FleetError::not_found(format!("there is no policy version {version}")))?;
    let listed = store.list_bundles(tenant).await?;
    let before = listed.iter().map(|bundle| bundle.version).find(|other| *other < version);
    let before_bytes = match before {
        Some(before) => store.find_bundle(tenant, before).await?.map(|(_, bytes)| bytes),
        None => None,
    };
    let trust = current_trust(store, tenant).await?;
    let now = jiff::Timestamp::now().as_millisecond();
    let now = Timestamp::from_unix_ms(u64::try_from(now).unwrap_or_default());
    let compared =
        tokio::task::spawn_blocking(move || compare(&bytes, before_bytes.as_deref(), &trust, now)).await;
    let found = compared.map_err(|error| FleetError::internal(error.to_string()))??;
    let shown: Vec<&String> = found.iter().take(MAX_LISTED_CHANGES).collect();
    Ok(Json(json!({
        "version": version, "compared_with": before, "weakening": !found.is_empty(), "total": found.len(),
        "changes": shown,
    })))
}

fn compare(new: &[u8], old: Option<&[u8]>, trust: &Trust, now: Timestamp) -> Result<Vec<String>, FleetError> {
    let open = |bytes: &[u8]| {
        Bundle::open(bytes, trust).map_err(|error| {
            FleetError::conflict(format!("the bundle cannot be compared: {error}"))
                .with_hint("the signers of new machines were replaced since it was pushed")
        })
    };
    let (new, old) = (open(new)?, old.map(open).transpose()?);
    let found = find_changes(old.as_ref(), &new, now)
        .map_err(|error| FleetError::conflict(format!("the bundle cannot be compared: {error}")))?;
    Ok(found.iter().map(ToString::to_string).collect())
}
