// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Opening a ledger for writing: the lock, the store, what a crash left, and the key.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};
use tenterhook_files::{FileClass, read_text};

use super::append::Writer;
use super::block::Block;
use super::error::{AppendError, OpenError};
use super::hold::{Hold, directory};
use super::options::{Durability, Options};
use super::pending::{self, LeftBehind, Pending, PendingSeal};
use super::rows::{self, StoredNodes, last_checkpoint, meta, size};
use super::signing::was_relaxed;
use super::{CHECKPOINT, DATABASE, PAGE, keys, migrate};
use crate::checkpoint::Checkpoint;
use crate::note::VerifierKey;
use crate::sign::{Signer, replace_copy};
use crate::tree::{self, Frontier};

/// No checkpoint is longer, with the lines of all its witnesses.
const MAX_CHECKPOINT_BYTES: u64 = 64 << 10;
/// How long the writer waits for others who use the store.
pub(super) const BUSY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// Opens the store and brings it into order. Says what there was to do.
pub(crate) fn open(dir: &Path, options: &mut Options) -> Result<(Writer, Vec<String>), OpenError> {
    directory(dir)?;
    let hold = Hold::take(dir)?;
    let mut recovered = Vec::new();
    let database = dir.join(DATABASE);
    make_private(&database)?;
    let mut connection = connect(&database)?;
    recovered.extend(migrate::migrate(&mut connection)?);
    let key = match meta(&connection, "key")? {
        Some(text) => {
            Some(text.parse::<VerifierKey>().map_err(|error| OpenError::Damaged(error.to_string()))?)
        }
        None => None,
    };
    let signer = keys::open(dir, key.as_ref(), options, &mut recovered)?;
    keys::publish(dir, signer.key())?;
    let here = size(&connection)?;
    if hold.unclean {
        recovered
            .push(format!("the last run did not end in order; all {here} leaves it had recorded are kept"));
    }
    let signed = check(&connection, dir, here, &signer, &mut recovered)?;
    let tree = Frontier::load(&StoredNodes(&connection), here).map_err(damaged)?;
    let block = Block::load(&connection)?;
    let seal = PendingSeal::of(&*signer)?;
    let relaxed = was_relaxed(&connection)?;
    let mut writer = Writer::new((connection, dir, hold), (tree, block), signed, signer, options);
    if here == 0 {
        writer.start().map_err(unwritten)?;
    }
    let LeftBehind { entries, refused } = pending::left_behind(dir, relaxed.then_some(&seal))?;
    if !entries.is_empty() {
        writer.take_in(&entries).map_err(unwritten)?;
        let number = entries.len();
        recovered
            .push(format!("{number} leaves were sequenced when the last run ended; they are in the ledger"));
    }
    if let Some(refused) = refused {
        writer.record_refused(&refused, &options.who).map_err(unwritten)?;
        recovered.push(refused.to_string());
    }
    pending::forget(dir);
    writer.say_how_it_is_kept(options).map_err(unwritten)?;
    if options.durability == Durability::Relaxed {
        writer.pending = Some(Pending::open(dir, seal)?);
    }
    Ok((writer, recovered))
}

fn unwritten(error: AppendError) -> OpenError {
    match error {
        AppendError::Refused { cause, why } => OpenError::Store(format!("{}{why}", cause.words())),
        other => OpenError::Store(other.to_string()),
    }
}

