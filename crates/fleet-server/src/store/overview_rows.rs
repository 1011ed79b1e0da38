// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The fleet in numbers. PostgreSQL counts, so the overview does not grow with the number of machines.

use std::time::SystemTime;

use serde::Serialize;
use tokio_postgres::{Client, Row};

use super::{Store, serialize_time, unsigned};
use crate::error::FleetError;

/// Maximum number of machines that are listed as behind.
const MAX_BEHIND: i64 = 25;
/// Number of records that may be on their way before a machine counts as behind.
const MAX_RECORDS_UNDER_WAY: i64 = 100;

/// Numbers of all machines that have not left.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FleetNumbers {
    /// Number of machines.
    pub(crate) machines: u64,
    /// Number of machines with a message in the last five minutes.
    pub(crate) online: u64,
    /// Number of machines with an agent whose calls are not guarded.
    pub(crate) unguarded: u64,
    /// Number of machines whose daemon does not answer.
    pub(crate) without_daemon: u64,
    /// Coverage of each harness.
    pub(crate) harnesses: Vec<HarnessCoverage>,
    /// Versions of Tenterhook, modes of the rules and levels of open sandboxed runs, with their number of machines.
    pub(crate) shares: Vec<MachineShare>,
    /// Number of machines that are behind.
    pub(crate) behind_total: u64,
    /// The first machines that are behind, longest silence first.
    pub(crate) behind: Vec<MachineBehind>,
}

/// Number of machines on which a harness is in a state.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct HarnessCoverage {
    /// Id of the harness.
    pub(crate) harness: String,
    /// State of its hooks.
    pub(crate) state: String,
    /// Whether its calls are guarded.
    pub(crate) guarded: bool,
    /// Number of machines.
    pub(crate) machines: u64,
}

/// Number of machines that have a value.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct MachineShare {
    /// `version`, `mode` or `sandbox`.
    pub(crate) field: String,
    /// Value that these machines have.
    pub(crate) value: String,
    /// Number of machines.
    pub(crate) machines: u64,
}

/// A machine that lacks something that the fleet has.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct MachineBehind {
    /// Id of the machine.
    pub(crate) machine: String,
    /// Name of the host.
    pub(crate) host: String,
    /// Ring of the machine.
    pub(crate) ring: String,
    /// Time of its last message.
    #[serde(serialize_with = "serialize_time")]
    pub(crate) last_seen: SystemTime,
    /// Whether it sent nothing in the last five minutes.
    pub(crate) silent: bool,
    /// Number of its records that no cosigned checkpoint covers.
    pub(crate) records: u64,
    /// Version of the policy in force; zero if there is none.
    pub(crate) policy: u64,
    /// Version of the policy that its ring has; zero if there is none.
    pub(crate) ring_policy: u64,
}

/// The machines of a tenant with the numbers that decide whether one is behind. Numbers of a status come from the
/// machine, so they are limited before they are converted.
const MACHINES: &str = "select m.id, m.host, m.ring, m.last_seen, m.version, m.status, \
    m.last_seen < now() - interval '5 minutes' as silent, \
    greatest(least((m.status->>'ledger_size')::numeric, 9223372036854775807)::bigint - m.witnessed_size, 0) as records, \
    coalesce(least((m.status->'bundle'->>'version')::numeric, 9223372036854775807)::bigint, 0) as policy, \
    coalesce(case when r.stage = 'active' then r.version else r.previous_version end, 0) as ring_policy \
    from machines m left join rollouts r on r.tenant = m.tenant and r.ring = m.ring \
    where m.tenant = $1 and m.left_at is null";

/// The reports about harnesses of a machine.
const HARNESSES: &str = "jsonb_array_elements(case jsonb_typeof(status->'harnesses') when 'array' then status->'harnesses' else '[]' end)";

impl Store {
    /// Counts the machines of a tenant.
    pub(crate) async fn overview(&self, tenant: &str) -> Result<FleetNumbers, FleetError> {
        let client = self.client().await?;
        let sql = format!(
            "with m as ({MACHINES}) select count(*) as machines, count(*) filter (where not silent) as online, \
             count(*) filter (where exists (select 1 from {HARNESSES} h where h->>'guarded' = 'false')) as unguarded, \
             count(*) filter (where status->>'daemon_running' = 'false') as without_daemon from m"
        );
        let row = client.query_one(&sql, &[&tenant]).await?;
        let number = |name: &str| unsigned(row.get(name));
        let (behind_total, behind) = list_behind(&client, tenant).await?;
        Ok(FleetNumbers {
            machines: number("machines"),
            online: number("online"),
            unguarded: number("unguarded"),
            without_daemon: number("without_daemon"),
            harnesses: count_harnesses(&client, tenant).await?,
            shares: count_shares(&client, tenant).await?,
            behind_total,
            behind,
        })
    }
}

async fn count_harnesses(client: &Client, tenant: &str) -> Result<Vec<HarnessCoverage>, FleetError> {
    let sql = format!(
        "with m as ({MACHINES}) select coalesce(h->>'harness', '') as harness, coalesce(h->>'state', '') as state, \
         h->>'guarded' = 'true' as guarded, count(*) as machines from m, {HARNESSES} h \
         group by 1, 2, 3 order by 1, 4 desc limit 200"
    );
    let rows = client.query(&sql, &[&tenant]).await?;
    let read = |row: &Row| HarnessCoverage {
        harness: row.get("harness"),
        state: row.get("state"),
        guarded: row.get("guarded"),
        machines: unsigned(row.get("machines")),
    };
    Ok(rows.iter().map(read).collect())
}

async fn count_shares(client: &Client, tenant: &str) -> Result<Vec<MachineShare>, FleetError> {
    let sql = format!(
        "with m as ({MACHINES}) \
         select 'version' as field, coalesce(status->>'version', version) as value, count(*) as machines from m group by 2 union all \
         select 'mode', status->>'mode', count(*) from m where status->>'mode' is not null group by 2 union all \
         select 'sandbox', level, count(*) from m, jsonb_array_elements_text(case \
         jsonb_typeof(status->'sandbox_levels') when 'array' then status->'sandbox_levels' else '[]' end) level \
         group by 2 order by 1, 3 desc, 2 limit 200"
    );
    let rows = client.query(&sql, &[&tenant]).await?;
    let read = |row: &Row| MachineShare {
        field: row.get("field"),
        value: row.get("value"),
        machines: unsigned(row.get("machines")),
    };
    Ok(rows.iter().map(read).collect())
}

async fn list_behind(client: &Client, tenant: &str) -> Result<(u64, Vec<MachineBehind>), FleetError> {
    let sql = format!(
        "with m as ({MACHINES}) select *, count(*) over () as total from m \
         where silent or records > $2 or policy < ring_policy order by last_seen, id limit $3"
    );
    let rows = client.query(&sql, &[&tenant, &MAX_RECORDS_UNDER_WAY, &MAX_BEHIND]).await?;
    let read = |row: &Row| MachineBehind {
        machine: row.get("id"),
        host: row.get("host"),
        ring: row.get("ring"),
        last_seen: row.get("last_seen"),
        silent: row.get("silent"),
        records: unsigned(row.get::<_, Option<i64>>("records").unwrap_or(0)),
        policy: unsigned(row.get("policy")),
        ring_policy: unsigned(row.get("ring_policy")),
    };
    Ok((rows.first().map_or(0, |row| unsigned(row.get("total"))), rows.iter().map(read).collect()))
}
