// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rows of alerts. A machine has at most one open alert of each kind; it counts how often it was raised.

use std::time::{Duration, SystemTime};

use deadpool_postgres::GenericClient;
use serde::Serialize;
use serde_json::Value;
use tokio_postgres::Row;

use super::{Store, serialize_optional_time, serialize_time};
use crate::error::FleetError;
use crate::ingest::AlertKind;

/// An alert about a machine.
#[derive(Debug, Clone, Serialize)]
pub struct AlertRow {
    /// Number of the alert.
    pub id: i64,
    /// Id of the machine.
    pub machine: String,
    /// Name of the machine's host.
    pub host: Option<String>,
    /// Kind of the alert.
    pub kind: String,
    /// Findings; for a rewritten history, both heads.
    pub detail: Value,
    /// When it was raised first.
    #[serde(serialize_with = "serialize_time")]
    pub raised: SystemTime,
    /// When it was raised last.
    #[serde(serialize_with = "serialize_time")]
    pub last_raised: SystemTime,
    /// How often it was raised.
    pub times: i64,
    /// When it was acknowledged.
    #[serde(serialize_with = "serialize_optional_time")]
    pub acknowledged: Option<SystemTime>,
    /// Operator that acknowledged the alert.
    pub acknowledged_by: Option<String>,
    /// When its cause ended.
    #[serde(serialize_with = "serialize_optional_time")]
    pub ended: Option<SystemTime>,
}

fn alert_row(row: &Row) -> AlertRow {
    AlertRow {
        id: row.get("id"),
        machine: row.get("machine"),
        host: row.get("host"),
        kind: row.get("kind"),
        detail: row.get("detail"),
        raised: row.get("raised"),
        last_raised: row.get("last_raised"),
        times: row.get("times"),
        acknowledged: row.get("acknowledged"),
        acknowledged_by: row.get("acknowledged_by"),
        ended: row.get("ended"),
    }
}

/// A CI runner without a message for this long counts as one that has left: its credentials have expired.
const RUNNER_SILENCE: Duration = Duration::from_hours(2);
/// Maximum length of a text in the details of an alert.
const MAX_DETAIL_CHARS: usize = 8192;

/// Raises an alert. The detail of the first time is kept while it is open.
pub(crate) async fn raise<C: GenericClient>(
    client: &C,
    tenant: &str,
    machine: &str,
    kind: AlertKind,
    detail: &Value,
) -> Result<(), FleetError> {
    let sql = "insert into alerts (tenant, machine, kind, detail) values ($1, $2, $3, $4) \
               on conflict (tenant, machine, kind) where acknowledged is null and ended is null \
               do update set last_raised = now(), times = alerts.times + 1";
    // Details contain text of machines.
    let detail = storable(detail.clone(), MAX_DETAIL_CHARS);
    client.execute(sql, &[&tenant, &machine, &kind.as_str(), &detail]).await?;
    Ok(())
}

/// Limits the texts in a value, and replaces the one character that PostgreSQL does not store in JSON.
pub(crate) fn storable(value: Value, max_chars: usize) -> Value {
    let text = |text: String| -> String { text.replace('\0', "\u{fffd}").chars().take(max_chars).collect() };
    match value {
        Value::String(found) => Value::String(text(found)),
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| storable(item, max_chars)).collect())
        }
        Value::Object(fields) => {
            let field = |(key, value)| (text(key), storable(value, max_chars));
            Value::Object(fields.into_iter().map(field).collect())
        }
        other => other,
    }
}

impl Store {
    /// Lists alerts, newest first: all, or those that are open.
    pub async fn list_alerts(&self, tenant: &str, all: bool) -> Result<Vec<AlertRow>, FleetError> {
        let sql = "select a.*, m.host from alerts a left join machines m on m.id = a.machine \
                   where a.tenant = $1 and ($2 or (a.acknowledged is null and a.ended is null)) \
                   order by a.raised desc limit 1000";
        let rows = self.client().await?.query(sql, &[&tenant, &all]).await?;
        Ok(rows.iter().map(alert_row).collect())
    }

    /// Acknowledges an alert. Fails if it does not exist or was acknowledged before.
    pub(crate) async fn acknowledge_alert(&self, tenant: &str, id: i64, who: &str) -> Result<(), FleetError> {
        let sql = "update alerts set acknowledged = now(), acknowledged_by = $3 \
                   where tenant = $1 and id = $2 and acknowledged is null";
        match self.client().await?.execute(sql, &[&tenant, &id, &who]).await? {
            0 => Err(FleetError::not_found(format!("no open alert `{id}`"))),
            _ => Ok(()),
        }
    }

    /// Returns open alerts of the last day that were not delivered to a target and are due, oldest first.
    pub(crate) async fn undelivered_alerts(
        &self,
        tenant: &str,
        target: &str,
    ) -> Result<Vec<AlertRow>, FleetError> {
        let sql = "select a.*, m.host from alerts a left join machines m on m.id = a.machine \
                   where a.tenant = $1 and a.acknowledged is null and a.raised > now() - interval '1 day' \
                   and not exists (select 1 from alert_deliveries d where d.alert = a.id and d.target = $2 \
                   and (d.delivered is not null or d.next_attempt > now())) \
                   order by a.id limit 20";
        let rows = self.client().await?.query(sql, &[&tenant, &target]).await?;
        Ok(rows.iter().map(alert_row).collect())
    }

    /// Raises `machine-silent` for machines without a message since `after`, and ends it for those that are back. A CI
    /// runner ends without notice: it is not reported, and counts as one that has left. Returns the number of new alerts.
    pub(crate) async fn watch_silent_machines(
        &self,
        tenant: &str,
        after: Duration,
    ) -> Result<u64, FleetError> {
        let (seconds, kind) = (after.as_secs_f64(), AlertKind::MachineSilent.as_str());
        let client = self.client().await?;
        let raise = "insert into alerts (tenant, machine, kind, detail) \
                     select tenant, id, $3, jsonb_build_object('last_seen', last_seen) from machines \
                     where tenant = $1 and left_at is null and not ci and last_seen < now() - make_interval(secs => $2) \
                     and not exists (select 1 from alerts a where a.tenant = machines.tenant and a.machine = machines.id \
                     and a.kind = $3 and a.ended is null) \
                     on conflict do nothing";
        let raised = client.execute(raise, &[&tenant, &seconds, &kind]).await?;
        let leave = "update machines set left_at = now() where tenant = $1 and ci and left_at is null \
                     and last_seen < now() - make_interval(secs => $2)";
        client.execute(leave, &[&tenant, &seconds.max(RUNNER_SILENCE.as_secs_f64())]).await?;
        let end = "update alerts a set ended = now() from machines m where a.tenant = $1 and a.kind = $3 \
                   and a.ended is null and m.id = a.machine \
                   and (m.left_at is not null or m.last_seen >= now() - make_interval(secs => $2))";
        client.execute(end, &[&tenant, &seconds, &kind]).await?;
        Ok(raised)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_of_a_machine_can_be_stored_with_every_character() {
        let detail = json!({"why\0": ["a\0b", {"deep": "é".repeat(10)}], "size": 7});
        let stored = storable(detail, 4);
        assert_eq!(stored, json!({"why\u{fffd}": ["a\u{fffd}b", {"deep": "éééé"}], "size": 7}));
    }
}
