// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Shows, verifies and replaces the signed policy of the fleet.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tenterhook_api::{BundleAccepted, BundleCounts, BundleRequest, FleetBundle, FleetPolicyView};
use tenterhook_fleet_bundle::{Bundle, BundleError, BundleErrorKind};
use tenterhook_home::{BundleRefusal, CheckedBundle, FleetPolicy, WorkDirs, call_meta};

use super::backtest::{REPLAY_SLOT, parse_time, replay_rules};
use super::error::{ApiError, run_blocking};
use super::extract::RequestBody;
use super::file_problems;
use super::route::Route;
use crate::daemon::Daemon;
use crate::listen::Peer;

/// Start of the records that a backtest replays, if the request names none.
const DEFAULT_BACKTEST: &str = "7d";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/fleet/policy", "getFleetPolicy", view)
            .about("The signed policy of the fleet: its version, its ring, and bundles that were refused."),
        Route::post("/v1/fleet/policy", "putFleetPolicy", accept)
            .about(
                "Verifies a signed policy bundle and puts it in force. Its signatures are the proof: any caller may \
                 deliver it.",
            )
            .errors(&[409, 422]),
        Route::post("/v1/fleet/policy/backtest", "backtestFleetPolicy", backtest)
            .about(
                "Replays the ledger with a signed policy bundle in place of the one in force, and returns counts only. \
                 Nothing is changed.",
            )
            .errors(&[422, 503]),
    ]
}

async fn view(State(daemon): State<Arc<Daemon>>) -> Result<Json<FleetPolicyView>, ApiError> {
    run_blocking(move || {
        // What the daemon evaluates calls with, which can differ from the files for a moment.
        let base = daemon.generations.base();
        Ok::<_, ApiError>(Json(match &base.sources.fleet {
            None => FleetPolicyView::default(),
            Some(policy) => FleetPolicyView {
                enrolled: true,
                fleet: Some(policy.fleet.clone()),
                ring: FleetPolicy::ring(&daemon.home),
                bundle: policy.bundle.as_deref().map(describe_bundle),
                problems: file_problems(&[policy.problems.as_slice(), &base.stale].concat()),
            },
        }))
    })
    .await
}

/// Describes a verified bundle.
fn describe_bundle(bundle: &Bundle) -> FleetBundle {
    let manifest = &bundle.manifest;
    FleetBundle {
        version: manifest.version,
        sha256: bundle.sha256.clone(),
        commit: manifest.commit.clone(),
        signed_by: bundle.signed_by.iter().cloned().collect(),
        not_after: manifest.not_after,
        when_stale: manifest.when_stale.name().to_owned(),
        stale: bundle.is_stale(call_meta::now()),
        approvers: bundle.approvers().iter().map(|key| key.name().to_owned()).collect(),
    }
}

fn decode(request: &BundleRequest) -> Result<Vec<u8>, ApiError> {
    let bytes = STANDARD.decode(&request.bundle);
    bytes.map_err(|_| ApiError::bad_request("`bundle` is not base 64"))
}

async fn accept(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    RequestBody(request): RequestBody<BundleRequest>,
) -> Result<Json<BundleAccepted>, ApiError> {
    let bytes = decode(&request)?;
    let digest = Bundle::digest(&bytes);
    let stated = Bundle::stated_version(&bytes);
    // The bundle in force must not change between reading and writing it.
    let _turn = daemon.change_lock.lock().await;
    let reader = Arc::clone(&daemon);
    let checking =
        tokio::task::spawn_blocking(move || FleetPolicy::check(&reader.home, bytes, call_meta::now()));
    let caller = daemon.caller(peer).to_json();
    let checked = match checking.await? {
        Ok(checked) => checked,
        Err(refusal) => return Err(refuse_bundle(&daemon, refusal, stated, &digest, &caller).await?),
    };
    let CheckedBundle { bundle, replaces, weakening, is_known, .. } = &checked;
    if !is_known {
        // What is in force is in the ledger: a bundle that cannot be recorded is not put in force.
        let detail = json!({
            "version": bundle.manifest.version, "sha256": bundle.sha256, "replaces": replaces,
            "commit": bundle.manifest.commit, "signed_by": bundle.signed_by, "weakening": weakening,
            "ring": FleetPolicy::ring(&daemon.home), "authority": {"via": "fleet", "from": caller},
        });
        record(&daemon, "fleet policy accepted", detail).await?;
    }
    let accepted = BundleAccepted {
        bundle: describe_bundle(bundle),
        replaces: *replaces,
        weakening: weakening.clone(),
        known: *is_known,
    };
    let writer = Arc::clone(&daemon);
    let storing = tokio::task::spawn_blocking(move || {
        checked.put_in_force(&writer.home)?;
        // If this fails, the file watch reads the files again. A bundle that is in force already changed no file.
        drop(writer.generations.refresh(!checked.is_known));
        Ok(())
    });
    if let Err(failure) = storing.await? {
        let refusal = BundleRefusal::Failed(failure);
        return Err(refuse_bundle(&daemon, refusal, stated, &digest, &caller).await?);
    }
    Ok(Json(accepted))
}

