// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rows of policy: root keys, bundles, rollouts, and the counts of candidates.

use std::time::SystemTime;

use deadpool_postgres::GenericClient;
use serde::Serialize;
use tenterhook_fleet_protocol::BacktestCounts;
use tokio_postgres::Row;

use super::{Store, serialize_time, signed, unsigned};
use crate::error::FleetError;

/// The keys that sign the policy of a tenant.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PolicyRoots {
    /// Verifier keys of the signers.
    pub keys: Vec<String>,
    /// Number of keys that must sign a bundle.
    pub threshold: u32,
}

/// A stored policy bundle, without its bytes.
#[derive(Debug, Clone, Serialize)]
pub struct BundleRow {
    /// Version of the policy.
    pub version: u64,
    /// SHA-256 of the bytes, in hexadecimal.
    pub sha256: String,
    /// Lowest version that may still be used.
    pub min_version: u64,
    /// Time after which the bundle is stale.
    #[serde(serialize_with = "serialize_time")]
    pub not_after: SystemTime,
    /// The git commit of its files.
    pub commit: Option<String>,
    /// Names of its signers.
    pub signed_by: Vec<String>,
    /// Who pushed it.
    pub pushed_by: String,
    /// When it was pushed.
    #[serde(serialize_with = "serialize_time")]
    pub pushed: SystemTime,
}

/// The policy of a ring.
#[derive(Debug, Clone, Serialize)]
pub struct RolloutRow {
    /// Name of the ring.
    pub ring: String,
    /// Version that is rolled out.
    pub version: u64,
    /// SHA-256 of the bundle.
    pub sha256: String,
    /// `candidate`, `active`, `halted` or `stopped`.
    pub stage: String,
    /// Version that the ring had before.
    pub previous_version: Option<u64>,
    /// SHA-256 of the bundle before.
    #[serde(skip)]
    pub previous_sha256: Option<String>,
    /// Percentage of calls that a candidate may deny in addition.
    pub max_newly_denied: f64,
    /// Why the rollout ended.
    pub reason: Option<String>,
    /// Who changed it last.
    pub changed_by: String,
    /// When it was changed last.
    #[serde(serialize_with = "serialize_time")]
    pub changed: SystemTime,
}

/// Sums of what the machines of a ring reported about a candidate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CandidateTotals {
    /// Number of machines that reported.
    pub reported: u64,
    /// Number of machines in the ring that are active.
    pub machines: u64,
    /// Number of calls.
    pub calls: u64,
    /// Calls that were denied.
    pub denied_before: u64,
    /// Calls that the candidate denies.
    pub denied_after: u64,
    /// Calls that were asked about.
    pub asked_before: u64,
    /// Calls that the candidate asks about.
    pub asked_after: u64,
    /// Calls that the candidate denies and that were not denied.
    pub newly_denied: u64,
}

/// Number of machines of a ring by the version in force.
#[derive(Debug, Clone, Serialize)]
pub struct RingVersions {
    /// Name of the ring.
    pub ring: String,
    /// Version in force; zero if there is none or it is unknown.
    pub version: u64,
    /// Number of machines.
    pub machines: u64,
    /// How many of them refused their last bundle.
    pub refused: u64,
}

fn bundle_row(row: &Row) -> BundleRow {
    BundleRow {
        version: unsigned(row.get("version")),
        sha256: row.get("sha256"),
        min_version: unsigned(row.get("min_version")),
        not_after: row.get("not_after"),
        commit: row.get("git_commit"),
        signed_by: row.get("signed_by"),
        pushed_by: row.get("pushed_by"),
        pushed: row.get("pushed"),
    }
}

fn rollout_row(row: &Row) -> RolloutRow {
    RolloutRow {
        ring: row.get("ring"),
        version: unsigned(row.get("version")),
        sha256: row.get("sha256"),
        stage: row.get("stage"),
        previous_version: row.get::<_, Option<i64>>("previous_version").map(unsigned),
        previous_sha256: row.get("previous_sha256"),
        max_newly_denied: row.get("max_newly_denied"),
        reason: row.get("reason"),
        changed_by: row.get("changed_by"),
        changed: row.get("changed"),
    }
}

