// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The spool: one private, sealed file for each entry that nobody could record yet.

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

use crate::seal::{SealKey, Sealed as Use};
use tenterhook_home::Home;
use tenterhook_home::call_meta::now_ms;
use tenterhook_home::env;

/// No spooled entry is longer, in bytes: an envelope, and the largest payload, which is JSON already, so
/// that its escapes at most double it.
const LONGEST: u64 = (2 * super::settings::MOST + (1 << 20)) as u64;
/// What an entry that cannot be used is called from then on.
const REFUSED: &str = "refused";
/// Tells apart what one process puts down.
static TURN: AtomicU64 = AtomicU64::new(0);

/// A directory of sealed entries. Secrets are out of them before they come here.
#[derive(Debug)]
pub struct Spool {
    dir: PathBuf,
    state: PathBuf,
    ledger: PathBuf,
}

/// What came of taking in the spool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TakenIn {
    /// Entries that are leaves now.
    pub appended: usize,
    /// Those of them whose event the ledger knew already: what was delivered counts.
    pub superseding: usize,
    /// Entries that were there before, from a run that was cut short.
    pub known: usize,
    /// Files that are no entries of this home.
    pub refused: usize,
    /// Files that the system could not read. They stay in the spool and are tried again.
    pub postponed: usize,
}

/// A spool file that is not a valid entry of this home, or cannot be read.
#[derive(Debug, thiserror::Error)]
enum SpoolFileError {
    #[error("this home has sealed nothing yet")]
    NothingSealed,
    #[error("{0}")]
    UnusableKey(String),
    #[error("it carries no seal")]
    NoSeal,
    #[error("its seal is not of this home")]
    ForeignSeal,
    #[error("it is named after another event")]
    OtherName,
    #[error(transparent)]
    LedgerEntry(#[from] SpoolError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Whether the system caused the error, and may not cause it next time. Setting the file aside would lose a record.
fn is_passing(error: &std::io::Error) -> bool {
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
    /// The spool of a home.
    pub fn of(home: &Home) -> Self {
        Self { dir: home.spool(), state: home.state.clone(), ledger: home.ledger() }
    }

    /// Puts an entry down, durably, as `<event id>.json`.
    pub fn put(&self, entry: &SealedEntry) -> std::io::Result<()> {
        let mut text = entry.to_spool().map_err(std::io::Error::other)?;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let seal = SealKey::open(&self.state)?.seal(Use::Spool, text.as_bytes())?;
        text.push('\n');
        text.push_str(&seal);
        // The same entry may be put down by several at once, such as the first ones of a generation.
        let turn = TURN.fetch_add(1, Ordering::Relaxed);
        let beside = self.dir.join(format!(".{}.{}.{turn}", entry.id(), std::process::id()));
        let written =
            write_synced(&beside, text.as_bytes()).and_then(|()| std::fs::rename(&beside, self.place(entry)));
        if let Err(error) = written {
            // A disk that is full keeps what fitted.
            drop(std::fs::remove_file(&beside));
            return Err(error);
        }
        File::open(&self.dir)?.sync_all()
    }

    /// Whether this entry waits here already.
    pub fn has(&self, entry: &SealedEntry) -> bool {
        self.place(entry).exists()
    }

    fn place(&self, entry: &SealedEntry) -> PathBuf {
        self.dir.join(format!("{}.json", entry.id()))
    }

    /// Brings at most so many entries into the ledger, oldest first. Only the holder of the ledger's
    /// lock does this, and an entry's file goes only once its leaf is durable: a crash between the two is
    /// made good by the ledger, which knows the event's id. What this home did not write is set aside
    /// and is a leaf itself.
    pub fn take_in(&self, ledger: &Ledger, at_most: usize) -> TakenIn {
        let mut taken = TakenIn::default();
        let files = self.files("json");
        if files.is_empty() {
            return taken;
        }
        let key = SealKey::existing(&self.state);
        // Without the key no file can be told from a forged one.
        if key.as_ref().is_err_and(|error| error.raw_os_error().is_some()) {
            return TakenIn { postponed: files.len(), ..taken };
        }
        let mut handled = 0;
        for path in files {
            if handled == at_most {
                break;
            }
            let entry = match &key {
                Ok(Some(key)) => read(&path, key),
                Ok(None) => Err(SpoolFileError::NothingSealed),
                Err(error) => Err(SpoolFileError::UnusableKey(error.to_string())),
            };
            let done = match entry {
                // If the file stays, its entry is found to be recorded next time.
                Ok(entry) => {
                    self.append(ledger, entry, &mut taken).inspect(|()| drop(std::fs::remove_file(&path)))
                }
                Err(SpoolFileError::Io(error)) if is_passing(&error) => {
                    taken.postponed += 1;
                    continue;
                }
                Err(error) => refuse(ledger, &path, &error.to_string()).inspect(|()| taken.refused += 1),
            };
            if done.is_none() {
                // The ledger refuses; it will do the same to the next one.
                break;
            }
            handled += 1;
        }
        taken
    }

    fn append(&self, ledger: &Ledger, entry: SealedEntry, taken: &mut TakenIn) -> Option<()> {
        let seq = match ledger.append(entry.clone()).ok()? {
            Appended::New { .. } => {
                taken.appended += 1;
                return Some(());
            }
            Appended::AlreadyThere { seq } => seq,
        };
        let leaf = Reader::open(&self.ledger).and_then(|reader| reader.get(seq)).ok()??;
        let same = leaf.bytes.is_none_or(|bytes| entry.is_recorded_in(&bytes));
        // What is no decision says the same again, or its id would be another.
        let superseding = if same { None } else { entry.into_superseding() };
        let Some(superseding) = superseding else {
            taken.known += 1;
            return Some(());
        };
        match ledger.append(superseding).ok()? {
            Appended::New { .. } => {
                (taken.appended, taken.superseding) = (taken.appended + 1, taken.superseding + 1);
            }
            Appended::AlreadyThere { .. } => taken.known += 1,
        }
        Some(())
    }

    /// Checks that the directory can be listed; an unreadable spool looks empty.
    pub fn check(&self) -> std::io::Result<()> {
        match std::fs::read_dir(&self.dir) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// How many entries wait, and how many were refused.
    pub fn count(&self) -> (usize, usize) {
        (self.files("json").len(), self.files(REFUSED).len())
    }

    /// The names are ids, and ids are in the order of time.
    fn files(&self, extension: &str) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return Vec::new() };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut paths: Vec<_> =
            paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
        paths.sort_unstable();
        paths
    }
}

/// Writes a file that only its owner can read, to the disk. One of that name is from a run that was cut
/// short.
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

/// An entry, if this home sealed it under the name it has.
fn read(path: &Path, key: &SealKey) -> Result<SealedEntry, SpoolFileError> {
    let text = text(path)?;
    let (line, seal) = text.split_once('\n').ok_or(SpoolFileError::NoSeal)?;
    if !key.is_seal(Use::Spool, line.as_bytes(), seal.trim_end()) {
        return Err(SpoolFileError::ForeignSeal);
    }
    let entry = SealedEntry::from_spool(line)?;
    let named = path.file_stem().is_some_and(|name| name.to_str() == Some(&entry.id().to_string()));
    if named { Ok(entry) } else { Err(SpoolFileError::OtherName) }
}

/// Sets a file aside for good. The leaf comes first, and its id follows from the file: it is recorded
/// once, whatever happens in between.
fn refuse(ledger: &Ledger, path: &Path, why: &str) -> Option<()> {
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
        &env::user(),
        detail,
        &tenterhook_records::secrets,
    );
    ledger.append(entry.with_origin(LeafOrigin::Spool)).ok()?;
    drop(std::fs::rename(path, path.with_extension(REFUSED)));
    Some(())
}