/// SQLite would let the whole world read what it creates.
fn make_private(path: &Path) -> Result<(), OpenError> {
    let opened = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match opened {
        Err(source) if source.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(OpenError::Io { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

fn connect(path: &Path) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(32);
    // Only heeded by a store that is empty.
    connection.pragma_update(None, "page_size", u32::try_from(PAGE).unwrap_or(4096))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    // `tidy` is there first, unless it cannot keep up.
    connection.pragma_update(None, "wal_autocheckpoint", 8000)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    connection.pragma_update(None, "cache_size", -16_384)?;
    Ok(connection)
}

fn damaged(error: rusqlite::Error) -> OpenError {
    match error {
        rusqlite::Error::QueryReturnedNoRows | rusqlite::Error::FromSqlConversionFailure(..) => {
            OpenError::Damaged("hashes of the tree are missing".into())
        }
        other => other.into(),
    }
}

/// The checkpoint in the file beside the store. One that cannot be read counts as missing.
pub fn published_checkpoint(dir: &Path) -> Option<String> {
    read_text(&dir.join(CHECKPOINT), FileClass::State, MAX_CHECKPOINT_BYTES).ok().flatten()
}

/// Whether the leaves still carry what was last signed; the whole check is `verify`'s. Says up to
/// where a checkpoint went out.
///
/// Going on means signing all that is there, so nothing is believed that the key did not sign: leaves
/// that somebody put behind the last signature would be vouched for by the next one.
fn check(
    connection: &Connection,
    dir: &Path,
    here: u64,
    signer: &Arc<dyn Signer>,
    recovered: &mut Vec<String>,
) -> Result<u64, OpenError> {
    let path = dir.join(CHECKPOINT);
    // It is not synced, so a power cut may leave it empty.
    let file = published_checkpoint(dir).filter(|note| !note.is_empty());
    let stored = last_checkpoint(connection)?;
    let not_those =
        |size| OpenError::Damaged(format!("the first {size} leaves are not those that were signed"));
    let root = |size| tree::root(&StoredNodes(connection), size).map_err(damaged);
    let (mut published, mut signed) = (0, 0);
    if let Some(head) = rows::head(connection)? {
        let key = signer.key();
        let tree = Checkpoint { origin: key.name().to_owned(), size: here, root: root(here)? };
        if !key.accepts(tree.text().as_bytes(), &head) {
            return Err(not_those(here));
        }
        signed = here;
    }
    for note in [stored.as_ref().map(|(_, note)| note), file.as_ref()].into_iter().flatten() {
        let (checkpoint, lines) =
            Checkpoint::parse(note).map_err(|error| OpenError::Damaged(error.to_string()))?;
        if checkpoint.origin != signer.key().name() {
            return Err(OpenError::Damaged(format!("a checkpoint of another log, `{}`", checkpoint.origin)));
        }
        if checkpoint.size > here {
            return Err(OpenError::RolledBack { signed: checkpoint.size, here });
        }
        if root(checkpoint.size)? != checkpoint.root {
            return Err(not_those(checkpoint.size));
        }
        // A checkpoint from before a change of keys is not by this key, and needs not be.
        if lines.check(&[signer.key()]).is_ok() {
            signed = signed.max(checkpoint.size);
        }
        published = published.max(checkpoint.size);
    }
    if here > signed {
        return Err(OpenError::Unsigned { signed, here });
    }
    if let Some((size, note)) = stored
        && file.as_ref() != Some(&note)
    {
        let io = |source| OpenError::Io { path: path.clone(), source };
        replace_copy(&path, note.as_bytes(), 0o644).map_err(io)?;
        recovered.push(format!(
            "the file `{CHECKPOINT}` was behind; it has the checkpoint of {size} leaves again"
        ));
    }
    Ok(published)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::entry::{Entry, Sealing};
    use crate::payload::RedactionKey;
    use crate::store::ledger::Appended;

    fn sealed(number: u64) -> crate::entry::Sealed {
        let id = tenterhook_event::EventId::from_parts(1, number.into());
        let ts = tenterhook_event::Timestamp::from_unix_ms(1);
        let sealing = Sealing {
            key: RedactionKey::new([0; 32]),
            keep_raw: false,
            max_payload: 1000,
            keep_model_text: false,
        };
        Entry::change(id, ts, "mode", "dev", serde_json::Value::Null, &|_| Vec::new()).seal(&sealing).unwrap()
    }

    fn writer(dir: &Path, durability: Durability) -> Writer {
        let mut options = Options { durability, ..Options::new(|| 1) };
        open(dir, &mut options).unwrap().0
    }

    fn synchronous(writer: &Writer) -> i64 {
        writer.connection.query_row("PRAGMA synchronous", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_durable_append_is_integrated_and_leaves_nothing_due() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(&dir.path().join("ledger"), Durability::Durable);
        assert_eq!(synchronous(&writer), 2, "FULL: the journal is synced with every commit");
        assert_eq!(writer.append(&sealed(1)).unwrap().seq() + 1, writer.tree.size());
        assert!(writer.pending.is_none());
    }

    #[test]
    fn an_idle_writer_empties_its_journal_once_and_then_has_nothing_due() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("ledger");
        let mut options = Options { journal_idle: Duration::from_millis(20), ..Options::new(|| 1) };
        let mut writer = open(&dir, &mut options).unwrap().0;
        let journal = || std::fs::metadata(dir.join("ledger.db-wal")).map_or(0, |file| file.len());
        for number in 1..=2 {
            writer.append(&sealed(number)).unwrap();
            assert!(journal() > 0);
            let mut wakings = 0;
            while let Some(due) = writer.due() {
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                writer.tend();
                wakings += 1;
                assert!(wakings < 50, "it is woken again and again");
            }
            assert_eq!(journal(), 0);
        }
    }

    #[test]
    fn a_relaxed_append_is_in_a_file_and_is_integrated_within_25_ms() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("ledger");
        let mut writer = writer(&dir, Durability::Relaxed);
        assert_eq!(synchronous(&writer), 2, "what is integrated is on the disk");
        let length = || std::fs::metadata(dir.join("ledger.pending")).unwrap().len();
        let due = |writer: &Writer| writer.pending.as_ref().unwrap().due;
        let size = writer.tree.size();
        assert_eq!((length(), due(&writer)), (0, None));
        assert_eq!(writer.append(&sealed(1)).unwrap(), Appended::New { seq: size });
        assert!(length() > 0, "what a process has written survives its end");
        let first = due(&writer).unwrap();
        assert!(first <= Instant::now() + super::super::RELAXED);
        assert!(writer.due().unwrap() <= first, "the thread is woken for it");
        assert_eq!(writer.append(&sealed(2)).unwrap(), Appended::New { seq: size + 1 });
        assert_eq!(writer.append(&sealed(1)).unwrap(), Appended::AlreadyThere { seq: size });
        assert_eq!((due(&writer), writer.tree.size()), (Some(first), size), "the first one counts");
        std::thread::sleep(first.saturating_duration_since(Instant::now()));
        writer.tend();
        assert_eq!((due(&writer), writer.tree.size(), length()), (None, size + 2, 0));
        assert_eq!(writer.append(&sealed(2)).unwrap(), Appended::AlreadyThere { seq: size + 1 });
    }

    #[test]
    fn a_store_that_takes_nothing_is_told_when_as_much_waits_as_may() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(&dir.path().join("ledger"), Durability::Relaxed);
        writer.batch.size = 2;
        writer.connection.execute_batch("ALTER TABLE leaves RENAME TO elsewhere").unwrap();
        assert!(writer.append(&sealed(1)).is_ok() && writer.append(&sealed(2)).is_ok());
        assert!(writer.append(&sealed(3)).is_err());
        writer.connection.execute_batch("ALTER TABLE elsewhere RENAME TO leaves").unwrap();
        let size = writer.tree.size();
        writer.settle().unwrap();
        assert_eq!(writer.tree.size(), size + 2, "what waited is not lost");
        assert!(writer.append(&sealed(3)).is_ok());
    }

    #[test]
    fn what_was_only_sequenced_is_taken_in_once_and_what_is_no_line_is_kept_aside() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("ledger");
        let mut first = writer(&dir, Durability::Relaxed);
        let size = first.tree.size();
        first.append(&sealed(1)).unwrap();
        let lines = std::fs::read(dir.join("ledger.pending")).unwrap();
        first.settle().unwrap();
        first.append(&sealed(2)).unwrap();
        let second = std::fs::read(dir.join("ledger.pending")).unwrap();
        drop(first);
        // As a process leaves it that is killed before the file is emptied, and in the middle of a line.
        let torn = second.get(..40).unwrap();
        std::fs::write(dir.join("ledger.pending"), [&lines, &second, torn].concat()).unwrap();
        let (writer, recovered) = open(&dir, &mut Options::new(|| 1)).unwrap();
        assert!(recovered.iter().any(|what| what.starts_with("2 leaves were sequenced")), "{recovered:?}");
        assert!(
            recovered.iter().any(|what| what.starts_with("refused 1 line of `ledger.pending`")),
            "{recovered:?}"
        );
        // The third says what was refused, the fourth that the ledger is kept otherwise now.
        assert_eq!(writer.tree.size(), size + 4);
        assert!(!dir.join("ledger.pending").exists());
        assert_eq!(std::fs::read(dir.join("ledger.pending.refused")).unwrap(), [torn, b"\n"].concat());
    }
}
