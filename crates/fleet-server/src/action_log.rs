// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Records what operators and machines did: in a ledger of this server, and as rows for searches.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use deadpool_postgres::GenericClient;
use serde_json::Value;
use tenterhook_event::{EventId, Timestamp};
use tenterhook_ledger::{Ledger, LedgerEntry, LedgerOptions, Reader};

use crate::error::FleetError;
use crate::files::random_bytes;
use crate::store::{Store, signed};

/// The ledger of this server's actions.
#[derive(Clone)]
pub(crate) struct ActionLog {
    ledger: Ledger,
    origin: String,
    store: Store,
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl ActionLog {
    /// Opens or creates the ledger in a directory.
    pub(crate) fn open(dir: &Path, store: Store) -> Result<Self, FleetError> {
        let fail =
            |error: &dyn std::error::Error| FleetError::invalid(format!("`{}`: {error}", dir.display()));
        let opened = Ledger::open(dir, LedgerOptions::new(now_ms)).map_err(|error| fail(&error))?;
        for message in opened.recovered {
            tracing::warn!(message, "the ledger of actions was recovered");
        }
        let reader = Reader::open(dir).map_err(|error| fail(&error))?;
        let key = reader.key().map_err(|error| fail(&error))?;
        let origin = key.map(|key| key.name().to_owned()).unwrap_or_default();
        Ok(Self { ledger: opened.ledger, origin, store })
    }

    /// Records an action. It has not happened if it cannot be recorded.
    pub(crate) async fn record(
        &self,
        tenant: &str,
        actor: &str,
        action: &str,
        detail: Value,
    ) -> Result<(), FleetError> {
        let record = self.append((tenant, actor, action), &detail).await?;
        let client = self.store.client().await?;
        Store::insert_action(&client, (tenant, actor, action), &detail, (&self.origin, record)).await
    }

    /// Records an action on a connection that the caller has, because a caller that waits for a second one while it holds
    /// the first could wait for ever.
    pub(crate) async fn record_in<C: GenericClient>(
        &self,
        client: &C,
        action: (&str, &str, &str),
        detail: Value,
    ) -> Result<(), FleetError> {
        let record = self.append(action, &detail).await?;
        Store::insert_action(client, action, &detail, (&self.origin, record)).await
    }

    /// Appends an action to the ledger. Returns the number of the record.
    async fn append(
        &self,
        (tenant, actor, action): (&str, &str, &str),
        detail: &Value,
    ) -> Result<i64, FleetError> {
        let (random, ms) = (u128::from_be_bytes(random_bytes()?), now_ms());
        let id = EventId::from_parts(ms, random);
        let recorded = serde_json::json!({ "tenant": tenant, "detail": detail });
        let what = format!("fleet-{action}");
        let entry =
            LedgerEntry::change(id, Timestamp::from_unix_ms(ms), &what, actor, recorded, &|_| Vec::new());
        let ledger = self.ledger.clone();
        let appended = tokio::task::spawn_blocking(move || ledger.append(entry)).await;
        let appended = appended.map_err(|error| FleetError::internal(error.to_string()))?;
        let appended =
            appended.map_err(|error| FleetError::internal(format!("ledger of actions: {error}")))?;
        tracing::info!(tenant, actor, action, "recorded an action");
        Ok(signed(appended.seq()))
    }
}
