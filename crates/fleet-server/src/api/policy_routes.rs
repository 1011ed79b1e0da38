// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Policy bundles and their rollouts.

use std::time::{Duration, SystemTime};

use axum::Json;
use axum::extract::Path;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_fleet_bundle::{Bundle, BundleDraft, SignerSet, Trust};

use super::operator::OperatorRequest;
use crate::bus::TenantBus;
use crate::error::FleetError;
use crate::policy_rollout::{RolloutRequest, halt_rollout, start_rollout};
use crate::store::{BundleRow, OperatorRole, PolicyRoots, Store};

/// Percentage of calls that a candidate may deny in addition, if the request names none.
const DEFAULT_MAX_NEWLY_DENIED: f64 = 2.0;

#[derive(Deserialize)]
struct NewBundle {
    bundle: String,
}

#[derive(Deserialize)]
struct NewRoots {
    keys: Vec<String>,
    threshold: u32,
}

#[derive(Deserialize)]
struct NewRollout {
    ring: String,
    version: u64,
    #[serde(default)]
    skip_replay: bool,
    #[serde(default)]
    max_newly_denied: Option<f64>,
}

#[derive(Deserialize)]
struct HaltRequest {
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Deserialize)]
struct RingRequest {
    ring: String,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    percent: Option<u32>,
}

fn bus(request: &OperatorRequest) -> Result<TenantBus, FleetError> {
    let found = request.context.buses.iter().find(|bus| *bus.tenant == *request.tenant);
    found.cloned().ok_or_else(|| FleetError::internal("the tenant has no account on the message bus"))
}

/// Sets the keys that machines trust from their enrolment on.
pub(super) async fn set_roots(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Admin)?;
    let NewRoots { keys, threshold } = request.json()?;
    let signers = signer_set(&keys, threshold);
    signers.check().map_err(|error| FleetError::invalid(format!("signers: {error}")))?;
    let detail = json!({ "keys": keys, "threshold": threshold });
    request.context.actions.record(&request.tenant, &request.actor, "policy-signers", detail).await?;
    let roots = PolicyRoots { keys, threshold };
    request.context.store.set_policy_roots(&request.tenant, &roots, &request.actor).await?;
    Ok(Json(json!({ "signers": roots })))
}

/// Stores a signed bundle. The signatures are verified, so that a mistake is found before a machine refuses it.
pub(super) async fn push(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Author)?;
    let NewBundle { bundle } = request.json()?;
    let bytes = STANDARD.decode(&bundle).map_err(|_| FleetError::invalid("`bundle` is not base 64"))?;
    let trust = current_trust(&request.context.store, &request.tenant).await?;
    let opened = Bundle::open(&bytes, &trust).map_err(|error| {
        FleetError::invalid(format!("the bundle is refused: {error}"))
            .with_hint("machines would refuse it too; add signatures with `tenterhook fleet policy sign`")
    })?;
    let manifest = &opened.manifest;
    let row = BundleRow {
        version: manifest.version,
        sha256: opened.sha256.clone(),
        min_version: manifest.min_version,
        not_after: SystemTime::UNIX_EPOCH + Duration::from_millis(manifest.not_after.unix_ms()),
        commit: manifest.commit.clone(),
        signed_by: opened.signed_by.iter().cloned().collect(),
        pushed_by: request.actor.clone(),
        pushed: SystemTime::now(),
    };
    let detail = json!({
        "version": row.version, "sha256": row.sha256, "commit": row.commit, "signed_by": row.signed_by,
    });
    request.context.actions.record(&request.tenant, &request.actor, "policy-push", detail).await?;
    request.context.store.insert_bundle(&request.tenant, &row, &bytes).await?;
    Ok(Json(json!({ "bundle": row })))
}

/// Returns what a machine trusts that has the newest bundle below `version`.
pub(super) async fn current_trust(store: &Store, tenant: &str) -> Result<Trust, FleetError> {
    let roots = store.policy_roots(tenant).await?;
    if roots.keys.is_empty() {
        return Err(FleetError::conflict("no signers are set")
            .with_hint("set them with `tenterhook fleet policy signers` before machines join"));
    }
    // The chain of manifests in a bundle leads from the keys of the enrolment to its signers.
    Ok(Trust { fleet: tenant.to_owned(), signers: signer_set(&roots.keys, roots.threshold), since: 0 })
}

/// Returns the signers as a machine derives them from its enrolment.
fn signer_set(keys: &[String], threshold: u32) -> SignerSet {
    SignerSet::of_enrolment(keys.to_vec(), threshold)
}

