// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Opens a ledger for writing: takes the lock file, opens the store, recovers after a crash, and loads the key.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};
use tenterhook_files::{FileClass, read_text};

use super::block::OpenBlock;
use super::error::{AppendError, OpenError};
use super::lock_file::{LockFile, ensure_private_dir};
use super::options::{Durability, LedgerOptions};
use super::pending_entries::{self, PendingEntries, PendingSeal, RecoveredEntries};
use super::rows::{self, StoredNodes, get_meta, last_checkpoint, size};
use super::writer::Writer;
use super::writer_signing::was_relaxed;
use super::{CHECKPOINT_FILE, DATABASE_FILE, PAGE_BYTES, keys, migrate};
use crate::checkpoint::Checkpoint;
use crate::note::VerifierKey;
use crate::sign::{Signer, replace_copy};
use crate::tree::{self, Frontier};

/// Maximum length of the checkpoint file, including the cosignatures of all witnesses.
const MAX_CHECKPOINT_BYTES: u64 = 64 << 10;
/// How long the writer waits for other processes that use the database.
pub(super) const BUSY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// Opens and recovers the store. Returns the writer and a message for each recovery step.
pub(crate) fn open(dir: &Path, options: &mut LedgerOptions) -> Result<(Writer, Vec<String>), OpenError> {
    ensure_private_dir(dir)?;
    let lock = LockFile::acquire(dir)?;
    let mut recovered = Vec::new();
    let database = dir.join(DATABASE_FILE);
    create_private(&database)?;
    let mut connection = connect(&database)?;
    recovered.extend(migrate::migrate(&mut connection)?);
    let key = match get_meta(&connection, "key")? {
        Some(text) => {
            Some(text.parse::<VerifierKey>().map_err(|error| OpenError::Damaged(error.to_string()))?)
        }
        None => None,
    };
    let signer = keys::open_key(dir, key.as_ref(), options, &mut recovered)?;
    keys::write_public_key(dir, signer.key())?;
    let here = size(&connection)?;
    if lock.was_unclean {
        recovered.push(format!("the last run did not end cleanly; all {here} records are kept"));
    }
    let signed = check_signatures(&connection, dir, here, &signer, &mut recovered)?;
    let tree = Frontier::load(&StoredNodes(&connection), here).map_err(damage_error)?;
    let block = OpenBlock::load(&connection)?;
    let seal = PendingSeal::derive(&*signer)?;
    let relaxed = was_relaxed(&connection)?;
    let mut writer = Writer::new((connection, dir, lock), (tree, block), signed, signer, options);
    if here == 0 {
        writer.append_start().map_err(open_error)?;
    }
    let RecoveredEntries { entries, refused } =
        pending_entries::read_pending_file(dir, relaxed.then_some(&seal))?;
    if !entries.is_empty() {
        writer.integrate_recovered(&entries).map_err(open_error)?;
        let (number, s) = (entries.len(), if entries.len() == 1 { "" } else { "s" });
        recovered.push(format!("integrated {number} record{s} that the last run had only sequenced"));
    }
    if let Some(refused) = refused {
        writer.record_refused_lines(&refused, &options.who).map_err(open_error)?;
        recovered.push(refused.to_string());
    }
    pending_entries::remove_pending_file(dir);
    writer.record_settings(options).map_err(open_error)?;
    if options.durability == Durability::Relaxed {
        writer.pending = Some(PendingEntries::open(dir, seal)?);
    }
    Ok((writer, recovered))
}

fn open_error(error: AppendError) -> OpenError {
    match error {
        AppendError::Refused { cause, why } => OpenError::Store(format!("{}{why}", cause.message_prefix())),
        other => OpenError::Store(other.to_string()),
    }
}

/// Creates the database file so that only its owner can read it; SQLite would make it readable for all users.
fn create_private(path: &Path) -> Result<(), OpenError> {
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
    // This only has an effect on an empty store.
    connection.pragma_update(None, "page_size", u32::try_from(PAGE_BYTES).unwrap_or(4096))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    // The module `wal_checkpoint` checkpoints the journal before this limit is reached, unless it cannot keep up.
    connection.pragma_update(None, "wal_autocheckpoint", 8000)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    connection.pragma_update(None, "cache_size", -16_384)?;
    Ok(connection)
}