/// The text of an entry's file.
fn text(path: &Path) -> std::io::Result<String> {
    let text = tenterhook_files::read_text(path, FileClass::State, LONGEST)?;
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
        // The state directory is a file, so looking for the key fails with ENOTDIR.
        std::fs::write(&state, "").unwrap();
        let opened = Ledger::open(&ledger, tenterhook_ledger::LedgerOptions::new(now_ms)).unwrap();
        let waiting = Spool { dir: spool, state: state.clone(), ledger };
        let taken = waiting.take_in(&opened.ledger, usize::MAX);
        assert_eq!(taken, TakenIn { postponed: 1, ..TakenIn::default() });
        assert!(file.exists());
        std::fs::remove_file(&state).unwrap();
        std::fs::create_dir(&state).unwrap();
        let taken = waiting.take_in(&opened.ledger, usize::MAX);
        assert_eq!(taken, TakenIn { refused: 1, ..TakenIn::default() });
        assert!(!file.exists());
    }

    #[test]
    fn only_errors_that_may_pass_postpone_a_file() {
        let of = std::io::Error::from_raw_os_error;
        assert!(is_passing(&of(rustix::io::Errno::MFILE.raw_os_error())));
        assert!(!is_passing(&of(rustix::io::Errno::ACCESS.raw_os_error())), "a mode that an agent can set");
        assert!(!is_passing(&std::io::Error::other("not one of the system")));
    }
}
