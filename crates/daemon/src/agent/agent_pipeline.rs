// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sends events of the daemon's own agent through the pipeline. Users answer an `ask` with `tenterhook approvals`.

use std::sync::Weak;
use std::time::Duration;

use tenterhook_agent::{DispatchError, EventDispatcher};
use tenterhook_engine::{BoxFuture, fold};
use tenterhook_event::{Decision, EventKind, Finding, HookCall, Origin, Outcome};
use tokio::time::Instant;

use super::call_origin;
use crate::daemon::Daemon;
use crate::listen::Peer;
use crate::{approvals, hook};

/// Maximum time a user has to approve a call.
const APPROVAL_TIMEOUT: Duration = Duration::from_secs(55);

/// Fires the events of hosted sessions.
pub(super) struct AgentPipeline {
    pub(super) daemon: Weak<Daemon>,
}

impl EventDispatcher for AgentPipeline {
    fn fire(&self, call: HookCall) -> BoxFuture<'_, Result<Outcome, DispatchError>> {
        Box::pin(async move {
            let daemon =
                self.daemon.upgrade().ok_or_else(|| DispatchError::new("the daemon is shutting down"))?;
            let Some(_call) = daemon.begin_call(Peer::Token) else {
                return Err(DispatchError::new("server busy"));
            };
            let began = Instant::now();
            let call_origin = call_origin::current_chain();
            daemon.hosted.chains.remember(call.event.id, &call_origin);
            let outcome = hook::fire_on_behalf(&daemon, &call, &call_origin)
                .await
                .map_err(|failure| DispatchError::new(failure.message))?;
            daemon.notifications.report_denied(Peer::Token, &call, &outcome);
            Ok(wait_for_approval(&daemon, &call, outcome, began + APPROVAL_TIMEOUT).await)
        })
    }
}

/// Waits for a user's answer if the outcome is `ask`. For a tool call, the user is asked when the permission
/// request event is fired, not before.
async fn wait_for_approval(daemon: &Daemon, call: &HookCall, outcome: Outcome, until: Instant) -> Outcome {
    let outcome = match (call.event.event, outcome.decision) {
        (EventKind::PreTool, _) => return outcome,
        (_, Decision::Ask) => outcome,
        (EventKind::PermissionRequest, Decision::None) => {
            let why = "The permission mode of this session requires a user's approval.";
            fold::strengthen(outcome, Finding::decided(Origin::Engine, Decision::Ask, why))
        }
        _ => return outcome,
    };
    approvals::wait_for_answer(daemon, Peer::Token, call, outcome, until).await
}
