// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Values that decisions are searched by, with their number; and one decision with the state of its proof.

use serde::Serialize;
use tokio_postgres::Row;

use super::decision_rows::{FleetDecision, decision_row};
use super::{Store, signed, unsigned};
use crate::error::FleetError;

/// Maximum number of values of one field.
const MAX_VALUES: i64 = 50;

/// A value and the number of decisions of the last seven days that have it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DecisionValue {
    /// The field: `verdict`, `rule`, `harness`, `user` or `host`.
    pub(crate) field: String,
    /// Value that these decisions have.
    pub(crate) value: String,
    /// Number of decisions.
    pub(crate) count: u64,
}

/// A record with what the server knows about its proof.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RecordState {
    /// The row of the decision.
    pub(crate) decision: FleetDecision,
    /// The envelope, as the machine uploaded it.
    pub(crate) envelope: String,
    /// Number of records of the machine that are stored.
    pub(crate) stored: u64,
    /// Size of the last checkpoint that the witness cosigned. The record is in the cosigned tree if its number is
    /// smaller.
    pub(crate) witnessed: u64,
    /// The cosigned checkpoint.
    pub(crate) note: String,
    /// Number of open alerts of the machine about its evidence.
    pub(crate) alerts: u64,
}

impl Store {
    /// Returns the values of decisions in the last seven days, most frequent first.
    pub(crate) async fn decision_values(&self, tenant: &str) -> Result<Vec<DecisionValue>, FleetError> {
        let sql = "with recent as materialized (select verdict, rule, harness, actor, host from decisions \
                   where tenant = $1 and at > now() - interval '7 days'), \
                   counted as (select field, value, count(*) as count, \
                   row_number() over (partition by field order by count(*) desc, value) as place from recent, \
                   lateral (values ('verdict', verdict), ('rule', rule), ('harness', harness), ('user', actor), \
                   ('host', host)) as v(field, value) where value is not null group by field, value) \
                   select field, value, count from counted where place <= $2 order by field, place";
        let rows = self.client().await?.query(sql, &[&tenant, &MAX_VALUES]).await?;
        let read = |row: &Row| DecisionValue {
            field: row.get("field"),
            value: row.get("value"),
            count: unsigned(row.get("count")),
        };
        Ok(rows.iter().map(read).collect())
    }

    /// Returns a record that has a row, with the state of its proof.
    pub(crate) async fn find_record(
        &self,
        tenant: &str,
        machine: &str,
        record: u64,
    ) -> Result<Option<RecordState>, FleetError> {
        let sql = "select d.*, m.cursor, m.witnessed_size, m.witnessed_note, (select count(*) from alerts a \
                   where a.tenant = d.tenant and a.machine = d.machine and a.acknowledged is null and a.ended is null \
                   and a.kind in ('history-rewritten', 'machine-key-cloned', 'evidence-refused')) as alerts \
                   from decisions d join machines m on m.id = d.machine and m.tenant = d.tenant \
                   where d.tenant = $1 and d.machine = $2 and d.record = $3";
        let row = self.client().await?.query_opt(sql, &[&tenant, &machine, &signed(record)]).await?;
        Ok(row.map(|row| RecordState {
            decision: decision_row(&row),
            envelope: row.get("envelope"),
            stored: unsigned(row.get("cursor")),
            witnessed: unsigned(row.get("witnessed_size")),
            note: row.get("witnessed_note"),
            alerts: unsigned(row.get("alerts")),
        }))
    }
}
