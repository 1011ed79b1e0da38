// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Undelivered decisions. The daemon decided and recorded an event, but the hook had timed out and decided by
//! itself. A later leaf records the hook's decision, which is the one that the harness received.
//!
//! The later leaf's envelope is authoritative. The table `undelivered` lists the earlier leaves, so that an
//! event is not counted twice.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};
use serde::Deserialize;

use super::error::ReadError;
use super::reader::{Reader, StoredRecord};
use super::rows::{get_u64, sql_i64};
use super::{block, counters};
use crate::envelope::{Envelope, LeafKind, LeafOrigin};
use crate::problem::{Defect, LogProblem};

/// Marks the decision `seq` as superseded by the leaf `by`.
pub(super) fn supersede(connection: &Connection, seq: u64, by: u64) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO undelivered (seq, by) VALUES (?1, ?2)";
    counters::change_and_recount(connection, (seq, seq), block::indexed_end(connection)?, || {
        connection.prepare_cached(sql)?.execute(params![sql_i64(seq), sql_i64(by)]).map(drop)
    })
}

impl Reader {
    /// Sets `undelivered` in records that were superseded.
    pub(super) fn mark_undelivered(
        &self,
        mut records: Vec<StoredRecord>,
    ) -> Result<Vec<StoredRecord>, ReadError> {
        if self.knows_undelivered() {
            let mut statement = self.connection.prepare_cached("SELECT 1 FROM undelivered WHERE seq = ?1")?;
            for record in &mut records {
                record.undelivered = statement.exists([sql_i64(record.seq)])?;
            }
        }
        Ok(records)
    }
}

/// Leaves with the ids of the events that they supersede.
#[derive(Debug, Default)]
pub(super) struct SupersededEvents(BTreeSet<(u64, String)>);

#[derive(Deserialize)]
struct SupersedingEnvelope {
    detail: Option<SupersedingDetail>,
}

#[derive(Deserialize)]
struct SupersedingDetail {
    supersedes: Option<String>,
}

impl SupersededEvents {
    pub(super) fn add(&mut self, leaf: &Envelope<'_>, bytes: &[u8]) {
        if leaf.origin == LeafOrigin::Spool
            && leaf.kind == LeafKind::Decision
            && let Ok(SupersedingEnvelope { detail: Some(detail) }) = serde_json::from_slice(bytes)
        {
            self.0.extend(detail.supersedes.map(|id| (leaf.seq, id)));
        }
    }

    /// Compares the table with the leaves that were not pruned.
    pub(super) fn check(&self, connection: &Connection) -> Result<(), LogProblem> {
        let read = || -> rusqlite::Result<BTreeSet<(u64, String)>> {
            let sql = "SELECT u.by, coalesce(l.id, '') FROM undelivered u
                LEFT JOIN leaves l ON l.seq = u.seq LEFT JOIN leaves b ON b.seq = u.by
                WHERE b.seq IS NULL OR b.bytes IS NOT NULL";
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([], |row| Ok((get_u64(row, 0)?, row.get(1)?)))?;
            rows.collect()
        };
        let stored = read().map_err(super::verify_store::unreadable)?;
        match stored.symmetric_difference(&self.0).next() {
            None => Ok(()),
            Some(wrong) => {
                let (column, leaf) = if stored.contains(wrong) {
                    (wrong.1.clone(), "nothing".to_owned())
                } else {
                    ("nothing".to_owned(), wrong.1.clone())
                };
                Err(Defect::ColumnMismatch { name: "superseded event", column, leaf }.at_leaf(wrong.0))
            }
        }
    }
}
