// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The message bus: one connection for each tenant, and the streams of its account.

mod connect;
mod streams;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream;
use tenterhook_fleet_protocol::{FleetMessage, MachineId, Mailbox, Partition, StreamName, Subject};

pub(crate) use connect::connect_revoker;
pub use streams::StreamLimits;

use crate::error::{FleetError, nats_error};
use crate::keys::TenantAccounts;

/// Name of the durable consumers, which all copies of the server share.
pub(crate) const EVIDENCE_CONSUMER: &str = "fleet";

/// Minimum time between two moves of a connection to another server.
const MOVE_INTERVAL: Duration = Duration::from_secs(30);

/// How the server reaches NATS.
#[derive(Debug, Clone)]
pub struct BusOptions {
    /// URLs of NATS servers.
    pub urls: Vec<String>,
    /// URLs that machines receive; the server's own if empty.
    pub machine_urls: Vec<String>,
    /// Certificate authority of NATS.
    pub ca: Option<PathBuf>,
    /// Limits of the streams.
    pub limits: StreamLimits,
}

/// The connection to the account of one tenant.
#[derive(Clone)]
pub(crate) struct TenantBus {
    /// Name of the tenant.
    pub(crate) tenant: Arc<str>,
    /// Connection to NATS as the tenant's account.
    pub(crate) client: async_nats::Client,
    /// The account's streams.
    pub(crate) jetstream: jetstream::Context,
    accounts: Arc<TenantAccounts>,
    /// When the connection was last moved to another server.
    moved: Arc<Mutex<Instant>>,
}

impl TenantBus {
    /// Connects to a tenant's account and creates its streams.
    pub(crate) async fn open(
        tenant: &str,
        accounts: &TenantAccounts,
        options: &BusOptions,
    ) -> Result<Self, FleetError> {
        let client = connect::connect(tenant, &accounts.streams, options).await?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(std::time::Duration::from_secs(10));
        streams::create_streams(&jetstream, &options.limits).await?;
        let moved = Arc::new(Mutex::new(Instant::now()));
        let accounts = Arc::new(accounts.clone());
        Ok(Self { tenant: tenant.into(), client, jetstream, accounts, moved })
    }

    /// Returns where a machine receives messages that are for it alone.
    pub(crate) fn mailbox(&self, machine: &MachineId) -> Mailbox {
        self.accounts.mailbox(machine)
    }

    /// Lets the streams of evidence be read again from their start: after the database was restored from a backup, for
    /// machines that cannot upload again. Messages that are stored already are recognised.
    pub(crate) async fn replay_evidence(&self) -> Result<(), FleetError> {
        for partition in Partition::all() {
            let name = StreamName::Evidence(partition).to_string();
            let stream = self.jetstream.get_stream_no_info(&name).await;
            let stream = stream.map_err(|error| nats_error("stream", &error))?;
            // Fails if there is no consumer yet.
            if let Err(error) = stream.delete_consumer(EVIDENCE_CONSUMER).await {
                tracing::debug!(name, %error, "the consumer was not removed");
            }
        }
        Ok(())
    }

    /// Connects to another server after a failure, at most once in [`MOVE_INTERVAL`]. A server that a network separates
    /// from the others keeps its connections, but delivers nothing.
    pub(crate) async fn move_after_failure(&self) {
        let is_due = {
            let mut moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner);
            let is_due = moved.elapsed() >= MOVE_INTERVAL;
            if is_due {
                *moved = Instant::now();
            }
            is_due
        };
        if is_due && let Err(error) = self.client.force_reconnect().await {
            tracing::warn!(%error, "the connection to NATS cannot be moved");
        }
    }

    /// Stores a message in the stream of its subject and waits until it is stored.
    pub(crate) async fn store<M: FleetMessage>(
        &self,
        subject: &Subject<'_>,
        message: &M,
    ) -> Result<(), FleetError> {
        let bytes = message.encode().map_err(|error| FleetError::internal(error.to_string()))?;
        let stored = self.jetstream.publish(subject.to_string(), bytes.into()).await;
        let stored = stored.map_err(|error| nats_error("publish", &error))?;
        stored.await.map_err(|error| nats_error("publish", &error)).map(drop)
    }

    /// Sends a message that is not stored.
    pub(crate) async fn send<M: FleetMessage>(
        &self,
        subject: &Subject<'_>,
        message: &M,
    ) -> Result<(), FleetError> {
        let bytes = message.encode().map_err(|error| FleetError::internal(error.to_string()))?;
        self.client
            .publish(subject.to_string(), bytes.into())
            .await
            .map_err(|error| nats_error("publish", &error))
    }
}
