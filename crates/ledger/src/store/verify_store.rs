// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Verifies a store: leaves, payloads, hashes, checkpoints and the index.

use rusqlite::Row;
use tenterhook_event::Timestamp;

use super::CHECKPOINT_FILE;
use super::index_check::{IndexCheck, IndexedRow};
use super::keys;
use super::open::published_checkpoint;
use super::reader::{Reader, with_leaf};
use super::rows::{NO_HEAD, get_meta, get_u64, sql_i64};
use super::undelivered::SupersededEvents;
use crate::checkpoint::Checkpoint;
use crate::envelope::Envelope;
use crate::hash::HASH_BYTES;
use crate::note::VerifierKey;
use crate::problem::{Defect, LogProblem};
use crate::sign::SoftwareKey;
use crate::verify::{Expectations, VerifiedLog, Verifier};

/// Indexed columns, which follow a record's columns in the query.
const LOOKUP_COLUMNS: [&str; 7] = ["id", "kind", "source", "session", "tool", "verdict", "rule"];

impl Reader {
    /// Verifies the whole ledger. `progress` receives the number of checked leaves and the total.
    pub fn verify(
        &self,
        expect: Expectations,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<VerifiedLog, LogProblem> {
        // The file is read first, because a checkpoint is stored before it is published.
        let published = published_checkpoint(&self.dir);
        // One transaction gives a consistent view.
        self.connection.execute_batch("BEGIN").map_err(unreadable)?;
        let result = self
            .verify_all(expect, progress)
            .and_then(|verified| self.verify_other_files(published.as_deref(), &verified).map(|()| verified));
        // A read-only transaction has nothing to commit.
        drop(self.connection.execute_batch("COMMIT"));
        result
    }

    fn verify_all(
        &self,
        expect: Expectations,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<VerifiedLog, LogProblem> {
        let mut verifier = Verifier::new(expect)?;
        let size = self.size().map_err(|error| Defect::Unreadable(error.to_string()).in_log())?;
        let mut notes = self
            .connection
            .prepare("SELECT size, note FROM checkpoints ORDER BY size")
            .map_err(unreadable)?;
        let notes = notes.query_map([], |row| Ok((get_u64(row, 0)?, row.get::<_, String>(1)?)));
        let mut notes = notes.map_err(unreadable)?.peekable();
        let mut head = self.legacy_head(size)?;
        let heads_from =
            self.first_head_row().map_err(|error| Defect::Unreadable(error.to_string()).in_log())?;
        let (mut old_head, mut head_missing) = (None, None);
        let column = if self.has_heads() { "l.head" } else { "NULL" };
        let sql = format!(
            "SELECT l.seq, l.nodes, l.bytes, l.erased, l.salt, l.payload,
                l.id, l.kind, l.source, l.session, l.tool, l.verdict, l.rule, l.ts, {column}
            FROM leaves l ORDER BY l.seq"
        );
        let mut statement = self.connection.prepare(&sql).map_err(unreadable)?;
        let mut leaves = statement.query([]).map_err(unreadable)?;
        let mut superseded = self.knows_undelivered().then(SupersededEvents::default);
        let mut index_check =
            self.has_block_index().then(|| IndexCheck::new(&self.connection, self.has_counters()));
        let mut undelivered = self.undelivered_in_order()?.into_iter().peekable();
        while let Some(row) = leaves.next().map_err(|error| unreadable_at(&verifier, &error))? {
            let columns = LookupRow::read(row).map_err(|error| unreadable_at(&verifier, &error))?;
            with_leaf(row, |item, nodes| check_leaf(&mut verifier, &columns, &mut superseded, item, nodes))
                .map_err(|error| unreadable_at(&verifier, &error))??;
            if let Some(index_check) = &mut index_check {
                let is_undelivered = undelivered.next_if(|seq| *seq <= columns.seq) == Some(columns.seq);
                let row = indexed_row(row, &columns, is_undelivered)
                    .map_err(|error| unreadable_at(&verifier, &error))?;
                index_check.check_row(&row)?;
            }
            let here = verifier.size();
            while let Some(note) = notes.next_if(|note| note.as_ref().map_or(true, |(size, _)| *size <= here))
            {
                verifier.check_checkpoint(&note.map_err(unreadable)?.1)?;
            }
            if let Some((_, note)) = head.take_if(|(size, _)| *size == here) {
                verifier.check_signed_note(&note)?;
            }
            match columns.head {
                Some(head) if head == NO_HEAD && here == size && columns.seq >= heads_from => {
                    head_missing = Some(columns.seq);
                }
                Some(head) if head == NO_HEAD => {}
                Some(signature) if here == size => verifier.check_head(signature)?,
                Some(_) => old_head = old_head.or(Some(columns.seq)),
                None if columns.seq >= heads_from => head_missing = head_missing.or(Some(columns.seq)),
                None => {}
            }
            if here.is_multiple_of(4096) {
                progress(here, Some(size));
            }
        }
        if let Some(note) = notes.next() {
            verifier.check_checkpoint(&note.map_err(unreadable)?.1)?;
        }
        if let Some((_, note)) = head {
            verifier.check_signed_note(&note)?;
        }
        progress(verifier.size(), Some(size));
        let verified = verifier.finish()?;
        // A head in an earlier row could be used to remove the last leaves unnoticed.
        old_head.map_or(Ok(()), |seq| Err(Defect::StaleHead.at_leaf(seq)))?;
        head_missing.map_or(Ok(()), |seq| Err(Defect::HeadMissing.at_leaf(seq)))?;
        superseded.map_or(Ok(()), |superseded| superseded.check(&self.connection))?;
        index_check.map_or(Ok(()), IndexCheck::finish)?;
        Ok(verified)
    }

    /// Returns the numbers of the undelivered decisions, which are few.
    fn undelivered_in_order(&self) -> Result<Vec<u64>, LogProblem> {
        if !self.knows_undelivered() {
            return Ok(Vec::new());
        }
        let sql = "SELECT seq FROM undelivered ORDER BY seq";
        let mut statement = self.connection.prepare(sql).map_err(unreadable)?;
        let rows = statement.query_map([], |row| get_u64(row, 0)).map_err(unreadable)?;
        rows.collect::<Result<_, _>>().map_err(unreadable)
    }

    /// Verifies checkpoints, key files and database pages. They cannot change a leaf, but differences indicate
    /// tampering.
    fn verify_other_files(&self, published: Option<&str>, verified: &VerifiedLog) -> Result<(), LogProblem> {
        if verified.checkpoints == 0 {
            return Err(Defect::NoCheckpoints.in_log());
        }
        let unusable = |path: &str, why: String| Defect::InvalidFile { path: path.to_owned(), why }.in_log();
        if let Some(note) = published {
            let (checkpoint, _) =
                Checkpoint::parse(note).map_err(|error| unusable(CHECKPOINT_FILE, error.to_string()))?;
            let sql = "SELECT count(*) FROM checkpoints WHERE size = ?1";
            let stored =
                self.connection.query_row(sql, [sql_i64(checkpoint.size)], |row| row.get::<_, i64>(0));
            if stored.map_err(unreadable)? == 0 {
                return Err(Defect::CheckpointNotStored.at_checkpoint(checkpoint.size));
            }
        }
        self.verify_key_files(verified)?;
        // The leaves' pages were read above; this query finds damage in other pages.
        let sql = "PRAGMA quick_check(1)";
        let found = self.connection.query_row(sql, [], |row| row.get::<_, String>(0)).map_err(unreadable)?;
        if found == "ok" { Ok(()) } else { Err(Defect::DamagedPages(found).in_log()) }
    }

    /// Verifies key files. An unreadable file is ignored, because another account may run the verification.
    fn verify_key_files(&self, verified: &VerifiedLog) -> Result<(), LogProblem> {
        let known =
            |name: &str, id: &str| verified.keys.iter().any(|key| key.name() == name && key.id() == id);
        let public =
            keys::read_public_key(&self.dir).map(|text| text.trim_end().parse::<VerifierKey>()).transpose();
        let public = public.map_err(|error| {
            Defect::InvalidFile { path: "key.pub".to_owned(), why: error.to_string() }.in_log()
        })?;
        let public = public.map(|key| (key.name().to_owned(), key.id()));
        let secret = SoftwareKey::read_name_and_id(&keys::key_path(&self.dir)).ok();
        for (file, found) in [("key.pub", public), ("key", secret)] {
            if let Some((name, id)) = found.filter(|(name, id)| !known(name, id)) {
                return Err(Defect::ForeignKeyFile { file, found: format!("{name}+{id}") }.in_log());
            }
        }
        Ok(())
    }

    /// Reads the head and its size from a store older than format 4.
    fn legacy_head(&self, size: u64) -> Result<Option<(u64, String)>, LogProblem> {
        let note =
            if self.has_heads() { None } else { get_meta(&self.connection, "head").map_err(unreadable)? };
        let Some(note) = note else { return Ok(None) };
        let (head, _) =
            Checkpoint::parse(&note).map_err(|error| Defect::InvalidCheckpoint(error).at_checkpoint(size))?;
        Ok(Some((head.size, note)))
    }
}

pub(super) fn unreadable(error: rusqlite::Error) -> LogProblem {
    Defect::Unreadable(super::ReadError::from(error).to_string()).in_log()
}

fn unreadable_at(verifier: &Verifier, error: &rusqlite::Error) -> LogProblem {
    Defect::Unreadable(format!("cannot be read: {error}")).at_leaf(verifier.size())
}

fn indexed_row<'r>(
    row: &'r Row<'_>,
    columns: &LookupRow<'r>,
    is_undelivered: bool,
) -> rusqlite::Result<IndexedRow<'r>> {
    let [id, values @ ..] = columns.values;
    Ok(IndexedRow {
        id: id.unwrap_or_default(),
        ts: columns.ts,
        values,
        bytes: row.get_ref(2)?.as_blob_or_null()?,
        payload: row.get_ref(5)?.as_blob_or_null()?,
        is_erased: row.get_ref(3)?.as_i64()? != 0,
        is_undelivered,
    })
}