fn damage_error(error: rusqlite::Error) -> OpenError {
    match error {
        rusqlite::Error::QueryReturnedNoRows | rusqlite::Error::FromSqlConversionFailure(..) => {
            OpenError::Damaged("hashes of the tree are missing".into())
        }
        other => other.into(),
    }
}

/// Reads the checkpoint file. An unreadable file is treated as missing.
pub fn published_checkpoint(dir: &Path) -> Option<String> {
    read_text(&dir.join(CHECKPOINT_FILE), FileClass::State, MAX_CHECKPOINT_BYTES).ok().flatten()
}

/// Checks that the leaves match the last signatures; `verify` does a full check. Returns the size of the last
/// published checkpoint.
///
/// The next commit signs all leaves, so all existing leaves must already be signed. Otherwise the commit would sign
/// leaves that another program appended.
fn check_signatures(
    connection: &Connection,
    dir: &Path,
    here: u64,
    signer: &Arc<dyn Signer>,
    recovered: &mut Vec<String>,
) -> Result<u64, OpenError> {
    let path = dir.join(CHECKPOINT_FILE);
    // The file is not synced, so it may be empty after a power cut.
    let file = published_checkpoint(dir).filter(|note| !note.is_empty());
    let stored = last_checkpoint(connection)?;
    let mismatch =
        |size| OpenError::Damaged(format!("the first {size} records differ from those that were signed"));
    let root = |size| tree::root(&StoredNodes(connection), size).map_err(damage_error);
    let (mut published, mut signed) = (0, 0);
    if let Some(head) = rows::head(connection)? {
        let key = signer.key();
        let tree = Checkpoint { origin: key.name().to_owned(), size: here, root: root(here)? };
        if !key.is_valid_signature(tree.text().as_bytes(), &head) {
            return Err(mismatch(here));
        }
        signed = here;
    }
    for note in [stored.as_ref().map(|(_, note)| note), file.as_ref()].into_iter().flatten() {
        let (checkpoint, lines) =
            Checkpoint::parse(note).map_err(|error| OpenError::Damaged(error.to_string()))?;
        if checkpoint.origin != signer.key().name() {
            return Err(OpenError::Damaged(format!(
                "a checkpoint belongs to another log, `{}`",
                checkpoint.origin
            )));
        }
        if checkpoint.size > here {
            return Err(OpenError::RolledBack { signed: checkpoint.size, here });
        }
        if root(checkpoint.size)? != checkpoint.root {
            return Err(mismatch(checkpoint.size));
        }
        // A checkpoint from before a key rotation has a different signer.
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
        recovered
            .push(format!("wrote the checkpoint of {size} records to the outdated file `{CHECKPOINT_FILE}`"));
    }
    Ok(published)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::entry::{LedgerEntry, SealingOptions};
    use crate::store::ledger::Appended;

    fn sealed_entry(number: u64) -> crate::entry::SealedEntry {
        let id = tenterhook_event::EventId::from_parts(1, number.into());
        let ts = tenterhook_event::Timestamp::from_unix_ms(1);
        let sealing = SealingOptions::internal();
        LedgerEntry::change(id, ts, "mode", "dev", serde_json::Value::Null, &|_| Vec::new())
            .seal(&sealing)
            .unwrap()
    }

    fn writer(dir: &Path, durability: Durability) -> Writer {
        let mut options = LedgerOptions { durability, ..LedgerOptions::new(|| 1) };
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
        assert_eq!(writer.append(&sealed_entry(1)).unwrap().seq() + 1, writer.tree.size());
        assert!(writer.pending.is_none());
    }

    #[test]
    fn an_idle_writer_empties_its_journal_once_and_then_has_nothing_due() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("ledger");
        let mut options =
            LedgerOptions { journal_idle: Duration::from_millis(20), ..LedgerOptions::new(|| 1) };
        let mut writer = open(&dir, &mut options).unwrap().0;
        let journal = || std::fs::metadata(dir.join("ledger.db-wal")).map_or(0, |file| file.len());
        for number in 1..=2 {
            writer.append(&sealed_entry(number)).unwrap();
            assert!(journal() > 0);
            let mut wake_ups = 0;
            while let Some(due) = writer.next_due() {
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                writer.run_maintenance();
                wake_ups += 1;
                assert!(wake_ups < 50, "the thread wakes up again and again");
            }
            assert_eq!(journal(), 0);
        }
    }

    #[test]
    fn a_relaxed_append_is_in_a_file_and_is_integrated_within_25_ms() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("ledger");
        let mut writer = writer(&dir, Durability::Relaxed);
        assert_eq!(synchronous(&writer), 2, "integrated leaves are on the disk");
        let length = || std::fs::metadata(dir.join("ledger.pending")).unwrap().len();
        let pending_due = |writer: &Writer| writer.pending.as_ref().unwrap().due;
        let size = writer.tree.size();
        assert_eq!((length(), pending_due(&writer)), (0, None));
        assert_eq!(writer.append(&sealed_entry(1)).unwrap(), Appended::New { seq: size });
        assert!(length() > 0, "a written line survives the end of the process");
        let first = pending_due(&writer).unwrap();
        assert!(first <= Instant::now() + super::super::MAX_RELAXED_DELAY);
        assert!(writer.next_due().unwrap() <= first, "the thread is woken for it");
        assert_eq!(writer.append(&sealed_entry(2)).unwrap(), Appended::New { seq: size + 1 });
        assert_eq!(writer.append(&sealed_entry(1)).unwrap(), Appended::AlreadyThere { seq: size });
        assert_eq!((pending_due(&writer), writer.tree.size()), (Some(first), size), "the first one counts");
        std::thread::sleep(first.saturating_duration_since(Instant::now()));
        writer.run_maintenance();
        assert_eq!((pending_due(&writer), writer.tree.size(), length()), (None, size + 2, 0));
        assert_eq!(writer.append(&sealed_entry(2)).unwrap(), Appended::AlreadyThere { seq: size + 1 });
    }

    #[test]
    fn a_failing_store_is_reported_when_the_pending_entries_are_full() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(&dir.path().join("ledger"), Durability::Relaxed);
        writer.batch.size = 2;
        writer.connection.execute_batch("ALTER TABLE leaves RENAME TO elsewhere").unwrap();
        assert!(writer.append(&sealed_entry(1)).is_ok() && writer.append(&sealed_entry(2)).is_ok());
        assert!(writer.append(&sealed_entry(3)).is_err());
        writer.connection.execute_batch("ALTER TABLE elsewhere RENAME TO leaves").unwrap();
        let size = writer.tree.size();
        writer.flush_pending().unwrap();
        assert_eq!(writer.tree.size(), size + 2, "pending entries are not lost");
        assert!(writer.append(&sealed_entry(3)).is_ok());
    }

    #[test]
    fn sequenced_entries_are_recovered_once_and_invalid_lines_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("ledger");
        let mut first = writer(&dir, Durability::Relaxed);
        let size = first.tree.size();
        first.append(&sealed_entry(1)).unwrap();
        let lines = std::fs::read(dir.join("ledger.pending")).unwrap();
        first.flush_pending().unwrap();
        first.append(&sealed_entry(2)).unwrap();
        let second = std::fs::read(dir.join("ledger.pending")).unwrap();
        drop(first);
        // Simulates a process that was killed in the middle of a line, before the file was emptied.
        let torn = second.get(..40).unwrap();
        std::fs::write(dir.join("ledger.pending"), [&lines, &second, torn].concat()).unwrap();
        let (writer, recovered) = open(&dir, &mut LedgerOptions::new(|| 1)).unwrap();
        assert!(recovered.iter().any(|what| what.starts_with("integrated 2 records")), "{recovered:?}");
        assert!(
            recovered.iter().any(|what| what.starts_with("refused 1 line of `ledger.pending`")),
            "{recovered:?}"
        );
        // The third new leaf is about the refused line, the fourth about the new settings.
        assert_eq!(writer.tree.size(), size + 4);
        assert!(!dir.join("ledger.pending").exists());
        assert_eq!(std::fs::read(dir.join("ledger.pending.refused")).unwrap(), [torn, b"\n"].concat());
    }
}
