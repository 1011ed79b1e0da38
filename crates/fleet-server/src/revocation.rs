// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Removes machines: the database refuses to renew their credentials, and the message bus refuses those that they have.
//!
//! The token of the machines' account names the keys of removed machines. It is sent to every NATS server, which closes
//! their connections. Credentials expire, so a key is named only as long as a token for it could be valid.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use crate::error::{FleetError, nats_error};
use crate::ingest::wait_for_stop;
use crate::keys::FleetKeys;
use crate::store::Store;

/// How often the tokens are sent again, for NATS servers that were restarted with an older configuration.
const REPEAT_INTERVAL: Duration = Duration::from_mins(5);
/// How often the connection is looked at: after a reconnection, the tokens are sent at once.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// How long a NATS server may take to answer.
const UPDATE_TIMEOUT: Duration = Duration::from_secs(5);
/// A token that was issued this long after the removal by another copy of the server is refused too.
const ISSUE_RACE_SECONDS: u64 = 300;

/// Sends the tokens of the machines' accounts to NATS.
#[derive(Clone)]
pub(crate) struct RevocationSender {
    client: async_nats::Client,
    keys: Arc<FleetKeys>,
    store: Store,
    /// Longest life of a machine's credentials.
    credential_life: Duration,
    /// Whether NATS has not received the last removal.
    is_behind: Arc<AtomicBool>,
}

impl RevocationSender {
    pub(crate) fn new(
        client: async_nats::Client,
        keys: Arc<FleetKeys>,
        store: Store,
        credential_life: Duration,
    ) -> Self {
        Self { client, keys, store, credential_life, is_behind: Arc::default() }
    }

    /// Sends the token of a tenant. If that fails, it is sent as soon as NATS can be reached. Returns whether it was sent.
    pub(crate) async fn send_soon(&self, tenant: &str) -> bool {
        match self.send(tenant).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(tenant, %error, "NATS does not know a removed machine yet");
                self.is_behind.store(true, Ordering::Relaxed);
                false
            }
        }
    }

    /// Sends the token of a tenant, if it names a key.
    async fn send(&self, tenant: &str) -> Result<(), FleetError> {
        let revoked = self.store.revoked_keys(tenant, self.credential_life).await?;
        if revoked.is_empty() {
            return Ok(());
        }
        let until = |time: u64| time.saturating_add(ISSUE_RACE_SECONDS);
        let revoked: Vec<_> = revoked.into_iter().map(|(key, time)| (key, until(time))).collect();
        let (account, jwt) = self.keys.machines_jwt(tenant, &revoked)?;
        let subject = format!("$SYS.REQ.ACCOUNT.{account}.CLAIMS.UPDATE");
        let request = self.client.request(subject, jwt.into());
        let reply = tokio::time::timeout(UPDATE_TIMEOUT, request).await;
        let reply = reply.map_err(|_| FleetError::unavailable("NATS: no answer to a revocation"))?;
        let reply = reply.map_err(|error| nats_error("revocation", &error))?;
        let answer: Value = serde_json::from_slice(&reply.payload).unwrap_or_default();
        match answer.get("error") {
            None => {
                tracing::info!(tenant, machines = revoked.len(), "sent the keys of removed machines to NATS");
                Ok(())
            }
            Some(error) => Err(FleetError::unavailable(format!("NATS: revocation: {error}"))),
        }
    }
}

/// Sends the tokens until the server stops: at start, after each reconnection, and from time to time.
pub(crate) async fn run_revocations(
    sender: RevocationSender,
    tenants: Vec<String>,
    mut stop: watch::Receiver<bool>,
) {
    let (mut sent, mut connections) = (None::<tokio::time::Instant>, 0);
    loop {
        let seen = sender.client.statistics().connects.load(Ordering::Relaxed);
        let is_late = sent.is_none_or(|sent| sent.elapsed() >= REPEAT_INTERVAL);
        if sender.is_behind.swap(false, Ordering::Relaxed) || is_late || seen != connections {
            (sent, connections) = (Some(tokio::time::Instant::now()), seen);
            for tenant in &tenants {
                sender.send_soon(tenant).await;
            }
        }
        tokio::select! {
            () = wait_for_stop(&mut stop) => return,
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
        }
    }
}