fn check_leaf(
    verifier: &mut Verifier,
    columns: &LookupRow<'_>,
    superseded: &mut Option<SupersededEvents>,
    item: crate::verify::LeafRef<'_>,
    nodes: &[u8],
) -> Result<(), LogProblem> {
    let (seq, bytes) = (item.seq, item.bytes);
    let envelope = verifier.check_leaf(item)?;
    let completed = verifier.completed_hashes();
    let stored = nodes.chunks(HASH_BYTES);
    if stored.len() != completed.len() {
        return Err(Defect::SubtreeHash(1).at_leaf(seq));
    }
    for (level, (stored, hash)) in stored.zip(completed).enumerate() {
        if stored != hash.0 {
            return Err(Defect::SubtreeHash(1 << level).at_leaf(seq));
        }
    }
    let Some(envelope) = envelope else { return Ok(()) };
    if let Some(superseded) = superseded {
        superseded.add(&envelope, bytes.unwrap_or_default());
    }
    columns.check_columns(&envelope)
}

/// A row's indexed columns.
struct LookupRow<'r> {
    seq: u64,
    /// Values in the order of [`LOOKUP_COLUMNS`].
    values: [Option<&'r str>; LOOKUP_COLUMNS.len()],
    ts: i64,
    /// The head signature, [`NO_HEAD`] if another row contains it, or `None` in rows from older stores.
    head: Option<&'r [u8]>,
}

