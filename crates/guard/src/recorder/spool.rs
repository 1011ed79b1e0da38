// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The spool contains one private, sealed file for each entry that is not in the ledger yet.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;
use sha2::Digest as _;
use tenterhook_event::{EventId, Timestamp};
use tenterhook_files::FileClass;
use tenterhook_ledger::{Appended, LeafOrigin, Ledger, LedgerEntry, Reader, SealedEntry, SpoolError};

use tenterhook_home::call_meta::now_ms;
use tenterhook_home::env;
use tenterhook_home::{Home, SealKey, SealPurpose};

/// Maximum size of a spooled entry: the envelope and the largest payload, whose length at most doubles by escaping.
const MAX_ENTRY_BYTES: u64 = (2 * super::ledger_settings::MAX_PAYLOAD_BYTES + (1 << 20)) as u64;
/// File name extension of a refused entry.
const REFUSED_EXTENSION: &str = "refused";
/// Counter that makes the names of one process's temporary files unique.
static TEMP_FILE_COUNTER: AtomicU64 = AtomicU64::new(0);

/// A directory of sealed entries. Secrets are removed before an entry is written.
#[derive(Debug)]
pub struct Spool {
    dir: PathBuf,
    state: PathBuf,
    ledger: PathBuf,
}

/// Result of importing the spool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpoolImport {
    /// Number of entries that were appended to the ledger.
    pub appended: usize,
    /// Number of appended entries whose event the ledger already had with another decision. The spooled decision was
    /// the one sent to the harness, so it supersedes the other.
    pub superseding: usize,
    /// Number of entries that the ledger already had, from an interrupted import.
    pub known: usize,
    /// Number of files that are not valid entries of this home.
    pub refused: usize,
    /// Number of files that could not be read because of a system error. They stay in the spool for the next import.
    pub postponed: usize,
}

