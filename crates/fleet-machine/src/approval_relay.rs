// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Relays calls that wait for an approval to the fleet, and signed answers to the daemon. The daemon verifies them.

use std::collections::BTreeMap;

use serde_json::Value;
use tenterhook_api::{Approval, ApprovalList};
use tenterhook_fleet_protocol::{ApprovalRequest, FleetMessage as _, MachineId, SignedAnswer, Subject};

use crate::bus::{Bus, NatsError};
use crate::daemon_call::{DaemonCall, ask, error_message};

/// Maximum number of waiting calls that are relayed at once.
const MAX_RELAYED_APPROVALS: usize = 256;

/// The waiting calls that were relayed.
pub(crate) struct ApprovalRelay {
    daemon: DaemonCall,
    machine: MachineId,
    relayed: BTreeMap<String, ApprovalRequest>,
}

impl ApprovalRelay {
    pub(crate) fn new(daemon: DaemonCall, machine: MachineId) -> Self {
        Self { daemon, machine, relayed: BTreeMap::new() }
    }

    /// Relays calls that wait since the last time, and closes those that wait no more.
    pub(crate) async fn relay(&mut self, bus: &Bus) -> Result<(), NatsError> {
        let Some((200, body)) = ask(&self.daemon, "/v1/approvals", None).await else { return Ok(()) };
        let Ok(ApprovalList { pending }) = serde_json::from_value(body) else { return Ok(()) };
        let waiting: BTreeMap<String, &Approval> =
            pending.iter().map(|approval| (approval.id.to_string(), approval)).collect();
        let closed: Vec<String> =
            self.relayed.keys().filter(|id| !waiting.contains_key(*id)).cloned().collect();
        for id in closed {
            if let Some(request) = self.relayed.remove(&id) {
                self.publish(bus, &ApprovalRequest { closed: true, ..request }).await?;
            }
        }
        for (id, approval) in waiting {
            if self.relayed.contains_key(&id) || self.relayed.len() >= MAX_RELAYED_APPROVALS {
                continue;
            }
            let request = ApprovalRequest {
                machine: self.machine.clone(),
                approval: id.clone(),
                call: approval.call_text(),
                expires: approval.until.unix_ms() / 1000,
                closed: false,
            };
            self.publish(bus, &request).await?;
            self.relayed.insert(id, request);
        }
        Ok(())
    }

    async fn publish(&self, bus: &Bus, request: &ApprovalRequest) -> Result<(), NatsError> {
        match request.encode() {
            Ok(bytes) => bus.publish(Subject::Ask(&self.machine), bytes).await,
            // A call that is too large to be sent can be answered on the machine.
            Err(error) => {
                tracing::warn!(%error, approval = request.approval, "a waiting call cannot be relayed");
                Ok(())
            }
        }
    }

    /// Hands a signed answer to the daemon.
    pub(crate) async fn answer(&self, payload: &[u8]) {
        let Ok(answer) = SignedAnswer::decode(payload) else {
            tracing::warn!("an invalid answer to an approval was received");
            return;
        };
        // The id becomes a part of a path.
        if !answer.approval.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return;
        }
        let path = format!("/v1/approvals/{}/signed", answer.approval);
        let body = serde_json::to_value(&answer).unwrap_or(Value::Null);
        match ask(&self.daemon, &path, Some(body)).await {
            Some((200, _)) => tracing::info!(approval = answer.approval, "an approval was answered"),
            Some(refused) => {
                let why = error_message(&refused);
                tracing::warn!(approval = answer.approval, why, "the daemon refused an answer");
            }
            None => tracing::warn!(approval = answer.approval, "no daemon takes the answer"),
        }
    }
}