impl<'r> LookupRow<'r> {
    fn read(row: &'r Row<'_>) -> rusqlite::Result<Self> {
        let mut values = [None; LOOKUP_COLUMNS.len()];
        for (index, value) in values.iter_mut().enumerate() {
            *value = row.get_ref(6 + index)?.as_str_or_null()?;
        }
        let head = row.get_ref(7 + LOOKUP_COLUMNS.len())?.as_blob_or_null()?;
        Ok(Self { seq: get_u64(row, 0)?, values, ts: row.get(6 + LOOKUP_COLUMNS.len())?, head })
    }

    /// Checks the columns against the envelope.
    fn check_columns(&self, leaf: &Envelope<'_>) -> Result<(), LogProblem> {
        let expected = [
            Some(&*leaf.id),
            Some(leaf.kind.as_str()),
            leaf.source.as_deref(),
            leaf.harness_session_id.as_deref(),
            leaf.tool.as_ref().map(|tool| &*tool.name),
            leaf.verdict.as_deref(),
            leaf.policy_rule_id.as_deref(),
        ];
        for (name, (column, expected)) in LOOKUP_COLUMNS.iter().zip(self.values.into_iter().zip(expected)) {
            if column != expected {
                let text = |value: Option<&str>| value.unwrap_or("nothing").to_owned();
                return Err(Defect::ColumnMismatch { name, column: text(column), leaf: text(expected) }
                    .at_leaf(leaf.seq));
            }
        }
        if leaf.ts.parse().ok().map(Timestamp::unix_ms).map(sql_i64) != Some(self.ts) {
            let column = format!("{} ms", self.ts);
            return Err(
                Defect::ColumnMismatch { name: "time", column, leaf: leaf.ts.to_string() }.at_leaf(leaf.seq)
            );
        }
        Ok(())
    }
}