impl CandidateTotals {
    /// Percentage of calls that the candidate denies in addition.
    pub fn newly_denied_percent(&self) -> f64 {
        // Counts of calls are far below the numbers that a double cannot represent.
        #[expect(clippy::cast_precision_loss, reason = "a percentage for a comparison")]
        let percent = |part: u64, all: u64| part as f64 * 100.0 / all.max(1) as f64;
        percent(self.newly_denied, self.calls)
    }
}

impl Store {
    /// Sets the keys that sign policy. Machines that are enrolled already keep theirs.
    pub(crate) async fn set_policy_roots(
        &self,
        tenant: &str,
        roots: &PolicyRoots,
        who: &str,
    ) -> Result<(), FleetError> {
        let sql = "insert into policy_roots (tenant, keys, threshold, set_by) values ($1, $2, $3, $4) \
                   on conflict (tenant) do update set keys = excluded.keys, threshold = excluded.threshold, \
                   set_by = excluded.set_by, set_at = now()";
        let threshold = i32::try_from(roots.threshold).unwrap_or(i32::MAX);
        self.client().await?.execute(sql, &[&tenant, &roots.keys, &threshold, &who]).await?;
        Ok(())
    }

    /// Returns the keys that sign policy; empty if none are set.
    pub(crate) async fn policy_roots(&self, tenant: &str) -> Result<PolicyRoots, FleetError> {
        Self::policy_roots_in(&self.client().await?, tenant).await
    }

    /// Returns the keys that sign policy, on a connection that the caller has.
    pub(crate) async fn policy_roots_in<C: GenericClient>(
        client: &C,
        tenant: &str,
    ) -> Result<PolicyRoots, FleetError> {
        let sql = "select keys, threshold from policy_roots where tenant = $1";
        let row = client.query_opt(sql, &[&tenant]).await?;
        Ok(row.map_or_else(PolicyRoots::default, |row| PolicyRoots {
            keys: row.get(0),
            threshold: u32::try_from(row.get::<_, i32>(1)).unwrap_or(1),
        }))
    }

    /// Stores a bundle. The same version with the same content may be stored again, for example with more signatures.
    pub(crate) async fn insert_bundle(
        &self,
        tenant: &str,
        bundle: &BundleRow,
        bytes: &[u8],
    ) -> Result<(), FleetError> {
        let sql = "insert into policy_bundles \
                   (tenant, version, sha256, min_version, not_after, git_commit, signed_by, bytes, pushed_by) \
                   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (tenant, version) do update set \
                   sha256 = excluded.sha256, signed_by = excluded.signed_by, bytes = excluded.bytes, \
                   pushed_by = excluded.pushed_by, pushed = now() \
                   where not exists (select 1 from rollouts r where r.tenant = excluded.tenant \
                   and (r.version = excluded.version or r.previous_version = excluded.version))";
        let (version, minimum) = (signed(bundle.version), signed(bundle.min_version));
        let BundleRow { sha256, not_after, commit, signed_by, pushed_by, .. } = bundle;
        let client = self.client().await?;
        let changed = client
            .execute(
                sql,
                &[&tenant, &version, sha256, &minimum, not_after, commit, signed_by, &bytes, pushed_by],
            )
            .await?;
        drop(client);
        if changed == 1 {
            return Ok(());
        }
        let stored = self.find_bundle(tenant, bundle.version).await?;
        if stored.is_some_and(|(row, _)| row.sha256 == *sha256) {
            return Ok(());
        }
        let message = format!("version {} is rolled out already with other content", bundle.version);
        Err(FleetError::conflict(message).with_hint("push the change under a new version"))
    }

    /// Returns a bundle with its bytes.
    pub(crate) async fn find_bundle(
        &self,
        tenant: &str,
        version: u64,
    ) -> Result<Option<(BundleRow, Vec<u8>)>, FleetError> {
        let sql = "select * from policy_bundles where tenant = $1 and version = $2";
        let row = self.client().await?.query_opt(sql, &[&tenant, &signed(version)]).await?;
        Ok(row.map(|row| (bundle_row(&row), row.get("bytes"))))
    }

