// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Opening a ledger for writing: the lock, the store, what a crash left, and the key.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};

use super::append::Writer;
use super::block::Block;
use super::error::{AppendError, OpenError};
use super::hold::{Hold, directory};
use super::options::{Durability, Options};
use super::rows::{self, StoredNodes, last_checkpoint, meta, size};
use super::{CHECKPOINT, DATABASE, PAGE, keys, migrate};
use crate::checkpoint::Checkpoint;
use crate::note::VerifierKey;
use crate::sign::{Signer, replace_copy};
use crate::tree::{self, Frontier};

/// Opens the store and brings it into order. Says what there was to do.
pub(crate) fn open(dir: &Path, options: &mut Options) -> Result<(Writer, Vec<String>), OpenError> {
    directory(dir)?;
    let hold = Hold::take(dir)?;
    let mut recovered = Vec::new();
    let database = dir.join(DATABASE);
    make_private(&database)?;
    let mut connection = connect(&database, options.durability)?;
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
    let mut writer = Writer::new((connection, dir, hold), (tree, block), signed, signer, options);
    if here == 0 {
        writer.start().map_err(unwritten)?;
    }
    writer.say_how_it_is_kept(options).map_err(unwritten)?;
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

fn connect(path: &Path, durability: Durability) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(32);
    // Only heeded by a store that is empty.
    connection.pragma_update(None, "page_size", u32::try_from(PAGE).unwrap_or(4096))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    let synchronous = match durability {
        Durability::Durable => "full",
        // The writer syncs the journal itself.
        Durability::Relaxed => "normal",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
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
    let file = std::fs::read_to_string(&path).ok().filter(|note| !note.is_empty());
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

    fn sealed(number: u64) -> crate::entry::Sealed {
        let id = tenterhook_event::EventId::from_parts(1, number.into());
        let ts = tenterhook_event::Timestamp::from_unix_ms(1);
        let sealing = Sealing { key: RedactionKey::new([0; 32]), keep_raw: false, max_payload: 1000 };
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
    fn a_durable_commit_syncs_and_leaves_nothing_due() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(&dir.path().join("ledger"), Durability::Durable);
        assert_eq!(synchronous(&writer), 2, "FULL: the journal is synced with every commit");
        writer.append(&sealed(1)).unwrap();
        assert_eq!(writer.sync_due, None);
    }

    #[test]
    fn a_relaxed_commit_is_in_the_journal_and_is_synced_within_25_ms() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("ledger");
        let mut writer = writer(&dir, Durability::Relaxed);
        assert_eq!(synchronous(&writer), 1, "NORMAL: commits are written, not synced");
        let length = || std::fs::metadata(dir.join("ledger.db-wal")).unwrap().len();
        let (before, started) = (length(), Instant::now());
        writer.append(&sealed(1)).unwrap();
        assert!(length() > before, "what a process has written survives its end");
        let due = writer.sync_due.unwrap();
        assert!(due <= started + Duration::from_millis(25) + started.elapsed());
        assert!(writer.due().unwrap() <= due, "the thread is woken for it");
        writer.append(&sealed(2)).unwrap();
        assert_eq!(writer.sync_due, Some(due), "the first one counts");
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        writer.tend();
        assert_eq!(writer.sync_due, None);
    }
}
