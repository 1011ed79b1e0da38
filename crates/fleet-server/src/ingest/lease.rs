// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Distributes the partitions over the copies of the server with advisory locks of PostgreSQL.
//!
//! A lease keeps the messages of a machine in order. It is not needed for correctness: two servers with the same
//! partition would wait for each other's row locks, and count each message once.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tenterhook_fleet_protocol::Partition;
use tokio::sync::watch;
use tokio_postgres::Client;

use super::{IngestContext, RETRY_DELAY, wait_for_stop};
use crate::error::FleetError;
use crate::files::random_bytes;

/// Classes of advisory locks: partitions, and servers that are running.
const UNIT_CLASS: i32 = 0x5448;
const SERVER_CLASS: i32 = 0x5449;
/// How often leases are checked.
const LEASE_INTERVAL: Duration = Duration::from_millis(500);
/// How long a worker has to finish its group before its lease is released.
const RELEASE_DELAY: Duration = Duration::from_secs(2);

/// A unit of work that one server owns at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LeaseUnit {
    /// A partition of a tenant's evidence.
    Evidence(Arc<str>, Partition),
    /// The status messages of a tenant.
    Status(Arc<str>),
    /// The approval requests of a tenant.
    Approvals(Arc<str>),
}

impl fmt::Display for LeaseUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evidence(tenant, partition) => write!(f, "{tenant}/{partition}"),
            Self::Status(tenant) => write!(f, "{tenant}/status"),
            Self::Approvals(tenant) => write!(f, "{tenant}/approvals"),
        }
    }
}

impl LeaseUnit {
    fn lock_key(&self) -> i32 {
        let digest: [u8; 32] = Sha256::digest(self.to_string()).into();
        let [a, b, c, d, ..] = digest;
        i32::from_be_bytes([a, b, c, d])
    }
}

/// The set of units that this server owns.
pub(super) type OwnedUnits = watch::Receiver<BTreeSet<LeaseUnit>>;

/// Runs `work` while this server owns a unit, until the server stops. If `work` fails, it begins again after a pause.
pub(super) async fn run_while_owned<F: Future<Output = Result<(), FleetError>>>(
    stop: &watch::Receiver<bool>,
    unit: &LeaseUnit,
    mut owned: OwnedUnits,
    work: impl Fn() -> F,
) {
    let mut stop = stop.clone();
    while wait_for_lease(unit, &mut owned, &mut stop).await {
        let (mut lost, mut stopped) = (owned.clone(), stop.clone());
        // Messages are acknowledged after their transaction, so that stopping in the middle loses nothing.
        let result = tokio::select! {
            () = wait_for_loss(unit, &mut lost) => Ok(()),
            () = wait_for_stop(&mut stopped) => Ok(()),
            result = work() => result,
        };
        if let Err(error) = result {
            tracing::warn!(%unit, %error, "messages cannot be processed, trying again");
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }
}

/// Waits until this server owns a unit. Returns false if the server stops.
async fn wait_for_lease(unit: &LeaseUnit, owned: &mut OwnedUnits, stop: &mut watch::Receiver<bool>) -> bool {
    tokio::select! {
        () = wait_for_stop(stop) => false,
        owned = owned.wait_for(|owned| owned.contains(unit)) => owned.is_ok(),
    }
}

/// Waits until this server does not own a unit any more.
async fn wait_for_loss(unit: &LeaseUnit, owned: &mut OwnedUnits) {
    // An error means that the leases have ended.
    drop(owned.wait_for(|owned| !owned.contains(unit)).await);
}

/// Holds leases until the server stops. A broken connection loses all of them.
pub(super) async fn run_leases(
    context: IngestContext,
    units: Vec<LeaseUnit>,
    owned: watch::Sender<BTreeSet<LeaseUnit>>,
) {
    let mut stop = context.stop.clone();
    while !*stop.borrow() {
        let held = tokio::select! {
            () = wait_for_stop(&mut stop) => break,
            held = hold_leases(&context, &units, &owned) => held,
        };
        owned.send_replace(BTreeSet::new());
        if let Err(error) = held {
            tracing::warn!(%error, "lost the leases of partitions");
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
    owned.send_replace(BTreeSet::new());
}

async fn hold_leases(
    context: &IngestContext,
    units: &[LeaseUnit],
    owned: &watch::Sender<BTreeSet<LeaseUnit>>,
) -> Result<(), FleetError> {
    let client = context.store.dedicated_client().await?;
    let own_key = i32::from_be_bytes(random_bytes()?);
    client.execute("select pg_advisory_lock($1, $2)", &[&SERVER_CLASS, &own_key]).await?;
    loop {
        balance(&client, units, owned).await?;
        tokio::time::sleep(LEASE_INTERVAL).await;
    }
}

/// Takes free units up to a fair share, and releases those above it.
async fn balance(
    client: &Client,
    units: &[LeaseUnit],
    owned: &watch::Sender<BTreeSet<LeaseUnit>>,
) -> Result<(), FleetError> {
    let sql = "select count(*) from pg_locks where locktype = 'advisory' and granted \
               and classid::bigint = $1 and objsubid = 2 \
               and database = (select oid from pg_database where datname = current_database())";
    let servers: i64 = client.query_one(sql, &[&i64::from(SERVER_CLASS)]).await?.get(0);
    let servers = usize::try_from(servers).unwrap_or(1).max(1);
    let share = units.len().div_ceil(servers);
    let mut held = owned.borrow().clone();
    while held.len() > share {
        let Some(unit) = held.pop_last() else { break };
        owned.send_replace(held.clone());
        // The worker finishes its group. If it needs longer, the next server waits for its row locks.
        tokio::time::sleep(RELEASE_DELAY).await;
        client.execute("select pg_advisory_unlock($1, $2)", &[&UNIT_CLASS, &unit.lock_key()]).await?;
        tracing::debug!(%unit, "released a partition");
    }
    for unit in units {
        if held.len() >= share {
            break;
        }
        if held.contains(unit) {
            continue;
        }
        let row =
            client.query_one("select pg_try_advisory_lock($1, $2)", &[&UNIT_CLASS, &unit.lock_key()]).await?;
        if row.get(0) {
            held.insert(unit.clone());
            owned.send_replace(held.clone());
            tracing::debug!(%unit, "took a partition");
        }
    }
    Ok(())
}