/// Returns a bundle with its bytes.
pub(super) async fn show(
    Path(version): Path<String>,
    request: OperatorRequest,
) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    let store = &request.context.store;
    let found = match version.parse() {
        Ok(version) => store.find_bundle(&request.tenant, version).await?,
        Err(_) if version == "newest" => store.newest_bundle(&request.tenant).await?,
        Err(_) => None,
    };
    let (row, bytes) =
        found.ok_or_else(|| FleetError::not_found(format!("there is no policy version `{version}`")))?;
    let draft = BundleDraft::decode(&bytes).map_err(|error| FleetError::internal(error.to_string()))?;
    let manifest = draft.manifest().map_err(|error| FleetError::internal(error.to_string()))?;
    Ok(Json(json!({ "bundle": row, "manifest": manifest, "bytes": STANDARD.encode(bytes) })))
}

/// Describes signers, bundles, rollouts and the versions of machines.
pub(super) async fn status(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Viewer)?;
    let (store, tenant) = (&request.context.store, &request.tenant);
    let mut rollouts = Vec::new();
    for rollout in store.list_rollouts(tenant).await? {
        let client = store.client().await?;
        let totals = Store::candidate_totals(&client, tenant, &rollout.ring, rollout.version).await?;
        rollouts.push(json!({ "rollout": rollout, "replay": totals }));
    }
    Ok(Json(json!({
        "tenant": tenant,
        "signers": store.policy_roots(tenant).await?,
        "bundles": store.list_bundles(tenant).await?,
        "rollouts": rollouts,
        "rings": store.ring_versions(tenant).await?,
    })))
}

pub(super) async fn rollout(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Author)?;
    let NewRollout { ring, version, skip_replay, max_newly_denied } = request.json()?;
    let max_newly_denied = max_newly_denied.unwrap_or(DEFAULT_MAX_NEWLY_DENIED);
    if !(0.0..=100.0).contains(&max_newly_denied) {
        return Err(FleetError::invalid("`max_newly_denied` is a percentage"));
    }
    let detail = json!({
        "ring": ring, "version": version, "replay": !skip_replay, "max_newly_denied": max_newly_denied,
    });
    request.context.actions.record(&request.tenant, &request.actor, "policy-rollout", detail).await?;
    let wanted = RolloutRequest {
        ring: &ring,
        version,
        candidate: !skip_replay,
        max_newly_denied,
        who: &request.actor,
    };
    let rollout = start_rollout(&request.context.store, &bus(&request)?, &wanted).await?;
    Ok(Json(json!({ "rollout": rollout })))
}

pub(super) async fn halt(
    Path(ring): Path<String>,
    request: OperatorRequest,
) -> Result<Json<Value>, FleetError> {
    request.require_on_pages(OperatorRole::Author)?;
    let HaltRequest { reason } = request.json()?;
    let reason = reason.unwrap_or_else(|| format!("halted by {}", request.actor));
    let detail = json!({ "ring": ring, "reason": reason });
    request.context.actions.record(&request.tenant, &request.actor, "policy-halt", detail).await?;
    let halted =
        halt_rollout(&request.context.store, &bus(&request)?, (&ring, &request.actor, &reason)).await?;
    Ok(Json(json!({ "rollout": halted })))
}

/// Moves machines to a ring. They use its policy from their next renewal of credentials on.
pub(super) async fn assign_ring(request: OperatorRequest) -> Result<Json<Value>, FleetError> {
    request.require(OperatorRole::Author)?;
    let RingRequest { ring, label, percent } = request.json()?;
    let _: tenterhook_fleet_protocol::Ring =
        ring.parse().map_err(|_| FleetError::invalid(format!("invalid ring `{ring}`")))?;
    let label = label.as_deref().map(|label| label.split_once('=').ok_or(label)).transpose();
    let label =
        label.map_err(|label| FleetError::invalid(format!("`{label}` is not a label: write `key=value`")))?;
    if label.is_none() == percent.is_none() || percent.is_some_and(|percent| percent > 100) {
        return Err(FleetError::invalid("choose machines by `label` or by `percent` (up to 100)"));
    }
    let detail = json!({ "ring": ring, "label": label, "percent": percent });
    request.context.actions.record(&request.tenant, &request.actor, "ring-assign", detail).await?;
    let machines = request.context.store.assign_ring(&request.tenant, &ring, label, percent).await?;
    Ok(Json(json!({ "ring": ring, "machines": machines })))
}
