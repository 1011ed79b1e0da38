// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Searches decisions, and reads hourly counts.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use tokio_postgres::Row;

use super::{Store, serialize_time, unsigned};
use crate::error::FleetError;

/// Maximum number of rows of a search.
const MAX_ROWS: i64 = 1000;

/// A decision or change that has a row.
#[derive(Debug, Clone, Serialize)]
pub struct FleetDecision {
    /// Id of the machine that reported it.
    pub machine: String,
    /// Number of the record in the machine's ledger.
    pub record: u64,
    /// Time of the event.
    #[serde(serialize_with = "serialize_time")]
    pub at: SystemTime,
    /// Kind of the record.
    pub kind: String,
    /// Verdict of the rules.
    pub verdict: Option<String>,
    /// Name of the event.
    pub event: Option<String>,
    /// Harness that made the call.
    pub harness: Option<String>,
    /// Tool that was called.
    pub tool: Option<String>,
    /// Rule that decided.
    pub rule: Option<String>,
    /// Session of the call.
    pub session: Option<String>,
    /// User of the machine.
    pub user: Option<String>,
    /// Name of the host.
    pub host: String,
    /// Working directory of the call.
    pub cwd: Option<String>,
    /// Reason, or what changed.
    pub reason: Option<String>,
    /// Whether the input of the call was replaced.
    pub rewritten: bool,
}

/// Which decisions to list. Texts other than the path must be equal.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct DecisionFilter {
    /// Id of the machine.
    pub machine: Option<String>,
    /// Verdict: `ask` or `deny`.
    pub verdict: Option<String>,
    /// Rule that decided.
    pub rule: Option<String>,
    /// Harness that made the call.
    pub harness: Option<String>,
    /// User of the machine.
    pub user: Option<String>,
    /// Name of the host.
    pub host: Option<String>,
    /// Start of the working directory.
    pub path: Option<String>,
    /// Only decisions since this time, in RFC 3339.
    pub since: Option<String>,
    /// Only decisions before this time, in RFC 3339.
    pub until: Option<String>,
    /// Text in the tool, event, rule, reason, host or working directory; upper and lower case are the same.
    pub text: Option<String>,
    /// Maximum number of rows.
    pub limit: Option<i64>,
}

/// Number of calls in one hour.
#[derive(Debug, Clone, Serialize)]
pub struct HourlyRow {
    /// Start of the hour.
    #[serde(serialize_with = "serialize_time")]
    pub hour: SystemTime,
    /// Harness that made the calls.
    pub harness: String,
    /// Verdict of the rules.
    pub verdict: String,
    /// Number of calls on all machines.
    pub calls: i64,
}

pub(super) fn decision_row(row: &Row) -> FleetDecision {
    FleetDecision {
        machine: row.get("machine"),
        record: unsigned(row.get("record")),
        at: row.get("at"),
        kind: row.get("kind"),
        verdict: row.get("verdict"),
        event: row.get("event"),
        harness: row.get("harness"),
        tool: row.get("tool"),
        rule: row.get("rule"),
        session: row.get("session"),
        user: row.get("actor"),
        host: row.get("host"),
        cwd: row.get("cwd"),
        reason: row.get("reason"),
        rewritten: row.get("rewritten"),
    }
}

/// Reads a time in RFC 3339.
pub(super) fn parse_time(text: &str) -> Result<SystemTime, FleetError> {
    let time: Result<jiff::Timestamp, _> = text.parse();
    time.map(SystemTime::from).map_err(|_| {
        FleetError::invalid(format!("invalid time `{text}`"))
            .with_hint("use RFC 3339, such as 2026-11-15T08:00:00Z")
    })
}

impl Store {
    /// Lists decisions, newest first.
    pub async fn list_decisions(
        &self,
        tenant: &str,
        filter: &DecisionFilter,
    ) -> Result<Vec<FleetDecision>, FleetError> {
        let since = filter.since.as_deref().map(parse_time).transpose()?;
        let until = filter.until.as_deref().map(parse_time).transpose()?;
        let limit = filter.limit.unwrap_or(100).clamp(1, MAX_ROWS);
        let sql = "select * from decisions where tenant = $1 \
                   and ($2::text is null or machine = $2) and ($3::text is null or verdict = $3 or ($3 = 'rewritten' and rewritten)) \
                   and ($4::text is null or rule = $4) and ($5::text is null or harness = $5) \
                   and ($6::text is null or actor = $6) and ($7::text is null or host = $7) \
                   and ($8::text is null or starts_with(cwd, $8)) and ($9::timestamptz is null or at >= $9) \
                   and ($11::text is null or position(lower($11) in lower(concat_ws(' ', tool, event, rule, reason, host, cwd))) > 0) \
                   and ($12::timestamptz is null or at < $12) order by at desc, machine, record desc limit $10";
        let client = self.client().await?;
        let rows = client
            .query(
                sql,
                &[
                    &tenant,
                    &filter.machine,
                    &filter.verdict,
                    &filter.rule,
                    &filter.harness,
                    &filter.user,
                    &filter.host,
                    &filter.path,
                    &since,
                    &limit,
                    &filter.text,
                    &until,
                ],
            )
            .await?;
        Ok(rows.iter().map(decision_row).collect())
    }

    /// Returns the number of calls by hour, harness and verdict since a time, on all machines.
    pub async fn hourly_counts(&self, tenant: &str, since: &str) -> Result<Vec<HourlyRow>, FleetError> {
        let since = parse_time(since)?;
        let sql = "select hour, harness, verdict, sum(calls)::bigint as calls from hourly_counts \
                   where tenant = $1 and hour >= $2 group by hour, harness, verdict order by hour, harness, verdict";
        let rows = self.client().await?.query(sql, &[&tenant, &since]).await?;
        let read = |row: &Row| HourlyRow {
            hour: row.get("hour"),
            harness: row.get("harness"),
            verdict: row.get("verdict"),
            calls: row.get("calls"),
        };
        Ok(rows.iter().map(read).collect())
    }
}
