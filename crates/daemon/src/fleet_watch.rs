// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Follows the files about the fleet: runs the connector, and records policy that cannot be used and the end of the
//! membership.

use std::sync::Arc;

use serde_json::{Value, json};
use tenterhook_document::Problem;
use tenterhook_fleet_state::ConnectorSupervisor;

use crate::daemon::Daemon;
use crate::fleet_connector;

/// The connector, and what was recorded about the policy of the fleet.
#[derive(Debug)]
pub(crate) struct FleetWatch {
    connector: Option<ConnectorSupervisor>,
    problems: Vec<Problem>,
    /// Name of the fleet whose policy is in force.
    fleet: Option<String>,
}

impl FleetWatch {
    /// Starts the connector, if the machine is part of a fleet.
    pub(crate) fn start(daemon: &Arc<Daemon>) -> Self {
        Self { connector: fleet_connector::start(daemon), problems: Vec::new(), fleet: None }
    }

    /// Ends the connector.
    pub(crate) fn end(self) {
        if let Some(connector) = self.connector {
            connector.end();
        }
    }

    /// Starts or ends the connector as the files require, and records what changed about the policy.
    pub(crate) async fn follow_changes(&mut self, daemon: &Arc<Daemon>) {
        if let Some(connector) = &self.connector {
            connector.check_now();
        }
        let base = daemon.generations.base();
        let policy = base.sources.fleet.as_ref();
        let mut problems = policy.map(|policy| policy.problems.clone()).unwrap_or_default();
        // If no bundle can be read any more, the one in memory stays in force.
        let lost = base.stale.iter().filter(|problem| problem.source.contains("/fleet/"));
        problems.extend(lost.cloned());
        if problems != self.problems {
            let version = policy.and_then(|policy| Some(policy.bundle.as_ref()?.manifest.version));
            for problem in problems.iter().filter(|problem| !self.problems.contains(problem)) {
                let detail = json!({
                    "kind": "stored", "file": problem.source, "why": problem.message, "in_force": version,
                });
                if !record(daemon, "fleet policy refused", detail).await {
                    return;
                }
            }
            self.problems = problems;
        }
        let fleet = policy.map(|policy| policy.fleet.clone());
        if let Some(left) = self.fleet.as_ref().filter(|_| fleet.is_none())
            && !record(daemon, "fleet policy ended", json!({ "fleet": left })).await
        {
            return;
        }
        self.fleet = fleet;
    }
}

/// Records a change. Returns whether it was recorded.
async fn record(daemon: &Arc<Daemon>, what: &str, detail: Value) -> bool {
    let recorded = daemon.record_change(what, daemon.uid, detail, Vec::new()).await;
    if let Err(error) = &recorded {
        tracing::warn!(%error, what, "a change of the fleet's policy could not be recorded");
    }
    recorded.is_ok()
}
