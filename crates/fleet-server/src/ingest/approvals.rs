// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Consumes the approval requests of a tenant.

use async_nats::jetstream::Message;
use tenterhook_fleet_protocol::{ApprovalRequest, FleetMessage as _, StreamName, Subject};

use super::IngestContext;
use super::consumer::consume_each;
use crate::bus::TenantBus;
use crate::error::FleetError;

/// Consumes the approval requests of a tenant.
pub(super) async fn consume_approvals(context: &IngestContext, bus: &TenantBus) -> Result<(), FleetError> {
    let process = |message| async move { store_message(context, bus, &message).await };
    consume_each(bus, StreamName::Approvals, process).await
}

async fn store_message(
    context: &IngestContext,
    bus: &TenantBus,
    message: &Message,
) -> Result<(), FleetError> {
    // The stream also has the answers, which this or another server stored before it sent them.
    if !message.subject.starts_with("th.ask.") {
        return Ok(());
    }
    let machine = Subject::machine_of(&message.subject);
    let request = ApprovalRequest::decode(&message.payload).ok();
    let (Some(machine), Some(request)) = (machine, request) else {
        tracing::warn!(subject = %message.subject, "invalid approval request");
        return Ok(());
    };
    let registered = context.store.find_machine(machine.as_str()).await?;
    let is_known = registered.is_some_and(|found| *found.tenant == *bus.tenant && !found.has_left);
    if !is_known || request.machine != machine {
        return Ok(());
    }
    // PostgreSQL does not store this character.
    if request.call.contains('\0') || request.approval.contains('\0') {
        return Ok(());
    }
    if context.store.put_approval(&bus.tenant, &request).await? {
        tracing::info!(%machine, approval = request.approval, "a call waits for an approval");
    }
    Ok(())
}
