// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decisions for an export: in pages for a command, and in a queue for a collector.

use std::time::{Duration, SystemTime};

use deadpool_postgres::{GenericClient, Transaction};
use serde::Deserialize;

use super::decision_rows::{decision_row, parse_time};
use super::{FleetDecision, Store, signed};
use crate::error::FleetError;

/// Maximum number of decisions in a page.
const MAX_PAGE_ROWS: i64 = 1000;
/// How long a decision waits for a collector.
const MAX_QUEUE_AGE: Duration = Duration::from_hours(7 * 24);

/// A page of decisions in the order of their times: those in a range of times, after the last one of the page before.
#[derive(Debug, Deserialize)]
pub(crate) struct ExportPage {
    /// Start of the range, in RFC 3339.
    since: String,
    /// End of the range.
    until: Option<String>,
    /// Time, machine and record of the last decision of the page before.
    after_at: Option<String>,
    #[serde(default)]
    after_machine: String,
    #[serde(default)]
    after_record: u64,
    /// Maximum number of decisions.
    limit: Option<i64>,
}

impl Store {
    /// Returns a page of decisions, oldest first.
    pub(crate) async fn export_page(
        &self,
        tenant: &str,
        page: &ExportPage,
    ) -> Result<Vec<FleetDecision>, FleetError> {
        let since = parse_time(&page.since)?;
        let until = page.until.as_deref().map(parse_time).transpose()?;
        let after = page.after_at.as_deref().map(parse_time).transpose()?;
        let limit = page.limit.unwrap_or(MAX_PAGE_ROWS).clamp(1, MAX_PAGE_ROWS);
        let sql = "select * from decisions where tenant = $1 and at >= $2 and ($3::timestamptz is null or at < $3) \
                   and ($4::timestamptz is null or (at, machine, record) > ($4, $5, $6)) \
                   order by at, machine, record limit $7";
        let record = signed(page.after_record);
        let client = self.client().await?;
        let rows = client
            .query(sql, &[&tenant, &since, &until, &after, &page.after_machine, &record, &limit])
            .await?;
        Ok(rows.iter().map(decision_row).collect())
    }

    /// Takes decisions from the queue until the transaction ends: the tenant and the decision, and the ids to remove.
    pub(crate) async fn take_queued(
        transaction: &Transaction<'_>,
        limit: i64,
    ) -> Result<(Vec<(String, FleetDecision)>, Vec<i64>), FleetError> {
        let sql = "select q.id as queue_id, d.* from export_queue q \
                   join decisions d on d.machine = q.machine and d.record = q.record \
                   order by q.id limit $1 for update of q skip locked";
        let rows = transaction.query(sql, &[&limit]).await?;
        let ids = rows.iter().map(|row| row.get("queue_id")).collect();
        Ok((rows.iter().map(|row| (row.get("tenant"), decision_row(row))).collect(), ids))
    }

    /// Removes decisions from the queue.
    pub(crate) async fn remove_queued<C: GenericClient>(client: &C, ids: &[i64]) -> Result<(), FleetError> {
        client.execute("delete from export_queue where id = any($1)", &[&ids]).await?;
        Ok(())
    }

    /// Removes decisions that have waited for too long. Returns how many.
    pub(crate) async fn expire_queued(&self) -> Result<u64, FleetError> {
        let oldest = SystemTime::now() - MAX_QUEUE_AGE;
        Ok(self.client().await?.execute("delete from export_queue where queued < $1", &[&oldest]).await?)
    }
}
