// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Erases payloads and prunes leaves. A leaf records each removal.

use rusqlite::Connection;

use super::error::AppendError;
use super::ledger::Appended;
use super::rows::sql_i64;
use super::writer::Writer;
use super::{block, counters};
use crate::entry::EntryBody;
use crate::envelope::LeafKind;

/// Leaves to prune or payloads to erase, with the content of the leaf that records the removal.
pub(crate) struct Removal {
    pub(crate) kind: LeafKind,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) who: String,
    pub(crate) reason: String,
    /// Number of removed bytes, if this is one of many batches. The journal is not truncated after each of them,
    /// because truncating waits for readers and would block other callers.
    pub(crate) batch_bytes: Option<usize>,
}

impl Writer {
    /// Erases payloads or prunes leaves, and appends a leaf that records it in the same transaction.
    pub(crate) fn remove(&mut self, removal: &Removal) -> Result<Appended, AppendError> {
        let Removal { kind, from, to, who, reason, batch_bytes } = removal;
        if from > to || *to >= self.tree.size() {
            return Err(AppendError::Rejected(format!("no records {from} to {to}")));
        }
        let body = EntryBody {
            who: Some(who.clone()),
            reason: Some(reason.clone()),
            from: Some(*from),
            to: Some(*to),
            ..EntryBody::default()
        };
        let range = [sql_i64(*from), sql_i64(*to)];
        // SQLite overwrites freed pages with zeros.
        self.connection.pragma_update(None, "secure_delete", true)?;
        let sql = match kind {
            LeafKind::Prune => {
                "UPDATE leaves SET source = NULL, session = NULL, tool = NULL, verdict = NULL, rule = NULL,
                    bytes = NULL, salt = NULL, payload = NULL, erased = 0
                    WHERE seq BETWEEN ?1 AND ?2 AND kind NOT IN ('start', 'rotate', 'prune', 'erase')"
            }
            _ => {
                "UPDATE leaves SET salt = NULL, payload = NULL, erased = 1
                    WHERE seq BETWEEN ?1 AND ?2 AND salt IS NOT NULL"
            }
        };
        let remove_rows = |connection: &Connection| {
            let end = block::indexed_end(connection)?;
            let hours = counters::hours_of(connection, *from, *to)?;
            if *kind == LeafKind::Prune {
                block::remove_values(connection, *from, *to)?;
            }
            counters::change_and_recount(connection, (*from, *to), end, || {
                connection.execute(sql, range).map(drop)
            })?;
            counters::remove_empty(connection, hours)?;
            if *kind == LeafKind::Prune {
                block::index_values(connection, *from, *to)?;
            }
            block::rebuild_text_filters(connection, *from, *to)
        };
        let result = self.append_internal(*kind, body, |this, _| Ok(remove_rows(&this.connection)?));
        self.connection.pragma_update(None, "secure_delete", false)?;
        // Leaves that are not indexed yet may have changed too.
        self.mark_stale();
        let appended = result?;
        if let Some(bytes) = *batch_bytes {
            // The overwritten pages are in the journal, which the WAL thread checkpoints.
            self.wal.add_written(bytes);
            return Ok(appended);
        }
        // Erased content remains in the journal until it is truncated. If a reader prevents the truncation, the next
        // removal does it.
        drop(self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
        Ok(appended)
    }
}
