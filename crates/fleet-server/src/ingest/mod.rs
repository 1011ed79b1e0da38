// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Ingest: from the streams of evidence and status into the database.
//!
//! ```text
//! lease (one server per partition) ─▶ consumer ─▶ group of messages ─▶ transaction: lock machines, apply, write
//!                                                                     ─▶ cosign ─▶ acknowledge
//! ```

mod approvals;
mod consumer;
mod decision;
mod group;
mod lease;
mod machine_state;
mod status;

use std::sync::Arc;
use std::time::Duration;

use tenterhook_fleet_protocol::{CosignKey, Partition};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub(crate) use decision::{DecisionRecord, HourlyCounts};
pub(crate) use machine_state::{AlertKind, KnownCheckpoint, MachineState, StreamPosition};

use crate::bus::TenantBus;
use crate::revocation::RevocationSender;
use crate::store::Store;
use lease::{LeaseUnit, OwnedUnits, run_leases, run_while_owned};

/// How long a worker waits before it tries again after a failure.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Shared values of the workers.
#[derive(Clone)]
pub(crate) struct IngestContext {
    pub(crate) store: Store,
    pub(crate) witness: Arc<CosignKey>,
    pub(crate) stop: watch::Receiver<bool>,
    pub(crate) revocations: RevocationSender,
    /// How much a machine may upload in a day.
    pub(crate) max_upload_bytes: u64,
    /// Whether decisions are sent to a collector.
    pub(crate) has_collector: bool,
}

/// Runs until the server stops: one worker for each partition and two for the status messages and approvals of each tenant.
pub(crate) async fn run_ingest(context: IngestContext, buses: Vec<TenantBus>) {
    let mut tasks = JoinSet::new();
    let mut units = Vec::new();
    let (owned_sender, owned) = watch::channel(std::collections::BTreeSet::new());
    for bus in buses {
        let evidence = Partition::all().map(|partition| LeaseUnit::Evidence(bus.tenant.clone(), partition));
        let others = [LeaseUnit::Status(bus.tenant.clone()), LeaseUnit::Approvals(bus.tenant.clone())];
        for unit in evidence.chain(others) {
            units.push(unit.clone());
            tasks.spawn(run_unit(context.clone(), bus.clone(), unit, owned.clone()));
        }
    }
    tasks.spawn(run_leases(context, units, owned_sender));
    while tasks.join_next().await.is_some() {}
}

/// Processes the messages of one unit while this server owns it.
async fn run_unit(context: IngestContext, bus: TenantBus, unit: LeaseUnit, owned: OwnedUnits) {
    run_while_owned(&context.stop, &unit, owned, || async {
        let result = match &unit {
            LeaseUnit::Evidence(_, partition) => consumer::consume_evidence(&context, &bus, *partition).await,
            LeaseUnit::Status(_) => status::consume_status(&context, &bus).await,
            LeaseUnit::Approvals(_) => approvals::consume_approvals(&context, &bus).await,
        };
        if result.is_err() {
            bus.move_after_failure().await;
        }
        result
    })
    .await;
}

/// Waits until the server stops.
pub(crate) async fn wait_for_stop(stop: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, which is a stop too.
    drop(stop.wait_for(|stop| *stop).await);
}
