// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Verifying a store: every leaf, every payload, every stored hash, every checkpoint, and that
//! leaves are filed under what they say.

use rusqlite::Row;
use tenterhook_event::Timestamp;

use super::CHECKPOINT;
use super::filing::{FiledRow, Filing};
use super::keys;
use super::open::published_checkpoint;
use super::reader::{Reader, with_item};
use super::rows::{NO_HEAD, meta, signed, unsigned};
use super::undelivered::Said;
use crate::checkpoint::Checkpoint;
use crate::hash::HASH_BYTES;
use crate::note::VerifierKey;
use crate::problem::{Problem, Wrong};
use crate::record::Envelope;
use crate::sign::SoftwareKey;
use crate::verify::{Expect, Verified, Verifier};

/// The columns that leaves are looked up by, behind those of a record.
const FILED: [&str; 7] = ["id", "kind", "source", "session", "tool", "verdict", "rule"];

impl Reader {
    /// Verifies the whole ledger as it is now. `progress` hears how many leaves were checked, out
    /// of how many.
    pub fn verify(
        &self,
        expect: Expect,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Verified, Problem> {
        // The file comes first: the store has every checkpoint before the file does.
        let published = published_checkpoint(&self.dir);
        // One transaction: leaves that arrive meanwhile are not half seen.
        self.connection.execute_batch("BEGIN").map_err(unreadable)?;
        let result = self
            .verify_all(expect, progress)
            .and_then(|verified| self.verify_beside(published.as_deref(), &verified).map(|()| verified));
        // A transaction that only read has nothing to lose.
        drop(self.connection.execute_batch("COMMIT"));
        result
    }

    fn verify_all(
        &self,
        expect: Expect,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Verified, Problem> {
        let mut verifier = Verifier::new(expect)?;
        let size = self.size().map_err(|error| Wrong::Unreadable(error.to_string()).here())?;
        let mut notes = self
            .connection
            .prepare("SELECT size, note FROM checkpoints ORDER BY size")
            .map_err(unreadable)?;
        let notes = notes.query_map([], |row| Ok((unsigned(row, 0)?, row.get::<_, String>(1)?)));
        let mut notes = notes.map_err(unreadable)?.peekable();
        let mut head = self.noted_head(size)?;
        let heads_from = self.heads_from().map_err(|error| Wrong::Unreadable(error.to_string()).here())?;
        let (mut old_head, mut head_missing) = (None, None);
        let column = if self.has_heads() { "l.head" } else { "NULL" };
        let sql = format!(
            "SELECT l.seq, l.nodes, l.bytes, l.erased, l.salt, l.payload,
                l.id, l.kind, l.source, l.session, l.tool, l.verdict, l.rule, l.ts, {column}
            FROM leaves l ORDER BY l.seq"
        );
        let mut statement = self.connection.prepare(&sql).map_err(unreadable)?;
        let mut leaves = statement.query([]).map_err(unreadable)?;
        let mut said = self.knows_undelivered().then(Said::default);
        let mut filing = self.is_filed().then(|| Filing::new(&self.connection, self.has_counters()));
        let mut undelivered = self.undelivered_in_order()?.into_iter().peekable();
        while let Some(row) = leaves.next().map_err(|error| at(&verifier, &error))? {
            let filed = Filed::of(row).map_err(|error| at(&verifier, &error))?;
            with_item(row, |item, nodes| leaf(&mut verifier, &filed, &mut said, item, nodes))
                .map_err(|error| at(&verifier, &error))??;
            if let Some(filing) = &mut filing {
                let is_undelivered = undelivered.next_if(|seq| *seq <= filed.seq) == Some(filed.seq);
                let row = filed_row(row, &filed, is_undelivered).map_err(|error| at(&verifier, &error))?;
                filing.leaf(&row)?;
            }
            let here = verifier.size();
            while let Some(note) = notes.next_if(|note| note.as_ref().map_or(true, |(size, _)| *size <= here))
            {
                verifier.checkpoint(&note.map_err(unreadable)?.1)?;
            }
            if let Some((_, note)) = head.take_if(|(size, _)| *size == here) {
                verifier.signed_note(&note)?;
            }
            match filed.head {
                Some(head) if head == NO_HEAD && here == size && filed.seq >= heads_from => {
                    head_missing = Some(filed.seq);
                }
                Some(head) if head == NO_HEAD => {}
                Some(signature) if here == size => verifier.head(signature)?,
                Some(_) => old_head = old_head.or(Some(filed.seq)),
                None if filed.seq >= heads_from => head_missing = head_missing.or(Some(filed.seq)),
                None => {}
            }
            if here.is_multiple_of(4096) {
                progress(here, Some(size));
            }
        }
        if let Some(note) = notes.next() {
            verifier.checkpoint(&note.map_err(unreadable)?.1)?;
        }
        if let Some((_, note)) = head {
            verifier.signed_note(&note)?;
        }
        progress(verifier.size(), Some(size));
        let verified = verifier.finish()?;
        // Whoever takes away the last leaves would have the head of an older log.
        old_head.map_or(Ok(()), |seq| Err(Wrong::OldHead.at(seq)))?;
        head_missing.map_or(Ok(()), |seq| Err(Wrong::HeadMissing.at(seq)))?;
        said.map_or(Ok(()), |said| said.check(&self.connection))?;
        filing.map_or(Ok(()), Filing::finish)?;
        Ok(verified)
    }

    /// Decisions that a later leaf supersedes. There are few.
    fn undelivered_in_order(&self) -> Result<Vec<u64>, Problem> {
        if !self.knows_undelivered() {
            return Ok(Vec::new());
        }
        let sql = "SELECT seq FROM undelivered ORDER BY seq";
        let mut statement = self.connection.prepare(sql).map_err(unreadable)?;
        let rows = statement.query_map([], |row| unsigned(row, 0)).map_err(unreadable)?;
        rows.collect::<Result<_, _>>().map_err(unreadable)
    }

    /// What lies beside the leaves: checkpoints, key files and the pages of the database. None of it can
    /// change a leaf, but the ledger would not have left it like this.
    fn verify_beside(&self, published: Option<&str>, verified: &Verified) -> Result<(), Problem> {
        if verified.checkpoints == 0 {
            return Err(Wrong::NoCheckpoints.here());
        }
        let unusable = |path: &str, why: String| Wrong::File { path: path.to_owned(), why }.here();
        if let Some(note) = published {
            let (checkpoint, _) =
                Checkpoint::parse(note).map_err(|error| unusable(CHECKPOINT, error.to_string()))?;
            let sql = "SELECT count(*) FROM checkpoints WHERE size = ?1";
            let stored =
                self.connection.query_row(sql, [signed(checkpoint.size)], |row| row.get::<_, i64>(0));
            if stored.map_err(unreadable)? == 0 {
                return Err(Wrong::NotStored.at_size(checkpoint.size));
            }
        }
        self.verify_key_files(verified)?;
        // Pages of the leaves were read; this finds damage in pages that are read by others only.
        let sql = "PRAGMA quick_check(1)";
        let found = self.connection.query_row(sql, [], |row| row.get::<_, String>(0)).map_err(unreadable)?;
        if found == "ok" { Ok(()) } else { Err(Wrong::Pages(found).here()) }
    }

    /// A key file that cannot be read proves nothing: another account may verify as well.
    fn verify_key_files(&self, verified: &Verified) -> Result<(), Problem> {
        let known =
            |name: &str, id: &str| verified.keys.iter().any(|key| key.name() == name && key.id() == id);
        let public =
            keys::published(&self.dir).map(|text| text.trim_end().parse::<VerifierKey>()).transpose();
        let public = public
            .map_err(|error| Wrong::File { path: "key.pub".to_owned(), why: error.to_string() }.here())?;
        let public = public.map(|key| (key.name().to_owned(), key.id()));
        let secret = SoftwareKey::name_and_id(&keys::path(&self.dir)).ok();
        for (file, found) in [("key.pub", public), ("key", secret)] {
            if let Some((name, id)) = found.filter(|(name, id)| !known(name, id)) {
                return Err(Wrong::KeyFile { file, found: format!("{name}+{id}") }.here());
            }
        }
        Ok(())
    }

    /// The head of a store before format 4, and its size.
    fn noted_head(&self, size: u64) -> Result<Option<(u64, String)>, Problem> {
        let note =
            if self.has_heads() { None } else { meta(&self.connection, "head").map_err(unreadable)? };
        let Some(note) = note else { return Ok(None) };
        let (head, _) = Checkpoint::parse(&note).map_err(|error| Wrong::Checkpoint(error).at_size(size))?;
        Ok(Some((head.size, note)))
    }
}

pub(super) fn unreadable(error: rusqlite::Error) -> Problem {
    Wrong::Unreadable(super::ReadFailed::from(error).to_string()).here()
}

fn at(verifier: &Verifier, error: &rusqlite::Error) -> Problem {
    Wrong::Unreadable(format!("it cannot be read: {error}")).at(verifier.size())
}

fn filed_row<'r>(
    row: &'r Row<'_>,
    filed: &Filed<'r>,
    is_undelivered: bool,
) -> rusqlite::Result<FiledRow<'r>> {
    let [id, values @ ..] = filed.columns;
    Ok(FiledRow {
        id: id.unwrap_or_default(),
        ts: filed.ts,
        values,
        bytes: row.get_ref(2)?.as_blob_or_null()?,
        payload: row.get_ref(5)?.as_blob_or_null()?,
        is_erased: row.get_ref(3)?.as_i64()? != 0,
        is_undelivered,
    })
}

