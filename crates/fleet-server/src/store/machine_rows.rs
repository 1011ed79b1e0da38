// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rows of machines.

use std::time::SystemTime;

use deadpool_postgres::GenericClient;
use serde::Serialize;
use serde_json::Value;
use tokio_postgres::Row;

use super::{Store, serialize_optional_time, serialize_time, unsigned};
use crate::error::FleetError;

/// A machine as operators see it.
#[derive(Debug, Clone, Serialize)]
pub struct MachineRow {
    /// Id of the machine.
    pub machine: String,
    /// Name of the host.
    pub host: String,
    /// Version of Tenterhook.
    pub version: String,
    /// Labels of its enrolment token.
    pub labels: Value,
    /// Whether the machine is a CI runner.
    pub ci: bool,
    /// Ring of the machine.
    pub ring: String,
    /// Origin of its ledger.
    pub origin: String,
    /// Time of enrolment.
    #[serde(serialize_with = "serialize_time")]
    pub joined: SystemTime,
    /// Time at which it left.
    #[serde(serialize_with = "serialize_optional_time")]
    pub left: Option<SystemTime>,
    /// Time at which an operator removed it.
    #[serde(serialize_with = "serialize_optional_time")]
    pub revoked: Option<SystemTime>,
    /// Until when it is suspended because it uploaded too much.
    #[serde(serialize_with = "serialize_optional_time")]
    pub suspended_until: Option<SystemTime>,
    /// Time of its last message.
    #[serde(serialize_with = "serialize_time")]
    pub last_seen: SystemTime,
    /// Number of stored records.
    pub records: u64,
    /// Size of the last cosigned checkpoint.
    pub witnessed: u64,
    /// The last cosigned checkpoint.
    pub note: String,
    /// The machine's last status.
    pub status: Option<Value>,
    /// Number of open alerts.
    pub alerts: i64,
}

/// A machine to enrol.
pub(crate) struct NewMachine<'a> {
    pub(crate) id: &'a str,
    pub(crate) tenant: &'a str,
    pub(crate) nkey: &'a str,
    pub(crate) instance: &'a str,
    pub(crate) host: &'a str,
    pub(crate) version: &'a str,
    pub(crate) labels: &'a Value,
    pub(crate) ci: bool,
    pub(crate) ring: &'a str,
    pub(crate) token: &'a str,
    pub(crate) origin: &'a str,
    pub(crate) ledger_key: &'a str,
}

/// An enrolled machine, for requests that it signs itself.
pub(crate) struct EnrolledMachine {
    pub(crate) tenant: String,
    pub(crate) instance: String,
    pub(crate) ring: String,
    pub(crate) ci: bool,
    pub(crate) has_left: bool,
    pub(crate) is_revoked: bool,
    /// Number of stored records.
    pub(crate) cursor: u64,
    /// Until when the machine is suspended, if it is.
    pub(crate) suspended_until: Option<SystemTime>,
}

fn machine_row(row: &Row) -> MachineRow {
    MachineRow {
        machine: row.get("id"),
        host: row.get("host"),
        version: row.get("version"),
        labels: row.get("labels"),
        ci: row.get("ci"),
        ring: row.get("ring"),
        origin: row.get("origin"),
        joined: row.get("joined"),
        left: row.get("left_at"),
        revoked: row.get("revoked_at"),
        suspended_until: row.get("suspended_until"),
        last_seen: row.get("last_seen"),
        records: unsigned(row.get("cursor")),
        witnessed: unsigned(row.get("witnessed_size")),
        note: row.get("witnessed_note"),
        status: row.get("status"),
        alerts: row.get("alerts"),
    }
}

impl Store {
    /// Lists the machines of a tenant: all, or those whose id or host contains a text.
    pub async fn list_machines(
        &self,
        tenant: &str,
        search: Option<&str>,
    ) -> Result<Vec<MachineRow>, FleetError> {
        let sql = "select m.*, (select count(*) from alerts a where a.tenant = m.tenant and a.machine = m.id \
                   and a.acknowledged is null and a.ended is null) as alerts from machines m \
                   where m.tenant = $1 and ($2::text is null or position($2 in m.id) > 0 or position($2 in m.host) > 0) \
                   order by m.host, m.id limit 10000";
        let rows = self.client().await?.query(sql, &[&tenant, &search]).await?;
        Ok(rows.iter().map(machine_row).collect())
    }

    /// Adds a machine, or gives its row a new key, instance and token if it enrols again with the same key.
    /// Its stored records stay, so a second enrolment cannot hide what happened before.
    pub(crate) async fn insert_machine<C: GenericClient>(
        client: &C,
        new: &NewMachine<'_>,
    ) -> Result<(), FleetError> {
        let sql = "insert into machines (id, tenant, nkey, instance, host, version, labels, ci, ring, token, origin, ledger_keys) \
                   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, array[$12::text]) \
                   on conflict (id) do update set instance = excluded.instance, host = excluded.host, \
                   version = excluded.version, labels = excluded.labels, ci = excluded.ci, ring = excluded.ring, \
                   token = excluded.token, left_at = null, last_seen = now() \
                   where machines.tenant = excluded.tenant and machines.origin = excluded.origin \
                   and machines.revoked_at is null";
        let sql = client.prepare_cached(sql).await?;
        let changed = client
            .execute(
                &sql,
                &[
                    &new.id,
                    &new.tenant,
                    &new.nkey,
                    &new.instance,
                    &new.host,
                    &new.version,
                    &new.labels,
                    &new.ci,
                    &new.ring,
                    &new.token,
                    &new.origin,
                    &new.ledger_key,
                ],
            )
            .await;
        match changed {
            Ok(1) => Ok(()),
            Ok(_) => Err(FleetError::conflict(
                "the machine was removed from the fleet, or is enrolled already with another ledger",
            )),
            Err(error) if error.code() == Some(&tokio_postgres::error::SqlState::UNIQUE_VIOLATION) => {
                Err(FleetError::conflict("another machine with this ledger is enrolled already").with_hint(
                    "a copied state directory cannot be enrolled; remove it, or `leave` on the other machine",
                ))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns an enrolled machine.
    pub(crate) async fn find_machine(&self, id: &str) -> Result<Option<EnrolledMachine>, FleetError> {
        let sql = "select tenant, instance, ring, ci, left_at is not null, revoked_at is not null, \
                   case when suspended_until > now() then suspended_until end, cursor from machines where id = $1";
        let row = self.client().await?.query_opt(sql, &[&id]).await?;
        Ok(row.map(|row| EnrolledMachine {
            tenant: row.get(0),
            instance: row.get(1),
            ring: row.get(2),
            ci: row.get(3),
            has_left: row.get(4),
            is_revoked: row.get(5),
            suspended_until: row.get(6),
            cursor: unsigned(row.get(7)),
        }))
    }

    /// Marks a machine as left.
    pub(crate) async fn mark_left(&self, id: &str) -> Result<(), FleetError> {
        let client = self.client().await?;
        client
            .execute("update machines set left_at = now() where id = $1 and left_at is null", &[&id])
            .await?;
        client.execute("update alerts set ended = now() where machine = $1 and kind = 'machine-silent' and ended is null", &[&id]).await?;
        Ok(())
    }

    /// Stores the last status of machines.
    pub(crate) async fn store_status(
        &self,
        tenant: &str,
        machine: &str,
        status: &Value,
    ) -> Result<bool, FleetError> {
        let sql = "update machines set status = $3, status_at = now(), last_seen = now() where id = $2 and tenant = $1";
        let client = self.client().await?;
        Ok(client.execute(sql, &[&tenant, &machine, &status]).await? == 1)
    }
}
