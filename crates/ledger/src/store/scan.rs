// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Going through decisions, oldest first, without a copy of any: for whoever puts many of them together.

use std::collections::BTreeSet;
use std::ops::Range;

use rusqlite::types::ValueRef;
use rusqlite::{Row, Rows, params};

use super::block::BLOCK;
use super::error::ReadFailed;
use super::reader::Reader;
use super::rows::{signed, unsigned};

/// What is looked at before anything large is: the rest of a row is read only when it is asked for.
const COLUMNS: &str = "l.seq, l.source, l.session, l.erased, l.bytes, l.payload FROM leaves l";

/// A decision as its row has it.
#[derive(Debug, Clone, Copy)]
pub struct Glance<'a> {
    /// Its place.
    pub seq: u64,
    /// Its envelope.
    pub bytes: &'a [u8],
    /// Its payload; absent when it never had one, when that was too large, or when it was erased.
    pub payload: Option<&'a [u8]>,
    /// Whether its payload was erased.
    pub erased: bool,
}

impl Reader {
    /// Decisions of the sessions that are wanted, by harness and id. Those that nobody heard are left out.
    /// Says where it ended: at the end of the range, or where there is nothing more.
    pub fn scan(
        &self,
        range: Range<u64>,
        wanted: impl Fn(&str, &str) -> bool,
        mut each: impl FnMut(Glance<'_>),
    ) -> Result<u64, ReadFailed> {
        let unheard = self.unheard_between(&range)?;
        let sql = format!("SELECT {COLUMNS} WHERE l.seq >= ?1 AND l.seq < ?2 ORDER BY l.seq");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query(params![signed(range.start), signed(range.end)])?;
        let last = go_through(rows, &unheard, wanted, &mut each)?;
        Ok(last.map_or(range.start, |last| last + 1))
    }

    /// All decisions of one session.
    pub fn session(
        &self,
        harness: &str,
        session: &str,
        mut each: impl FnMut(Glance<'_>),
    ) -> Result<(), ReadFailed> {
        // One transaction: a block that is filed meanwhile is not seen twice.
        let transaction = self.connection.unchecked_transaction()?;
        let unheard = self.unheard_between(&(0..u64::MAX))?;
        let filed = self.filed()?;
        let mut blocks = Vec::new();
        if filed > 0 {
            let sql = "SELECT block FROM filed WHERE field = 'session' AND value = ?1 ORDER BY block";
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map([session], |row| unsigned(row, 0))?;
            blocks = rows.collect::<Result<_, _>>()?;
        }
        let sql = format!(
            "SELECT {COLUMNS} WHERE l.seq >= ?1 AND l.seq < ?2 AND l.session = ?3 AND l.source = ?4 ORDER BY l.seq"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let ranges = blocks.into_iter().map(|block| block * BLOCK..(block + 1) * BLOCK);
        for range in ranges.chain(std::iter::once(filed..u64::MAX)) {
            let rows = statement.query(params![signed(range.start), signed(range.end), session, harness])?;
            go_through(rows, &unheard, |_, _| true, &mut each)?;
        }
        drop(statement);
        transaction.commit()?;
        Ok(())
    }

    fn unheard_between(&self, range: &Range<u64>) -> Result<BTreeSet<u64>, ReadFailed> {
        if !self.knows_undelivered() {
            return Ok(BTreeSet::new());
        }
        let sql = "SELECT seq FROM undelivered WHERE seq >= ?1 AND seq < ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([signed(range.start), signed(range.end)], |row| unsigned(row, 0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Looks at each row; says which was the last.
fn go_through(
    mut rows: Rows<'_>,
    unheard: &BTreeSet<u64>,
    wanted: impl Fn(&str, &str) -> bool,
    each: &mut impl FnMut(Glance<'_>),
) -> Result<Option<u64>, ReadFailed> {
    let mut last = None;
    while let Some(row) = rows.next()? {
        let seq = unsigned(row, 0)?;
        last = Some(seq);
        // A leaf that is no decision, or was pruned, belongs to no session.
        let (Some(source), Some(session)) = (text(row, 1)?, text(row, 2)?) else { continue };
        if !wanted(source, session) || unheard.contains(&seq) {
            continue;
        }
        let erased = row.get::<_, i64>(3)? != 0;
        let (Some(bytes), payload) = (blob(row, 4)?, blob(row, 5)?) else { continue };
        each(Glance { seq, bytes, payload, erased });
    }
    Ok(last)
}

fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<Option<&'a str>, ReadFailed> {
    match row.get_ref(column)? {
        ValueRef::Text(text) => Ok(std::str::from_utf8(text).ok()),
        _ => Ok(None),
    }
}

fn blob<'a>(row: &'a Row<'_>, column: usize) -> Result<Option<&'a [u8]>, ReadFailed> {
    match row.get_ref(column)? {
        ValueRef::Blob(bytes) => Ok(Some(bytes)),
        _ => Ok(None),
    }
}
