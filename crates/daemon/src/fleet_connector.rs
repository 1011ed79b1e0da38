// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs the connector of a fleet as a child process. Nothing here is on the path of a hook call.

use std::sync::{Arc, Weak};

use serde_json::json;
use tenterhook_fleet_state::{ConnectorChange, ConnectorSupervisor, FleetDir, SupervisorOptions};
use tokio::runtime::Handle;

use crate::daemon::Daemon;

/// Starts the supervisor, which runs the connector while the machine is part of a fleet.
pub(crate) fn start(daemon: &Arc<Daemon>) -> Option<ConnectorSupervisor> {
    let home = &daemon.home;
    let mut args = vec!["connect".into(), "--state".into(), home.state.clone().into_os_string()];
    if let Some(run) = &home.machine_run {
        args.extend(["--run-dir".into(), run.clone().into_os_string()]);
    }
    let options = SupervisorOptions {
        fleet: FleetDir::of_state(&home.state),
        args,
        daemon_program: std::env::current_exe().ok(),
    };
    let (daemon, runtime) = (Arc::downgrade(daemon), Handle::current());
    let started = ConnectorSupervisor::start(options, move |change| report(&daemon, &runtime, change));
    started.inspect_err(|error| tracing::error!(%error, "the fleet's connector cannot be supervised")).ok()
}

/// Logs a change of the connector. A connector that cannot run is recorded too, because records then stay here.
fn report(daemon: &Weak<Daemon>, runtime: &Handle, change: ConnectorChange) {
    let why = match change {
        ConnectorChange::Started { pid } => return tracing::info!(pid, "the fleet's connector was started"),
        ConnectorChange::Ended { status } => return tracing::warn!(%status, "the fleet's connector ended"),
        ConnectorChange::CannotRun { why } => why,
    };
    tracing::error!(why, "the fleet's connector cannot run");
    let Some(daemon) = daemon.upgrade() else { return };
    runtime.spawn(async move {
        let detail = json!({ "why": why });
        if let Err(error) = daemon.record_change("fleet connector", daemon.uid, detail, Vec::new()).await {
            tracing::warn!(%error, "that the connector cannot run could not be recorded");
        }
    });
}
