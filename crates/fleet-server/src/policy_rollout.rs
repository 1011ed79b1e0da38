// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rolls out policy bundles ring by ring.
//!
//! A rollout starts with a candidate: the machines of the ring replay it over their own last days and report counts. It
//! becomes active when all active machines have reported, and stops if it would deny too many calls in addition. The
//! server decides only which bundle it offers: a machine accepts a bundle for its signatures and version alone.

use std::time::SystemTime;

use deadpool_postgres::GenericClient;
use serde_json::json;
use tenterhook_fleet_protocol::{BacktestCounts, PolicyPointer, Ring, Subject};

use crate::bus::TenantBus;
use crate::error::{FleetError, nats_error};
use crate::ingest::AlertKind;
use crate::store::{CandidateTotals, RolloutRow, Store, raise_alert};

/// Fewest replayed calls for which a percentage means anything.
const MIN_REPLAYED_CALLS: u64 = 20;
/// Downloads per second of a ring, and the longest time over which they are spread.
const DOWNLOADS_PER_SECOND: u64 = 50;
const MAX_SPREAD_SECONDS: u64 = 1800;

/// A rollout that an operator asks for.
pub(crate) struct RolloutRequest<'a> {
    pub(crate) ring: &'a str,
    pub(crate) version: u64,
    /// Whether machines replay the bundle before they use it.
    pub(crate) candidate: bool,
    pub(crate) max_newly_denied: f64,
    pub(crate) who: &'a str,
}

/// Starts a rollout.
pub(crate) async fn start_rollout(
    store: &Store,
    bus: &TenantBus,
    request: &RolloutRequest<'_>,
) -> Result<RolloutRow, FleetError> {
    let RolloutRequest { ring, version, candidate, max_newly_denied, who } = *request;
    let _: Ring = ring.parse().map_err(|_| FleetError::invalid(format!("invalid ring `{ring}`")))?;
    let (bundle, bytes) = store
        .find_bundle(&bus.tenant, version)
        .await?
        .ok_or_else(|| FleetError::not_found(format!("there is no policy version {version}")))?;
    let subject = Subject::Bundle(&bundle.sha256).to_string();
    let stored = bus.jetstream.publish(subject, bytes.into()).await;
    let stored = stored.map_err(|error| nats_error("publish", &error))?;
    stored.await.map_err(|error| nats_error("publish", &error))?;
    let mut client = store.client().await?;
    let transaction = client.transaction().await?;
    let before = Store::lock_rollout(&transaction, &bus.tenant, ring).await?;
    let in_force = before.as_ref().and_then(RolloutRow::in_force);
    if in_force.as_ref().is_some_and(|(in_force, _)| *in_force > version) {
        let message = format!("ring `{ring}` has a newer version: machines never go back");
        return Err(FleetError::conflict(message)
            .with_hint("`tenterhook fleet policy rollback` signs older content as a new version"));
    }
    // The same version again, for example after its replay.
    let previous = match (&before, &in_force) {
        (Some(before), Some((in_force, _))) if *in_force == version => {
            before.previous_version.zip(before.previous_sha256.clone())
        }
        _ => in_force,
    };
    let rollout = RolloutRow {
        ring: ring.to_owned(),
        version,
        sha256: bundle.sha256,
        stage: if candidate { "candidate" } else { "active" }.to_owned(),
        previous_version: previous.as_ref().map(|(version, _)| *version),
        previous_sha256: previous.map(|(_, sha256)| sha256),
        max_newly_denied,
        reason: None,
        changed_by: who.to_owned(),
        changed: SystemTime::now(),
    };
    Store::put_rollout(&transaction, &bus.tenant, &rollout).await?;
    // Machines see the pointer before the transaction ends; if that fails, the operator starts the rollout again.
    publish_pointer(&transaction, bus, &rollout).await?;
    transaction.commit().await?;
    Ok(rollout)
}

/// Stops offering the version of a ring. Machines that use it keep it: versions never go back.
pub(crate) async fn halt_rollout(
    store: &Store,
    bus: &TenantBus,
    (ring, who, reason): (&str, &str, &str),
) -> Result<RolloutRow, FleetError> {
    let mut client = store.client().await?;
    let transaction = client.transaction().await?;
    let rollout = Store::lock_rollout(&transaction, &bus.tenant, ring).await?;
    let rollout = rollout.ok_or_else(|| FleetError::not_found(format!("ring `{ring}` has no policy")))?;
    let rollout = RolloutRow {
        stage: "halted".to_owned(),
        reason: Some(reason.to_owned()),
        changed_by: who.to_owned(),
        changed: SystemTime::now(),
        ..rollout
    };
    Store::put_rollout(&transaction, &bus.tenant, &rollout).await?;
    publish_pointer(&transaction, bus, &rollout).await?;
    transaction.commit().await?;
    Ok(rollout)
}

/// Maximum number of calls that one machine can contribute to the counts of a rollout.
const MAX_COUNTED_CALLS: u64 = 1_000_000;

