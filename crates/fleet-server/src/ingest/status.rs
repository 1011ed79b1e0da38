// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Consumes the status messages of a tenant.

use async_nats::jetstream::Message;
use serde_json::json;
use tenterhook_fleet_protocol::{FleetMessage as _, MachineCommand, MachineStatus, StreamName, Subject};

use super::IngestContext;
use super::consumer::consume_each;
use super::group::cloned_by_status;
use super::machine_state::AlertKind;
use crate::bus::TenantBus;
use crate::error::FleetError;
use crate::policy_rollout::note_counts;
use crate::store::{raise_alert, storable};

/// Maximum length of a text in a stored status.
const MAX_STATUS_CHARS: usize = 4096;

/// Consumes the status messages of a tenant.
pub(super) async fn consume_status(context: &IngestContext, bus: &TenantBus) -> Result<(), FleetError> {
    let process = |message| async move { store_message(context, bus, &message).await };
    consume_each(bus, StreamName::Status, process).await
}

async fn store_message(
    context: &IngestContext,
    bus: &TenantBus,
    message: &Message,
) -> Result<(), FleetError> {
    let machine = Subject::machine_of(&message.subject);
    let status = MachineStatus::decode(&message.payload).ok();
    let (Some(machine), Some(status)) = (machine, status) else {
        tracing::warn!(subject = %message.subject, "invalid status message");
        return Ok(());
    };
    let registered = context.store.find_machine(machine.as_str()).await?;
    let Some(registered) = registered.filter(|found| *found.tenant == *bus.tenant && !found.has_left) else {
        return Ok(());
    };
    let instance = status.instance.to_string();
    if status.machine != machine || instance != registered.instance {
        let (kind, detail) = cloned_by_status(&instance, &registered.instance);
        let client = context.store.client().await?;
        return raise_alert(&client, &bus.tenant, machine.as_str(), kind, &detail).await;
    }
    // A database that was restored from a backup has fewer records than the machine has acknowledgements for. The machine uploads them again.
    if status.acknowledged > registered.cursor {
        let mailbox = bus.mailbox(&machine);
        tracing::info!(%machine, cursor = registered.cursor, "records are missing, asking for them");
        bus.send(&Subject::Command(&mailbox), &MachineCommand::Resend { from: registered.cursor }).await?;
    }
    let refused = status.bundle.as_ref().and_then(|bundle| bundle.refused.as_ref());
    if let Some(refused) = refused {
        let detail =
            json!({ "sha256": refused.sha256, "version": refused.version, "reason": refused.reason });
        let client = context.store.client().await?;
        raise_alert(&client, &bus.tenant, machine.as_str(), AlertKind::PolicyRefused, &detail).await?;
    }
    if let Some(counts) = status.bundle.as_ref().and_then(|bundle| bundle.backtest.as_ref()) {
        note_counts(&context.store, bus, (&registered.ring, machine.as_str()), counts).await?;
    }
    let value = serde_json::to_value(&status).map_err(|error| FleetError::internal(error.to_string()))?;
    let value = storable(value, MAX_STATUS_CHARS);
    context.store.store_status(&bus.tenant, machine.as_str(), &value).await.map(drop)
}
