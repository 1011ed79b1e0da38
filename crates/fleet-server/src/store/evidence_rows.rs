// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads and writes everything about a group of batches in one transaction, with one statement for each table.

use std::collections::BTreeMap;
use std::time::SystemTime;

use deadpool_postgres::{GenericClient, Transaction};
use serde_json::Value;
use tenterhook_ledger::Hash;
use tenterhook_ledger::tree::Frontier;
use tokio_postgres::Row;

use super::{signed, unsigned};
use crate::error::FleetError;
use crate::ingest::{AlertKind, DecisionRecord, HourlyCounts, KnownCheckpoint, MachineState, StreamPosition};

/// Rows to write for a group of batches.
#[derive(Default)]
pub(crate) struct EvidenceWrites {
    /// Machine, first record, number after the last record, root, and position of the message.
    pub(crate) batches: Vec<(String, u64, u64, Hash, StreamPosition)>,
    /// Machine, host and record.
    pub(crate) decisions: Vec<(String, String, DecisionRecord)>,
    /// Counts by machine.
    pub(crate) counts: BTreeMap<String, HourlyCounts>,
    /// Machine, kind and detail.
    pub(crate) alerts: Vec<(String, AlertKind, Value)>,
    /// Whether decisions are queued for a collector.
    pub(crate) queues_decisions: bool,
    /// Machines whose records are verified again after a run of records under an unknown key.
    pub(crate) verified: Vec<String>,
}

fn hash_of(bytes: &[u8]) -> Option<Hash> {
    Hash::from_slice(bytes)
}

fn machine_state(row: &Row) -> Option<MachineState> {
    let peaks: Vec<u8> = row.get("peaks");
    let peaks = peaks.chunks(32).map(hash_of).collect::<Option<Vec<_>>>()?;
    let keys: Vec<String> = row.get("ledger_keys");
    let keys = keys.iter().map(|key| key.parse().ok()).collect::<Option<Vec<_>>>()?;
    let pending = row.get::<_, Option<i64>>("pending_size").and_then(|size| {
        let root: Vec<u8> = row.get::<_, Option<Vec<u8>>>("pending_root")?;
        Some(KnownCheckpoint {
            size: unsigned(size),
            root: hash_of(&root)?,
            note: row.get::<_, Option<String>>("pending_note")?,
        })
    });
    let witnessed_root: Vec<u8> = row.get("witnessed_root");
    let witnessed = hash_of(&witnessed_root).map(|root| KnownCheckpoint {
        size: unsigned(row.get("witnessed_size")),
        root,
        note: row.get("witnessed_note"),
    });
    Some(MachineState {
        machine: row.get::<_, &str>("id").parse().ok()?,
        host: row.get("host"),
        instance: row.get::<_, &str>("instance").parse().ok()?,
        origin: row.get("origin"),
        keys,
        frontier: Frontier::from_peaks(unsigned(row.get("cursor")), peaks)?,
        signed: (unsigned(row.get("signed_size")), row.get("signed_note")),
        pending,
        witnessed,
        position: StreamPosition {
            epoch: row.get("stream_epoch"),
            sequence: unsigned(row.get("stream_sequence")),
        },
        unverified_from: row.get::<_, Option<i64>>("unverified_from").map(unsigned),
        received_bytes: 0,
    })
}

/// Loads and locks the machines of a group, in one order for all servers. What a machine sent before it left, or was
/// removed, is evidence too.
pub(crate) async fn lock_machines(
    transaction: &Transaction<'_>,
    tenant: &str,
    machines: &[&str],
) -> Result<BTreeMap<String, MachineState>, FleetError> {
    let sql = "select id, host, instance, origin, ledger_keys, cursor, peaks, signed_size, signed_note, \
               pending_size, pending_root, pending_note, witnessed_size, witnessed_root, witnessed_note, \
               stream_epoch, stream_sequence, unverified_from from machines \
               where tenant = $1 and id = any($2) order by id for update";
    let sql = transaction.prepare_cached(sql).await?;
    let rows = transaction.query(&sql, &[&tenant, &machines]).await?;
    let mut states = BTreeMap::new();
    for row in &rows {
        let id: String = row.get("id");
        let state = machine_state(row)
            .ok_or_else(|| FleetError::internal(format!("the row of the machine `{id}` is damaged")))?;
        states.insert(id, state);
    }
    Ok(states)
}

