// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where the daemon's own agent fires: the road of every other call. Whom it asks are the people who answer
//! `tenterhook approvals`.

use std::sync::Weak;
use std::time::Duration;

use tenterhook_agent::{Fire, FireError};
use tenterhook_engine::{BoxFuture, fold};
use tenterhook_event::{Call, Decision, EventKind, Finding, Origin, Outcome};
use tokio::time::Instant;

use super::behalf;
use crate::daemon::Daemon;
use crate::listen::Peer;
use crate::{approvals, hook};

/// How long a person may take to say yes.
const WITHIN: Duration = Duration::from_secs(55);

pub(super) struct Road {
    pub(super) daemon: Weak<Daemon>,
}

impl Fire for Road {
    fn fire(&self, call: Call) -> BoxFuture<'_, Result<Outcome, FireError>> {
        Box::pin(async move {
            let daemon = self.daemon.upgrade().ok_or_else(|| FireError::new("the daemon is ending"))?;
            let Some(_call) = daemon.begin_call(Peer::Token) else {
                return Err(FireError::new("the daemon has too much to do"));
            };
            let began = Instant::now();
            let behalf = behalf::now();
            daemon.hosted.chains.keep(call.event.id, &behalf);
            let outcome = hook::fire_on_behalf(&daemon, &call, &behalf)
                .await
                .map_err(|failure| FireError::new(failure.message))?;
            Ok(settle(&daemon, &call, outcome, began + WITHIN).await)
        })
    }
}

/// What has to be asked about is asked about. Of a tool call that is when its permission is requested.
async fn settle(daemon: &Daemon, call: &Call, outcome: Outcome, until: Instant) -> Outcome {
    let outcome = match (call.event.event, outcome.decision) {
        (EventKind::PreTool, _) => return outcome,
        (_, Decision::Ask) => outcome,
        (EventKind::PermissionRequest, Decision::None) => {
            let why = "Its session's permission mode wants a person to say yes.";
            fold::strengthen(outcome, Finding::decided(Origin::Engine, Decision::Ask, why))
        }
        _ => return outcome,
    };
    approvals::settle(daemon, Peer::Token, call, outcome, until).await
}