/// Records that a bundle was refused, and returns the error of the response.
async fn refuse_bundle(
    daemon: &Daemon,
    refusal: BundleRefusal,
    version: Option<u64>,
    digest: &str,
    caller: &Value,
) -> Result<ApiError, ApiError> {
    let kind = match &refusal {
        BundleRefusal::Refused(error) => error.kind().name(),
        BundleRefusal::NotEnrolled => "not-enrolled",
        BundleRefusal::Unconfirmed(_) => "unconfirmed",
        BundleRefusal::Failed(_) => "not-stored",
    };
    tracing::warn!(version, kind, why = %refusal, "a policy bundle was refused");
    let detail = json!({
        "version": version, "sha256": digest, "kind": kind, "why": refusal.to_string(),
        "authority": {"via": "fleet", "from": caller},
    });
    record(daemon, "fleet policy refused", detail).await?;
    Ok(refusal_error(refusal))
}

async fn record(daemon: &Daemon, what: &str, detail: Value) -> Result<(), ApiError> {
    let recorded = daemon.record_change(what, daemon.uid, detail, Vec::new()).await;
    recorded.map_err(|error| ApiError::internal(format!("the change could not be recorded: {error}")))
}

fn refusal_error(refusal: BundleRefusal) -> ApiError {
    let message = refusal.to_string();
    match refusal {
        BundleRefusal::NotEnrolled => {
            ApiError::conflict(message).hint("join a fleet: `tenterhook fleet join`")
        }
        BundleRefusal::Unconfirmed(_) => {
            ApiError::conflict(message).hint("leave the fleet and join it again: `tenterhook fleet leave`")
        }
        BundleRefusal::Failed(failure) => failure.into(),
        BundleRefusal::Refused(error) => {
            let error = match error.kind() {
                BundleErrorKind::Version => ApiError::conflict(message),
                _ => ApiError::unprocessable(message),
            };
            error.hint("the policy that was in force stays in force")
        }
    }
}

async fn backtest(
    State(daemon): State<Arc<Daemon>>,
    RequestBody(request): RequestBody<BundleRequest>,
) -> Result<Json<BundleCounts>, ApiError> {
    let bytes = decode(&request)?;
    let since = parse_time(Some(request.since.as_deref().unwrap_or(DEFAULT_BACKTEST)))?;
    let Ok(_turn) = REPLAY_SLOT.try_acquire() else {
        return Err(ApiError::busy("another replay is running").hint("wait for it to end"));
    };
    run_blocking(move || {
        let refuse = |error: BundleError| refusal_error(BundleRefusal::Refused(error));
        let policy =
            FleetPolicy::load(&daemon.home).ok_or_else(|| refusal_error(BundleRefusal::NotEnrolled))?;
        policy.require_confirmation().map_err(refusal_error)?;
        let bundle = policy.verify(&bytes).map_err(refuse)?;
        let mut sources = daemon.generations.sources(&WorkDirs::default());
        sources.replace_fleet_policy(&bundle);
        let loaded = sources.load();
        let replay = replay_rules(&daemon, &loaded.rules, since, None)?;
        let totals = replay.totals;
        Ok::<_, ApiError>(Json(BundleCounts {
            version: bundle.manifest.version,
            calls: replay.replayed,
            denied_before: totals.denied_before,
            denied_after: totals.denied_after,
            asked_before: totals.asked_before,
            asked_after: totals.asked_after,
            newly_denied: totals.newly_denied,
            left_out: replay.left_out.values().sum(),
        }))
    })
    .await
}