fn leaf(
    verifier: &mut Verifier,
    filed: &Filed<'_>,
    said: &mut Option<Said>,
    item: crate::verify::Item<'_>,
    nodes: &[u8],
) -> Result<(), Problem> {
    let (seq, bytes) = (item.seq, item.bytes);
    let envelope = verifier.leaf(item)?;
    let completed = verifier.completed();
    let stored = nodes.chunks(HASH_BYTES);
    if stored.len() != completed.len() {
        return Err(Wrong::Node(1).at(seq));
    }
    for (level, (stored, hash)) in stored.zip(completed).enumerate() {
        if stored != hash.0 {
            return Err(Wrong::Node(1 << level).at(seq));
        }
    }
    let Some(envelope) = envelope else { return Ok(()) };
    if let Some(said) = said {
        said.hear(&envelope, bytes.unwrap_or_default());
    }
    filed.fits(&envelope)
}

/// What a row is filed under.
struct Filed<'r> {
    seq: u64,
    /// In the order of [`FILED`].
    columns: [Option<&'r str>; FILED.len()],
    ts: i64,
    /// The head if it stands here, [`NO_HEAD`] if it has moved on; nothing in rows of older stores.
    head: Option<&'r [u8]>,
}

impl<'r> Filed<'r> {
    fn of(row: &'r Row<'_>) -> rusqlite::Result<Self> {
        let mut columns = [None; FILED.len()];
        for (place, column) in columns.iter_mut().enumerate() {
            *column = row.get_ref(6 + place)?.as_str_or_null()?;
        }
        let head = row.get_ref(7 + FILED.len())?.as_blob_or_null()?;
        Ok(Self { seq: unsigned(row, 0)?, columns, ts: row.get(6 + FILED.len())?, head })
    }

    /// A leaf that is filed under something else would not be found.
    fn fits(&self, leaf: &Envelope<'_>) -> Result<(), Problem> {
        let says = [
            Some(&*leaf.id),
            Some(leaf.kind.word()),
            leaf.source.as_deref(),
            leaf.harness_session_id.as_deref(),
            leaf.tool.as_ref().map(|tool| &*tool.name),
            leaf.verdict.as_deref(),
            leaf.policy_rule_id.as_deref(),
        ];
        for (name, (column, says)) in FILED.iter().zip(self.columns.into_iter().zip(says)) {
            if column != says {
                let text = |value: Option<&str>| value.unwrap_or("nothing").to_owned();
                return Err(Wrong::Column { name, column: text(column), leaf: text(says) }.at(leaf.seq));
            }
        }
        if leaf.ts.parse().ok().map(Timestamp::unix_ms).map(signed) != Some(self.ts) {
            let column = format!("{} ms", self.ts);
            return Err(Wrong::Column { name: "time", column, leaf: leaf.ts.to_string() }.at(leaf.seq));
        }
        Ok(())
    }
}