/// Writes the new state of machines. Returns those that have uploaded more than `max_upload_bytes` within a day, and are
/// not suspended yet.
pub(crate) async fn update_machines(
    transaction: &Transaction<'_>,
    states: &[&MachineState],
    max_upload_bytes: u64,
) -> Result<Vec<String>, FleetError> {
    let each = |column: &dyn Fn(&MachineState) -> i64| -> Vec<i64> {
        states.iter().map(|state| column(state)).collect()
    };
    let ids: Vec<&str> = states.iter().map(|state| state.machine.as_str()).collect();
    let keys: Vec<String> = states
        .iter()
        .map(|state| state.keys.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        .collect();
    let cursors = each(&|state| signed(state.cursor()));
    let peaks: Vec<Vec<u8>> =
        states.iter().map(|state| state.frontier.peaks().iter().flat_map(|hash| hash.0).collect()).collect();
    let signed_sizes = each(&|state| signed(state.signed.0));
    let signed_notes: Vec<&str> = states.iter().map(|state| state.signed.1.as_str()).collect();
    let pending = || states.iter().map(|state| state.pending.as_ref());
    let pending_sizes: Vec<Option<i64>> =
        pending().map(|known| known.map(|known| signed(known.size))).collect();
    let pending_roots: Vec<Option<Vec<u8>>> =
        pending().map(|known| known.map(|known| known.root.0.to_vec())).collect();
    let pending_notes: Vec<Option<&str>> =
        pending().map(|known| known.map(|known| known.note.as_str())).collect();
    let witnessed = || states.iter().map(|state| state.witnessed.as_ref());
    let witnessed_sizes: Vec<i64> =
        witnessed().map(|known| known.map_or(0, |known| signed(known.size))).collect();
    let witnessed_roots: Vec<Vec<u8>> =
        witnessed().map(|known| known.map_or_else(Vec::new, |known| known.root.0.to_vec())).collect();
    let witnessed_notes: Vec<&str> =
        witnessed().map(|known| known.map_or("", |known| known.note.as_str())).collect();
    let epochs = each(&|state| state.position.epoch);
    let sequences = each(&|state| signed(state.position.sequence));
    let sql = "update machines m set last_seen = now(), ledger_keys = string_to_array(n.keys, E'\\n'), \
               cursor = n.cursor, peaks = n.peaks, signed_size = n.signed_size, signed_note = n.signed_note, \
               pending_size = n.pending_size, pending_root = n.pending_root, pending_note = n.pending_note, \
               witnessed_size = n.witnessed_size, witnessed_root = n.witnessed_root, witnessed_note = n.witnessed_note, \
               stream_epoch = n.epoch, stream_sequence = n.sequence, unverified_from = n.unverified_from, \
               quota_bytes = n.received + case when m.quota_since > now() - interval '1 day' then m.quota_bytes else 0 end, \
               quota_since = case when m.quota_since > now() - interval '1 day' then m.quota_since else now() end \
               from unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[], $5::bigint[], $6::text[], $7::bigint[], \
               $8::bytea[], $9::text[], $10::bigint[], $11::bytea[], $12::text[], $13::bigint[], $14::bigint[], \
               $15::bigint[], $16::bigint[]) \
               as n(id, keys, cursor, peaks, signed_size, signed_note, pending_size, pending_root, pending_note, \
               witnessed_size, witnessed_root, witnessed_note, epoch, sequence, unverified_from, received) where m.id = n.id \
               returning m.id, m.quota_bytes, coalesce(m.suspended_until > now(), false)";
    let unverified: Vec<Option<i64>> = states.iter().map(|state| state.unverified_from.map(signed)).collect();
    let received = each(&|state| signed(state.received_bytes));
    let sql = transaction.prepare_cached(sql).await?;
    let rows = transaction
        .query(
            &sql,
            &[
                &ids,
                &keys,
                &cursors,
                &peaks,
                &signed_sizes,
                &signed_notes,
                &pending_sizes,
                &pending_roots,
                &pending_notes,
                &witnessed_sizes,
                &witnessed_roots,
                &witnessed_notes,
                &epochs,
                &sequences,
                &unverified,
                &received,
            ],
        )
        .await?;
    let is_over = |row: &&Row| unsigned(row.get(1)) > max_upload_bytes && !row.get::<_, bool>(2);
    Ok(rows.iter().filter(is_over).map(|row| row.get(0)).collect())
}

/// Suspends a machine until the day is over in which it uploaded too much.
pub(crate) async fn suspend_machine(transaction: &Transaction<'_>, machine: &str) -> Result<(), FleetError> {
    // Credentials that were issued up to some minutes after the suspension are refused too.
    let sql = "update machines set suspended_at = now(), \
               suspended_until = greatest(quota_since + interval '1 day', now() + interval '15 minutes') where id = $1";
    transaction.execute(sql, &[&machine]).await?;
    Ok(())
}

impl EvidenceWrites {
    /// Writes all rows.
    pub(crate) async fn write(&self, transaction: &Transaction<'_>, tenant: &str) -> Result<(), FleetError> {
        if !self.batches.is_empty() {
            self.write_batches(transaction).await?;
        }
        if !self.decisions.is_empty() {
            self.write_decisions(transaction, tenant).await?;
            if self.queues_decisions {
                self.queue_decisions(transaction, tenant).await?;
            }
        }
        if !self.counts.is_empty() {
            self.write_counts(transaction, tenant).await?;
        }
        for (machine, kind, detail) in &self.alerts {
            super::alert_rows::raise(transaction, tenant, machine, *kind, detail).await?;
        }
        if !self.verified.is_empty() {
            let sql = "update alerts set ended = now() where tenant = $1 and machine = any($2) and kind = $3 \
                       and ended is null";
            let kind = AlertKind::EvidenceUnverified.as_str();
            transaction.execute(sql, &[&tenant, &self.verified, &kind]).await?;
        }
        Ok(())
    }

    async fn write_batches(&self, transaction: &Transaction<'_>) -> Result<(), FleetError> {
        let machines: Vec<&str> = self.batches.iter().map(|row| row.0.as_str()).collect();
        let firsts: Vec<i64> = self.batches.iter().map(|row| signed(row.1)).collect();
        let ends: Vec<i64> = self.batches.iter().map(|row| signed(row.2)).collect();
        let roots: Vec<&[u8]> = self.batches.iter().map(|row| row.3.0.as_slice()).collect();
        let epochs: Vec<i64> = self.batches.iter().map(|row| row.4.epoch).collect();
        let sequences: Vec<i64> = self.batches.iter().map(|row| signed(row.4.sequence)).collect();
        let sql = "insert into batches (machine, first_record, end_record, root, stream_epoch, stream_sequence) \
                   select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bigint[])";
        let sql = transaction.prepare_cached(sql).await?;
        transaction.execute(&sql, &[&machines, &firsts, &ends, &roots, &epochs, &sequences]).await?;
        Ok(())
    }

    async fn write_decisions(&self, transaction: &Transaction<'_>, tenant: &str) -> Result<(), FleetError> {
        let texts = |column: &dyn Fn(&DecisionRecord) -> Option<String>| -> Vec<Option<String>> {
            self.decisions.iter().map(|(_, _, row)| column(row)).collect()
        };
        let machines: Vec<&str> = self.decisions.iter().map(|row| row.0.as_str()).collect();
        let hosts: Vec<&str> = self.decisions.iter().map(|row| row.1.as_str()).collect();
        let records: Vec<i64> = self.decisions.iter().map(|row| signed(row.2.record)).collect();
        let times: Vec<SystemTime> = self.decisions.iter().map(|row| row.2.at).collect();
        let kinds: Vec<&str> = self.decisions.iter().map(|row| row.2.kind.as_str()).collect();
        let envelopes: Vec<&str> = self.decisions.iter().map(|row| row.2.envelope.as_str()).collect();
        let sql = "insert into decisions (tenant, machine, host, record, at, kind, verdict, event, harness, tool, rule, \
                   session, actor, cwd, reason, envelope, rewritten) \
                   select $1, * from unnest($2::text[], $3::text[], $4::bigint[], $5::timestamptz[], $6::text[], $7::text[], \
                   $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], \
                   $16::text[], $17::boolean[])";
        let rewritten: Vec<bool> = self.decisions.iter().map(|row| row.2.rewritten).collect();
        let sql = transaction.prepare_cached(sql).await?;
        transaction
            .execute(
                &sql,
                &[
                    &tenant,
                    &machines,
                    &hosts,
                    &records,
                    &times,
                    &kinds,
                    &texts(&|row| row.verdict.clone()),
                    &texts(&|row| row.event.clone()),
                    &texts(&|row| row.harness.clone()),
                    &texts(&|row| row.tool.clone()),
                    &texts(&|row| row.rule.clone()),
                    &texts(&|row| row.session.clone()),
                    &texts(&|row| row.actor.clone()),
                    &texts(&|row| row.cwd.clone()),
                    &texts(&|row| row.reason.clone()),
                    &envelopes,
                    &rewritten,
                ],
            )
            .await?;
        Ok(())
    }

    async fn queue_decisions(&self, transaction: &Transaction<'_>, tenant: &str) -> Result<(), FleetError> {
        let machines: Vec<&str> = self.decisions.iter().map(|row| row.0.as_str()).collect();
        let records: Vec<i64> = self.decisions.iter().map(|row| signed(row.2.record)).collect();
        let sql = "insert into export_queue (tenant, machine, record) \
                   select $1, * from unnest($2::text[], $3::bigint[])";
        let sql = transaction.prepare_cached(sql).await?;
        transaction.execute(&sql, &[&tenant, &machines, &records]).await?;
        Ok(())
    }

    async fn write_counts(&self, transaction: &Transaction<'_>, tenant: &str) -> Result<(), FleetError> {
        let rows: Vec<_> = self
            .counts
            .iter()
            .flat_map(|(machine, counts)| {
                counts.iter().map(move |(key, calls)| (machine.as_str(), key, *calls))
            })
            .collect();
        let machines: Vec<&str> = rows.iter().map(|row| row.0).collect();
        let hours: Vec<SystemTime> = rows.iter().map(|row| row.1.0).collect();
        let harnesses: Vec<&str> = rows.iter().map(|row| row.1.1.as_str()).collect();
        let verdicts: Vec<&str> = rows.iter().map(|row| row.1.2.as_str()).collect();
        let calls: Vec<i64> = rows.iter().map(|row| row.2).collect();
        let sql = "insert into hourly_counts (tenant, machine, hour, harness, verdict, calls) \
                   select $1, * from unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::bigint[]) \
                   on conflict (machine, hour, harness, verdict) do update set calls = hourly_counts.calls + excluded.calls";
        let sql = transaction.prepare_cached(sql).await?;
        transaction.execute(&sql, &[&tenant, &machines, &hours, &harnesses, &verdicts, &calls]).await?;
        Ok(())
    }
}

/// Where the records of a machine in a range are: positions of at most `limit` messages.
pub(crate) async fn batches_in_range<C: GenericClient>(
    client: &C,
    machine: &str,
    (from, to): (u64, u64),
    limit: i64,
) -> Result<Vec<StreamPosition>, FleetError> {
    let sql = "select stream_epoch, stream_sequence from batches \
               where machine = $1 and first_record < $3 and end_record > $2 order by first_record limit $4";
    let rows = client.query(sql, &[&machine, &signed(from), &signed(to), &limit]).await?;
    let position = |row: &Row| StreamPosition { epoch: row.get(0), sequence: unsigned(row.get(1)) };
    Ok(rows.iter().map(position).collect())
}