    /// Returns the newest bundle with its bytes.
    pub(crate) async fn newest_bundle(
        &self,
        tenant: &str,
    ) -> Result<Option<(BundleRow, Vec<u8>)>, FleetError> {
        let sql = "select * from policy_bundles where tenant = $1 order by version desc limit 1";
        let row = self.client().await?.query_opt(sql, &[&tenant]).await?;
        Ok(row.map(|row| (bundle_row(&row), row.get("bytes"))))
    }

    /// Lists bundles, newest first.
    pub async fn list_bundles(&self, tenant: &str) -> Result<Vec<BundleRow>, FleetError> {
        let sql = "select * from policy_bundles where tenant = $1 order by version desc limit 100";
        Ok(self.client().await?.query(sql, &[&tenant]).await?.iter().map(bundle_row).collect())
    }

    /// Lists the rollouts of all rings.
    pub async fn list_rollouts(&self, tenant: &str) -> Result<Vec<RolloutRow>, FleetError> {
        let sql = "select * from rollouts where tenant = $1 order by ring";
        Ok(self.client().await?.query(sql, &[&tenant]).await?.iter().map(rollout_row).collect())
    }

    /// Returns the rollout of a ring, locked until the transaction ends.
    pub(crate) async fn lock_rollout<C: GenericClient>(
        client: &C,
        tenant: &str,
        ring: &str,
    ) -> Result<Option<RolloutRow>, FleetError> {
        let sql = "select * from rollouts where tenant = $1 and ring = $2 for update";
        Ok(client.query_opt(sql, &[&tenant, &ring]).await?.as_ref().map(rollout_row))
    }

    /// Stores the rollout of a ring.
    pub(crate) async fn put_rollout<C: GenericClient>(
        client: &C,
        tenant: &str,
        rollout: &RolloutRow,
    ) -> Result<(), FleetError> {
        let sql = "insert into rollouts (tenant, ring, version, sha256, stage, previous_version, previous_sha256, \
                   max_newly_denied, reason, changed_by) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
                   on conflict (tenant, ring) do update set version = excluded.version, sha256 = excluded.sha256, \
                   stage = excluded.stage, previous_version = excluded.previous_version, \
                   previous_sha256 = excluded.previous_sha256, max_newly_denied = excluded.max_newly_denied, \
                   reason = excluded.reason, changed_by = excluded.changed_by, changed = now()";
        let RolloutRow { ring, version, sha256, stage, previous_version, previous_sha256, .. } = rollout;
        let (version, previous_version) = (signed(*version), previous_version.map(signed));
        let RolloutRow { max_newly_denied, reason, changed_by, .. } = rollout;
        client
            .execute(
                sql,
                &[
                    &tenant,
                    ring,
                    &version,
                    sha256,
                    stage,
                    &previous_version,
                    previous_sha256,
                    max_newly_denied,
                    reason,
                    changed_by,
                ],
            )
            .await?;
        Ok(())
    }

    /// Stores what a machine reported about a candidate.
    pub(crate) async fn put_counts<C: GenericClient>(
        client: &C,
        (tenant, ring, machine): (&str, &str, &str),
        counts: &BacktestCounts,
    ) -> Result<(), FleetError> {
        let sql = "insert into rollout_counts (tenant, ring, version, machine, calls, denied_before, denied_after, \
                   asked_before, asked_after, newly_denied) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
                   on conflict (tenant, ring, version, machine) do update set calls = excluded.calls, \
                   denied_before = excluded.denied_before, denied_after = excluded.denied_after, \
                   asked_before = excluded.asked_before, asked_after = excluded.asked_after, \
                   newly_denied = excluded.newly_denied, reported = now()";
        let BacktestCounts {
            version,
            calls,
            denied_before,
            denied_after,
            asked_before,
            asked_after,
            newly_denied,
        } = *counts;
        let [version, calls, denied_before, denied_after, asked_before, asked_after, newly_denied] =
            [version, calls, denied_before, denied_after, asked_before, asked_after, newly_denied]
                .map(signed);
        client
            .execute(
                sql,
                &[
                    &tenant,
                    &ring,
                    &version,
                    &machine,
                    &calls,
                    &denied_before,
                    &denied_after,
                    &asked_before,
                    &asked_after,
                    &newly_denied,
                ],
            )
            .await?;
        Ok(())
    }