/// Why a spool file is not a valid entry of this home or cannot be read.
#[derive(Debug, thiserror::Error)]
enum SpoolFileError {
    #[error("this home has no seal key")]
    NothingSealed,
    #[error("{0}")]
    UnusableKey(String),
    #[error("it has no seal")]
    NoSeal,
    #[error("its seal is not valid for this home")]
    ForeignSeal,
    #[error("its name does not match its event id")]
    OtherName,
    #[error(transparent)]
    LedgerEntry(#[from] SpoolError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Returns whether the error is temporary. Setting the file aside would then lose a record.
fn is_transient(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let passing = [
        Errno::IO,
        Errno::INTR,
        Errno::AGAIN,
        Errno::NOMEM,
        Errno::MFILE,
        Errno::NFILE,
        Errno::STALE,
        Errno::NOSPC,
        Errno::DQUOT,
    ];
    error.raw_os_error().is_some_and(|code| passing.iter().any(|errno| errno.raw_os_error() == code))
}

impl Spool {
    /// Returns the spool of a home.
    pub fn of(home: &Home) -> Self {
        Self { dir: home.spool(), state: home.state.clone(), ledger: home.ledger() }
    }

    /// Writes an entry durably, as `<event id>.json`.
    pub fn write(&self, entry: &SealedEntry) -> std::io::Result<()> {
        let mut text = entry.to_spool().map_err(std::io::Error::other)?;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let seal = SealKey::open(&self.state)?.seal(SealPurpose::Spool, text.as_bytes())?;
        text.push('\n');
        text.push_str(&seal);
        // Several processes may write the same entry at the same time, such as the first record of a generation.
        let number = TEMP_FILE_COUNTER.fetch_add(1, Ordering::Relaxed);
        let beside = self.dir.join(format!(".{}.{}.{number}", entry.id(), std::process::id()));
        let written = write_synced(&beside, text.as_bytes())
            .and_then(|()| std::fs::rename(&beside, self.entry_path(entry)));
        if let Err(error) = written {
            // A full disk leaves a partial file.
            drop(std::fs::remove_file(&beside));
            return Err(error);
        }
        File::open(&self.dir)?.sync_all()
    }

    /// Returns whether this entry is already in the spool.
    pub fn contains(&self, entry: &SealedEntry) -> bool {
        self.entry_path(entry).exists()
    }

    fn entry_path(&self, entry: &SealedEntry) -> PathBuf {
        self.dir.join(format!("{}.json", entry.id()))
    }

    /// Imports at most `max_entries` entries into the ledger, oldest first. Only the holder of the ledger's lock
    /// calls this. A file is removed once its record is durable. After a crash before the removal, the ledger
    /// recognises the event's id. A file that this home did not write is set aside, and this is recorded.
    pub fn import_into(&self, ledger: &Ledger, max_entries: usize) -> SpoolImport {
        let mut imported = SpoolImport::default();
        let files = self.files("json");
        if files.is_empty() {
            return imported;
        }
        let key = SealKey::open_existing(&self.state);
        // Without the key, valid files cannot be distinguished from forged ones.
        if key.as_ref().is_err_and(|error| error.raw_os_error().is_some()) {
            return SpoolImport { postponed: files.len(), ..imported };
        }
        let mut handled = 0;
        for path in files {
            if handled == max_entries {
                break;
            }
            let entry = match &key {
                Ok(Some(key)) => read_entry(&path, key),
                Ok(None) => Err(SpoolFileError::NothingSealed),
                Err(error) => Err(SpoolFileError::UnusableKey(error.to_string())),
            };
            let done = match entry {
                // If the file is not removed, the next import finds its entry in the ledger.
                Ok(entry) => {
                    self.append(ledger, entry, &mut imported).inspect(|()| drop(std::fs::remove_file(&path)))
                }
                Err(SpoolFileError::Io(error)) if is_transient(&error) => {
                    imported.postponed += 1;
                    continue;
                }
                Err(error) => {
                    set_aside(ledger, &path, &error.to_string()).inspect(|()| imported.refused += 1)
                }
            };
            if done.is_none() {
                // The ledger refused the entry and would refuse the next entry too.
                break;
            }
            handled += 1;
        }
        imported
    }

    fn append(&self, ledger: &Ledger, entry: SealedEntry, imported: &mut SpoolImport) -> Option<()> {
        let seq = match ledger.append(entry.clone()).ok()? {
            Appended::New { .. } => {
                imported.appended += 1;
                return Some(());
            }
            Appended::AlreadyThere { seq } => seq,
        };
        let record = Reader::open(&self.ledger).and_then(|reader| reader.get(seq)).ok()??;
        let same = record.bytes.is_none_or(|bytes| entry.is_recorded_in(&bytes));
        // Other kinds of records have an id that is derived from their content.
        let superseding = if same { None } else { entry.into_superseding() };
        let Some(superseding) = superseding else {
            imported.known += 1;
            return Some(());
        };
        match ledger.append(superseding).ok()? {
            Appended::New { .. } => {
                (imported.appended, imported.superseding) = (imported.appended + 1, imported.superseding + 1);
            }
            Appended::AlreadyThere { .. } => imported.known += 1,
        }
        Some(())
    }

    /// Checks that the directory can be listed, because an unreadable spool would look empty.
    pub fn check_readable(&self) -> std::io::Result<()> {
        match std::fs::read_dir(&self.dir) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the number of waiting entries and the number of refused entries.
    pub fn count(&self) -> (usize, usize) {
        (self.files("json").len(), self.files(REFUSED_EXTENSION).len())
    }

    /// Returns the files with this extension. File names are event ids, which sort by time.
    fn files(&self, extension: &str) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return Vec::new() };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut paths: Vec<_> =
            paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
        paths.sort_unstable();
        paths
    }
}

/// Writes a file durably, readable only by its owner. An existing file is left over from an interrupted run.
fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let open = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = match open() {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            std::fs::remove_file(path)?;
            open()?
        }
        file => file?,
    };
    file.write_all(bytes)?;
    file.sync_all()
}