/// Limits the counts that a machine reports, so that one machine cannot outweigh all others.
fn limited(counts: &BacktestCounts) -> BacktestCounts {
    let calls = counts.calls.min(MAX_COUNTED_CALLS);
    BacktestCounts {
        version: counts.version,
        calls,
        denied_before: counts.denied_before.min(calls),
        denied_after: counts.denied_after.min(calls),
        asked_before: counts.asked_before.min(calls),
        asked_after: counts.asked_after.min(calls),
        newly_denied: counts.newly_denied.min(calls),
    }
}

/// Notes what a machine reported about a candidate, and ends the replay if everything is known.
pub(crate) async fn note_counts(
    store: &Store,
    bus: &TenantBus,
    (ring, machine): (&str, &str),
    counts: &BacktestCounts,
) -> Result<(), FleetError> {
    let counts = &limited(counts);
    let mut client = store.client().await?;
    let transaction = client.transaction().await?;
    let Some(rollout) = Store::lock_rollout(&transaction, &bus.tenant, ring).await? else { return Ok(()) };
    if rollout.stage != "candidate" || rollout.version != counts.version {
        return Ok(());
    }
    Store::put_counts(&transaction, (&bus.tenant, ring, machine), counts).await?;
    let totals = Store::candidate_totals(&transaction, &bus.tenant, ring, counts.version).await?;
    let Some((stage, reason)) = decide_candidate(&totals, rollout.max_newly_denied) else {
        return transaction.commit().await.map_err(FleetError::from);
    };
    let rollout = RolloutRow {
        stage: stage.to_owned(),
        reason: Some(reason.clone()),
        changed_by: "server".to_owned(),
        changed: SystemTime::now(),
        ..rollout
    };
    Store::put_rollout(&transaction, &bus.tenant, &rollout).await?;
    if stage == "stopped" {
        let detail = json!({ "ring": ring, "version": rollout.version, "reason": reason, "counts": totals });
        let subject = format!("ring {ring}");
        raise_alert(&transaction, &bus.tenant, &subject, AlertKind::RolloutStopped, &detail).await?;
    }
    publish_pointer(&transaction, bus, &rollout).await?;
    transaction.commit().await?;
    tracing::info!(ring, version = rollout.version, stage, reason, "the replay of a policy has ended");
    Ok(())
}

/// Decides about a candidate; `None` if more reports are needed.
fn decide_candidate(totals: &CandidateTotals, max_newly_denied: f64) -> Option<(&'static str, String)> {
    let percent = totals.newly_denied_percent();
    let enough = totals.calls >= MIN_REPLAYED_CALLS;
    if enough && percent > max_newly_denied {
        let CandidateTotals { newly_denied, calls, reported, .. } = totals;
        let reason = format!(
            "it would deny {newly_denied} of {calls} calls in addition ({percent:.1} %, limit {max_newly_denied} %) on \
             {reported} machines"
        );
        return Some(("stopped", reason));
    }
    (totals.reported >= totals.machines && totals.reported > 0).then(|| {
        (
            "active",
            format!("replayed on {} machines: {percent:.1} % of {} calls", totals.reported, totals.calls),
        )
    })
}

async fn publish_pointer<C: GenericClient>(
    client: &C,
    bus: &TenantBus,
    rollout: &RolloutRow,
) -> Result<(), FleetError> {
    let ring: Ring =
        rollout.ring.parse().map_err(|_| FleetError::internal("invalid ring in the database"))?;
    let candidate = rollout.stage == "candidate";
    let totals = Store::candidate_totals(client, &bus.tenant, &rollout.ring, rollout.version).await?;
    let spread = (totals.machines / DOWNLOADS_PER_SECOND).min(MAX_SPREAD_SECONDS);
    let offered =
        if candidate { Some((rollout.version, rollout.sha256.clone())) } else { rollout.in_force() };
    // Without a version that is in force, the pointer names none.
    let (version, sha256) = offered.unwrap_or_default();
    let pointer = PolicyPointer {
        ring: ring.clone(),
        version,
        sha256,
        candidate,
        jitter_seconds: u32::try_from(spread).unwrap_or_default(),
    };
    bus.store(&Subject::Policy(&ring), &pointer).await
}

impl RolloutRow {
    /// Returns version and digest of the bundle that the ring's machines should use.
    pub(crate) fn in_force(&self) -> Option<(u64, String)> {
        match self.stage.as_str() {
            "active" => Some((self.version, self.sha256.clone())),
            _ => self.previous_version.zip(self.previous_sha256.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(reported: u64, machines: u64, calls: u64, newly_denied: u64) -> CandidateTotals {
        CandidateTotals { reported, machines, calls, newly_denied, ..CandidateTotals::default() }
    }

    #[test]
    fn a_candidate_that_denies_too_much_is_stopped_before_all_machines_have_reported() {
        let stage = |totals| decide_candidate(&totals, 2.0).map(|(stage, _)| stage);
        assert_eq!(stage(totals(1, 50, 1000, 50)), Some("stopped"));
        assert_eq!(stage(totals(1, 50, 1000, 20)), None, "two percent is not more than two percent");
        assert_eq!(stage(totals(50, 50, 1000, 20)), Some("active"));
        assert_eq!(stage(totals(1, 50, 10, 10)), None, "too few calls to judge");
        assert_eq!(stage(totals(50, 50, 0, 0)), Some("active"), "machines without calls");
        assert_eq!(stage(totals(0, 0, 0, 0)), None, "an empty ring replays nothing");
    }
}