    /// Returns the sums of what the machines of a ring reported about a candidate. Machines without a message for a day
    /// do not count as active.
    pub(crate) async fn candidate_totals<C: GenericClient>(
        client: &C,
        tenant: &str,
        ring: &str,
        version: u64,
    ) -> Result<CandidateTotals, FleetError> {
        let sql = "select count(*), coalesce(sum(calls), 0)::bigint, coalesce(sum(denied_before), 0)::bigint, \
                   coalesce(sum(denied_after), 0)::bigint, coalesce(sum(asked_before), 0)::bigint, \
                   coalesce(sum(asked_after), 0)::bigint, coalesce(sum(newly_denied), 0)::bigint, \
                   (select count(*) from machines where tenant = $1 and ring = $2 and left_at is null \
                   and last_seen > now() - interval '1 day') \
                   from rollout_counts where tenant = $1 and ring = $2 and version = $3";
        let row = client.query_one(sql, &[&tenant, &ring, &signed(version)]).await?;
        let number = |at: usize| unsigned(row.get(at));
        Ok(CandidateTotals {
            reported: number(0),
            calls: number(1),
            denied_before: number(2),
            denied_after: number(3),
            asked_before: number(4),
            asked_after: number(5),
            newly_denied: number(6),
            machines: number(7),
        })
    }

    /// Counts the machines of each ring by the version in force.
    pub async fn ring_versions(&self, tenant: &str) -> Result<Vec<RingVersions>, FleetError> {
        let sql = "select ring, coalesce(least((status->'bundle'->>'version')::numeric, 9223372036854775807)::bigint, 0) as version, count(*) as machines, \
                   count(*) filter (where status->'bundle'->'refused' is not null \
                   and status->'bundle'->'refused' <> 'null'::jsonb) as refused \
                   from machines where tenant = $1 and left_at is null group by 1, 2 order by 1, 2";
        let rows = self.client().await?.query(sql, &[&tenant]).await?;
        let row = |row: &Row| RingVersions {
            ring: row.get("ring"),
            version: unsigned(row.get("version")),
            machines: unsigned(row.get("machines")),
            refused: unsigned(row.get("refused")),
        };
        Ok(rows.iter().map(row).collect())
    }

    /// Moves machines to a ring: those with a label, or a percentage of all, chosen by the hash of their ids. Returns
    /// how many machines the ring has.
    pub(crate) async fn assign_ring(
        &self,
        tenant: &str,
        ring: &str,
        label: Option<(&str, &str)>,
        percent: Option<u32>,
    ) -> Result<u64, FleetError> {
        let client = self.client().await?;
        if let Some((key, value)) = label {
            let sql =
                "update machines set ring = $2 where tenant = $1 and left_at is null and labels->>$3 = $4";
            client.execute(sql, &[&tenant, &ring, &key, &value]).await?;
        }
        if let Some(percent) = percent {
            let share = i64::from(percent.min(100)) * 100;
            let sql = "update machines set ring = $2 where tenant = $1 and left_at is null \
                       and mod(abs(hashtext(id)::bigint), 10000) < $3";
            client.execute(sql, &[&tenant, &ring, &share]).await?;
        }
        let sql = "select count(*) from machines where tenant = $1 and ring = $2 and left_at is null";
        Ok(unsigned(client.query_one(sql, &[&tenant, &ring]).await?.get(0)))
    }

    /// Returns the bundles that a machine may have: the one that it reported, and those of its ring.
    pub(crate) async fn bundles_of_machine<C: GenericClient>(
        client: &C,
        tenant: &str,
        machine: &str,
    ) -> Result<Vec<Vec<u8>>, FleetError> {
        let sql = "select b.bytes from policy_bundles b, machines m where m.tenant = $1 and m.id = $2 and b.tenant = $1 \
                   and (b.sha256 = m.status->'bundle'->>'sha256' or b.version in (select unnest(array[r.version, \
                   r.previous_version]) from rollouts r where r.tenant = $1 and r.ring = m.ring)) \
                   order by b.version desc";
        let rows = client.query(sql, &[&tenant, &machine]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }
}