/// Reads an entry and checks that this home sealed it under this name.
fn read_entry(path: &Path, key: &SealKey) -> Result<SealedEntry, SpoolFileError> {
    let text = read_entry_text(path)?;
    let (line, seal) = text.split_once('\n').ok_or(SpoolFileError::NoSeal)?;
    if !key.verify(SealPurpose::Spool, line.as_bytes(), seal.trim_end()) {
        return Err(SpoolFileError::ForeignSeal);
    }
    let entry = SealedEntry::from_spool(line)?;
    let named = path.file_stem().is_some_and(|name| name.to_str() == Some(&entry.id().to_string()));
    if named { Ok(entry) } else { Err(SpoolFileError::OtherName) }
}

/// Sets a file aside. This is recorded first, under an id derived from the file, so that it is recorded exactly once.
fn set_aside(ledger: &Ledger, path: &Path, why: &str) -> Option<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let digest = sha2::Sha256::digest(format!("spool-refused/1\n{name}\n{why}"));
    let number = digest.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte));
    let modified = std::fs::symlink_metadata(path).ok().and_then(|found| found.modified().ok());
    let at = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let at = at.map_or_else(now_ms, |at| u64::try_from(at.as_millis()).unwrap_or_default());
    let id = EventId::from_parts(at, number);
    let detail = json!({"file": name, "reason": why});
    let entry = LedgerEntry::change(
        id,
        Timestamp::from_unix_ms(now_ms()),
        "spool-refused",
        &env::current_user(),
        detail,
        &tenterhook_records::secrets,
    );
    ledger.append(entry.with_origin(LeafOrigin::Spool)).ok()?;
    drop(std::fs::rename(path, path.with_extension(REFUSED_EXTENSION)));
    Some(())
}

/// Reads the text of an entry's file.
fn read_entry_text(path: &Path) -> std::io::Result<String> {
    let text = tenterhook_files::read_text(path, FileClass::State, MAX_ENTRY_BYTES)?;
    text.ok_or_else(|| std::io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_cannot_read_now_is_not_set_aside() {
        let dir = tempfile::tempdir().unwrap();
        let (spool, state, ledger) =
            (dir.path().join("spool"), dir.path().join("state"), dir.path().join("ledger"));
        let file = spool.join("01ARZ3NDEKTSV4RRFFQ69G5FAV.json");
        std::fs::create_dir(&spool).unwrap();
        std::fs::write(&file, "{}").unwrap();
        // The state directory is a file, so opening the key fails with ENOTDIR.
        std::fs::write(&state, "").unwrap();
        let opened = Ledger::open(&ledger, tenterhook_ledger::LedgerOptions::new(now_ms)).unwrap();
        let waiting = Spool { dir: spool, state: state.clone(), ledger };
        let imported = waiting.import_into(&opened.ledger, usize::MAX);
        assert_eq!(imported, SpoolImport { postponed: 1, ..SpoolImport::default() });
        assert!(file.exists());
        std::fs::remove_file(&state).unwrap();
        std::fs::create_dir(&state).unwrap();
        let imported = waiting.import_into(&opened.ledger, usize::MAX);
        assert_eq!(imported, SpoolImport { refused: 1, ..SpoolImport::default() });
        assert!(!file.exists());
    }

    #[test]
    fn only_errors_that_may_pass_postpone_a_file() {
        let of = std::io::Error::from_raw_os_error;
        assert!(is_transient(&of(rustix::io::Errno::MFILE.raw_os_error())));
        assert!(!is_transient(&of(rustix::io::Errno::ACCESS.raw_os_error())), "a mode that an agent can set");
        assert!(!is_transient(&std::io::Error::other("not one of the system")));
    }
}
