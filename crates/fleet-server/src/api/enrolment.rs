// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Requests of machines: enrol, renew credentials, leave.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use tenterhook_fleet_protocol::{
    EnrolRequest, EnrolResponse, LeaveRequest, MachineCredentials, MachineId, NkeyPublic, PossessionError,
    RenewRequest, Ring, machine_permissions, user_jwt,
};
use tenterhook_ledger::VerifierKey;
use tenterhook_ledger::checkpoint::Checkpoint;

use super::{ApiContext, SharedContext};
use crate::error::FleetError;
use crate::ingest::AlertKind;
use crate::store::{NewMachine, Store, raise_alert, unix_seconds};

/// Maximum length of the name of a host or of a version.
const MAX_NAME_BYTES: usize = 255;
/// Longest life of the credentials of a CI runner, in seconds.
const CI_CREDENTIAL_SECONDS: u64 = 3600;

fn refuse_proof(error: PossessionError) -> FleetError {
    FleetError::forbidden(error.to_string())
}

pub(super) async fn enrol(
    State(context): State<SharedContext>,
    Json(request): Json<EnrolRequest>,
) -> Result<Json<EnrolResponse>, FleetError> {
    let machine = request.check(unix_seconds()).map_err(refuse_proof)?;
    check_ledger(&request)?;
    for name in [&request.host, &request.version] {
        if name.is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
            return Err(FleetError::invalid("invalid name of the host or version"));
        }
    }
    let mut client = context.store.client().await?;
    let transaction = client.transaction().await?;
    let token = Store::use_token(&transaction, &request.token).await?;
    let new = NewMachine {
        id: machine.as_str(),
        tenant: &token.tenant,
        nkey: &request.machine_key.to_string(),
        instance: &request.instance.to_string(),
        host: &request.host,
        version: &request.version,
        labels: &token.labels,
        ci: token.ci,
        ring: &token.ring,
        token: &token.id,
        origin: &request.origin,
        ledger_key: &request.ledger_key,
    };
    Store::insert_machine(&transaction, &new).await?;
    let ring: Ring = token.ring.parse().map_err(|_| FleetError::internal("invalid ring in the database"))?;
    let credentials = issue(&context, &machine, &request.machine_key, &token.tenant, &ring, token.ci)?;
    let detail =
        json!({ "machine": machine, "host": request.host, "token": token.id, "origin": request.origin });
    let action = (token.tenant.as_str(), machine.as_str(), "enrol");
    context.actions.record_in(&transaction, action, detail).await?;
    let roots = Store::policy_roots_in(&transaction, &token.tenant).await?;
    transaction.commit().await?;
    Ok(Json(EnrolResponse {
        machine,
        tenant: token.tenant,
        witness: context.fleet(),
        policy_keys: roots.keys,
        policy_threshold: roots.threshold,
        credentials,
    }))
}

/// Checks the key of the ledger and the checkpoint that proves its possession.
fn check_ledger(request: &EnrolRequest) -> Result<(), FleetError> {
    let invalid = |error: tenterhook_ledger::note::NoteError| FleetError::invalid(format!("ledger: {error}"));
    let key: VerifierKey = request.ledger_key.parse().map_err(invalid)?;
    if key.name() != request.origin {
        return Err(FleetError::invalid("the key of the ledger has another origin"));
    }
    if request.checkpoint.is_empty() {
        return Ok(());
    }
    let (checkpoint, note) = Checkpoint::parse(&request.checkpoint).map_err(invalid)?;
    note.check(&[&key]).map_err(invalid)?;
    if checkpoint.origin == request.origin {
        Ok(())
    } else {
        Err(FleetError::invalid("the checkpoint is of another ledger"))
    }
}

fn issue(
    context: &ApiContext,
    machine: &MachineId,
    key: &NkeyPublic,
    tenant: &str,
    ring: &Ring,
    ci: bool,
) -> Result<MachineCredentials, FleetError> {
    let accounts = context
        .keys
        .accounts(tenant)
        .ok_or_else(|| FleetError::internal("the key of the tenant is missing"))?;
    let life = context.credential_life.as_secs();
    let life = if ci { life.min(CI_CREDENTIAL_SECONDS) } else { life };
    let now = unix_seconds();
    let mailbox = accounts.mailbox(machine);
    let permissions = machine_permissions(&mailbox, ring);
    let account = &accounts.machines;
    let jwt = user_jwt(account, key, machine.as_str(), Some(&permissions), (now, now.saturating_add(life)));
    Ok(MachineCredentials {
        nats: context.machine_urls.clone(),
        nats_ca: context.nats_ca.clone(),
        user_jwt: jwt.map_err(|error| FleetError::internal(error.to_string()))?,
        issued: now,
        expires: now.saturating_add(life),
        ring: ring.clone(),
        mailbox,
        collects: Vec::new(),
    })
}

pub(super) async fn renew(
    State(context): State<SharedContext>,
    Json(request): Json<RenewRequest>,
) -> Result<Json<MachineCredentials>, FleetError> {
    let machine = request.check(unix_seconds()).map_err(refuse_proof)?;
    let found = context.store.find_machine(machine.as_str()).await?;
    if found.as_ref().is_some_and(|found| found.is_revoked) {
        return Err(FleetError::forbidden("the machine was removed from the fleet")
            .with_hint("ask an administrator of the fleet"));
    }
    if let Some(until) = found.as_ref().and_then(|found| found.suspended_until) {
        let until = jiff::Timestamp::try_from(until).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        return Err(FleetError::forbidden(format!(
            "the machine uploaded more than it may in a day; it may continue at {until:.0}"
        )));
    }
    let found = found.filter(|found| !found.has_left);
    let found = found.ok_or_else(|| {
        FleetError::forbidden("the machine is not enrolled")
            .with_hint("enrol it again with `tenterhook fleet join`")
    })?;
    let instance = request.instance.to_string();
    if instance != found.instance {
        let detail = json!({ "registered_instance": found.instance, "instance": instance, "by": "renewal" });
        let client = context.store.client().await?;
        raise_alert(&client, &found.tenant, machine.as_str(), AlertKind::MachineKeyCloned, &detail).await?;
        return Err(FleetError::forbidden("the key of this machine was enrolled by another copy of it")
            .with_hint("remove the copied state, and enrol this machine with `tenterhook fleet join`"));
    }
    let ring: Ring = found.ring.parse().map_err(|_| FleetError::internal("invalid ring in the database"))?;
    issue(&context, &machine, &request.machine_key, &found.tenant, &ring, found.ci).map(Json)
}

pub(super) async fn leave(
    State(context): State<SharedContext>,
    Json(request): Json<LeaveRequest>,
) -> Result<Json<Value>, FleetError> {
    let machine = request.check(unix_seconds()).map_err(refuse_proof)?;
    let found = context.store.find_machine(machine.as_str()).await?;
    let found = found.ok_or_else(|| FleetError::not_found("the machine is not enrolled"))?;
    if !found.has_left {
        context
            .actions
            .record(&found.tenant, machine.as_str(), "leave", json!({ "machine": machine }))
            .await?;
        context.store.mark_left(machine.as_str()).await?;
    }
    Ok(Json(json!({ "machine": machine })))
}
