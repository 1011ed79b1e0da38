// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Taking away: payloads are erased, leaves are pruned, and a leaf says so.

use rusqlite::Connection;

use super::append::Writer;
use super::error::AppendError;
use super::ledger::Appended;
use super::rows::signed;
use super::{block, counters};
use crate::entry::Body;
use crate::record::Kind;

/// Records whose payloads are erased, or which are pruned, and what the record about it says.
pub(crate) struct Removal {
    pub(crate) kind: Kind,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) who: String,
    pub(crate) reason: String,
    /// Bytes of content that are removed, if this is one of many batches. The journal is then not emptied
    /// after each: that waits for readers, and would keep the writer from other callers.
    pub(crate) batch_bytes: Option<usize>,
}

impl Writer {
    /// Erases payloads or prunes leaves; in the same transaction a leaf says so.
    pub(crate) fn remove(&mut self, removal: &Removal) -> Result<Appended, AppendError> {
        let Removal { kind, from, to, who, reason, batch_bytes } = removal;
        if from > to || *to >= self.tree.size() {
            return Err(AppendError::Entry(format!("there are no leaves {from} to {to}")));
        }
        let body = Body {
            who: Some(who.clone()),
            reason: Some(reason.clone()),
            from: Some(*from),
            to: Some(*to),
            ..Body::default()
        };
        let range = [signed(*from), signed(*to)];
        // Freed pages are overwritten, not only forgotten.
        self.connection.pragma_update(None, "secure_delete", true)?;
        let sql = match kind {
            Kind::Prune => {
                "UPDATE leaves SET source = NULL, session = NULL, tool = NULL, verdict = NULL, rule = NULL,
                    bytes = NULL, salt = NULL, payload = NULL, erased = 0
                    WHERE seq BETWEEN ?1 AND ?2 AND kind NOT IN ('start', 'rotate', 'prune', 'erase')"
            }
            _ => {
                "UPDATE leaves SET salt = NULL, payload = NULL, erased = 1
                    WHERE seq BETWEEN ?1 AND ?2 AND salt IS NOT NULL"
            }
        };
        let take_away = |connection: &Connection| {
            let end = block::end(connection)?;
            let hours = counters::hours_of(connection, *from, *to)?;
            if *kind == Kind::Prune {
                block::remove_values(connection, *from, *to)?;
            }
            counters::recount(connection, (*from, *to), end, || connection.execute(sql, range).map(drop))?;
            counters::remove_empty(connection, hours)?;
            if *kind == Kind::Prune {
                block::file_values(connection, *from, *to)?;
            }
            block::filter_anew(connection, *from, *to)
        };
        let result = self.own(*kind, body, |this, _| Ok(take_away(&this.connection)?));
        self.connection.pragma_update(None, "secure_delete", false)?;
        // What is not filed yet may have been emptied as well.
        self.read_anew();
        let appended = result?;
        if let Some(bytes) = *batch_bytes {
            // Overwritten pages go through the journal, which is moved and emptied beside the writer.
            self.tidy.wrote(bytes);
            return Ok(appended);
        }
        // What was erased is still in the journal until it is emptied. A reader may be in the way;
        // then it goes with the next one.
        drop(self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
        Ok(appended)
    }
}
