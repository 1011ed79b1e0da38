// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decisions that nobody heard: whoever asked had given up and decided by itself, and a later leaf says so.
//!
//! Only that leaf's envelope proves it. The table is there so that nothing is counted twice.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};
use serde::Deserialize;

use super::error::ReadFailed;
use super::reader::{Reader, Record};
use super::rows::{signed, unsigned};
use super::{block, counters};
use crate::problem::{Problem, Wrong};
use crate::record::{Envelope, Kind, Origin};

/// Files the decision at `seq` as one that the leaf `by` supersedes.
pub(super) fn supersede(connection: &Connection, seq: u64, by: u64) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO undelivered (seq, by) VALUES (?1, ?2)";
    counters::recount(connection, (seq, seq), block::end(connection)?, || {
        connection.prepare_cached(sql)?.execute(params![signed(seq), signed(by)]).map(drop)
    })
}

impl Reader {
    /// Marks those of the records that nobody heard.
    pub(super) fn mark(&self, mut records: Vec<Record>) -> Result<Vec<Record>, ReadFailed> {
        if self.knows_undelivered() {
            let mut statement = self.connection.prepare_cached("SELECT 1 FROM undelivered WHERE seq = ?1")?;
            for record in &mut records {
                record.undelivered = statement.exists([signed(record.seq)])?;
            }
        }
        Ok(records)
    }
}

/// Which leaves say that they supersede which events.
#[derive(Debug, Default)]
pub(super) struct Said(BTreeSet<(u64, String)>);

#[derive(Deserialize)]
struct Superseding {
    detail: Option<Detail>,
}

#[derive(Deserialize)]
struct Detail {
    supersedes: Option<String>,
}

impl Said {
    pub(super) fn hear(&mut self, leaf: &Envelope<'_>, bytes: &[u8]) {
        if leaf.origin == Origin::Spool
            && leaf.kind == Kind::Decision
            && let Ok(Superseding { detail: Some(detail) }) = serde_json::from_slice(bytes)
        {
            self.0.extend(detail.supersedes.map(|id| (leaf.seq, id)));
        }
    }

    /// What is filed must be what leaves say, as far as they are still there.
    pub(super) fn check(&self, connection: &Connection) -> Result<(), Problem> {
        let read = || -> rusqlite::Result<BTreeSet<(u64, String)>> {
            let sql = "SELECT u.by, coalesce(l.id, '') FROM undelivered u
                LEFT JOIN leaves l ON l.seq = u.seq LEFT JOIN leaves b ON b.seq = u.by
                WHERE b.seq IS NULL OR b.bytes IS NOT NULL";
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([], |row| Ok((unsigned(row, 0)?, row.get(1)?)))?;
            rows.collect()
        };
        let filed = read().map_err(super::check::unreadable)?;
        match filed.symmetric_difference(&self.0).next() {
            None => Ok(()),
            Some(wrong) => {
                let (column, leaf) = if filed.contains(wrong) {
                    (wrong.1.clone(), "nothing".to_owned())
                } else {
                    ("nothing".to_owned(), wrong.1.clone())
                };
                Err(Wrong::Column { name: "what it supersedes", column, leaf }.at(wrong.0))
            }
        }
    }
}
