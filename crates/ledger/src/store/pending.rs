// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Relaxed appends: *sequenced* when a line of them is in a file, which survives the end of this process,
//! and *integrated* together with others at most 25 ms later, in one commit that is on the disk.
//!
//! The file is only read by whoever opens the ledger after a run that did not end in order. Events that
//! were integrated meanwhile are known by their ids, so nothing comes in twice.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tenterhook_event::EventId;

use super::append::Writer;
use super::error::{AppendError, OpenError};
use super::ledger::Appended;
use crate::entry::Sealed;
use crate::record::{MAX_ENVELOPE, Origin};

/// The file in the ledger's directory.
const PENDING: &str = "ledger.pending";
/// Lines that nobody can read are kept here.
const REFUSED: &str = "ledger.pending.refused";

/// More than this is not kept waiting, in bytes.
const MOST: usize = 4 << 20;

/// What is sequenced and not integrated yet.
#[derive(Debug)]
pub(crate) struct Pending {
    file: File,
    path: PathBuf,
    /// A line was cut short by a full disk: the next one begins on a line of its own.
    torn: bool,
    entries: Vec<Sealed>,
    /// How long their lines are together.
    bytes: usize,
    ids: HashSet<EventId>,
    /// When the first of them must be integrated.
    pub(super) due: Option<Instant>,
}

// === impl Pending ===

impl Pending {
    pub(crate) fn open(dir: &Path) -> Result<Self, OpenError> {
        let path = dir.join(PENDING);
        let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
        let file = opened.map_err(|source| OpenError::Io { path: path.clone(), source })?;
        Ok(Self { file, path, torn: false, entries: Vec::new(), bytes: 0, ids: HashSet::new(), due: None })
    }

    fn put(&mut self, entry: &Sealed) -> Result<(), AppendError> {
        let failed = |error: &dyn std::fmt::Display| AppendError::Entry(error.to_string());
        let text = entry.to_spool().map_err(|error| failed(&error))?;
        let break_first = if self.torn { "\n" } else { "" };
        let line = format!("{break_first}{} {text}\n", entry.origin.word());
        // One call, so that lines are whole. What a full disk took of it is no line.
        let written = self.file.write_all(line.as_bytes());
        self.torn = written.is_err();
        written.map_err(|error| failed(&format_args!("`{}`: {error}", self.path.display())))?;
        self.bytes += line.len();
        self.ids.insert(entry.id);
        self.entries.push(entry.clone());
        self.due.get_or_insert_with(|| Instant::now() + super::RELAXED);
        Ok(())
    }

    /// All of it is integrated. A file that keeps its lines does no harm.
    fn clear(&mut self) {
        self.ids.clear();
        (self.bytes, self.due) = (0, None);
        drop(self.file.set_len(0));
    }
}

/// What the last run sequenced and did not integrate, and what became of the rest of its file.
pub(crate) fn left_behind(dir: &Path) -> Result<(Vec<Sealed>, Option<String>), OpenError> {
    let path = dir.join(PENDING);
    let io = |source| OpenError::Io { path: path.clone(), source };
    let text = match std::fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((Vec::new(), None)),
        Err(error) => return Err(io(error)),
    };
    let (mut entries, mut refused) = (Vec::new(), String::new());
    for line in text.lines().filter(|line| !line.is_empty()) {
        match read(line) {
            Some(entry) => entries.push(entry),
            None => refused += &format!("{line}\n"),
        }
    }
    if refused.is_empty() {
        return Ok((entries, None));
    }
    let beside = dir.join(REFUSED);
    let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(&beside);
    opened.and_then(|mut file| file.write_all(refused.as_bytes())).map_err(io)?;
    let lines = refused.lines().count();
    Ok((entries, Some(format!("{lines} lines of `{PENDING}` cannot be read; they are in `{REFUSED}`"))))
}

/// A line: who brought the entry, and the entry.
fn read(line: &str) -> Option<Sealed> {
    let (word, text) = line.split_once(' ')?;
    let origins = [Origin::Hook, Origin::Daemon, Origin::Spool, Origin::Cli, Origin::Transcript];
    let origin = origins.into_iter().find(|origin| origin.word() == word)?;
    Some(Sealed { origin, ..Sealed::from_spool(text).ok()? })
}

/// Nothing is left behind any more.
pub(crate) fn forget(dir: &Path) {
    // What is still there is known by its ids the next time.
    drop(std::fs::remove_file(dir.join(PENDING)));
}

// === impl Writer ===

impl Writer {
    /// Sequences entries: each is in the file when it has its place.
    pub(super) fn sequence<'e>(
        &mut self,
        entries: impl Iterator<Item = &'e Sealed>,
    ) -> Vec<Result<Appended, AppendError>> {
        let appended = entries.map(|entry| self.sequence_one(entry)).collect();
        if self.is_full() {
            // They are safe where they are; it is tried again when it is due.
            drop(self.settle());
        }
        appended
    }

    fn is_full(&self) -> bool {
        let full = |pending: &Pending| pending.entries.len() >= self.batch.size || pending.bytes >= MOST;
        self.pending.as_ref().is_some_and(full)
    }

    fn sequence_one(&mut self, entry: &Sealed) -> Result<Appended, AppendError> {
        if self.is_full() {
            // It could not be integrated before. Whoever comes now is told, or memory would have no end.
            self.settle()?;
        }
        if entry.supersedes.is_some() || self.is_stale() {
            self.settle()?;
            return self.integrate(std::iter::once(entry))?.pop().unwrap_or(Err(AppendError::Closed));
        }
        if entry.fields.len() > MAX_ENVELOPE - 1024 {
            return Err(AppendError::Entry(format!("the envelope has {} bytes", entry.fields.len())));
        }
        if let Some(seq) = self.find(&entry.id.to_string())? {
            return Ok(Appended::AlreadyThere { seq });
        }
        let first = self.tree.size();
        let Some(pending) = &mut self.pending else { return Err(AppendError::Closed) };
        let place = |at: usize| first + u64::try_from(at).unwrap_or(u64::MAX);
        if pending.ids.contains(&entry.id)
            && let Some(at) = pending.entries.iter().position(|there| there.id == entry.id)
        {
            return Ok(Appended::AlreadyThere { seq: place(at) });
        }
        pending.put(entry)?;
        Ok(Appended::New { seq: place(pending.entries.len() - 1) })
    }

    /// Integrates what is sequenced. What cannot be integrated now stays where it is.
    pub(super) fn settle(&mut self) -> Result<(), AppendError> {
        let Some(pending) = self.pending.as_mut().filter(|pending| !pending.entries.is_empty()) else {
            return Ok(());
        };
        let entries = std::mem::take(&mut pending.entries);
        let (mut done, mut result) = (0, Ok(()));
        while done < entries.len() && result.is_ok() {
            match self.integrate(entries.iter().skip(done)) {
                Ok(results) if !results.is_empty() => done += results.len(),
                Ok(_) => result = Err(AppendError::Closed),
                Err(error) => result = Err(error),
            }
        }
        if let Some(pending) = &mut self.pending {
            pending.entries.extend(entries.into_iter().skip(done));
            if pending.entries.is_empty() {
                pending.clear();
            } else {
                pending.due = Some(Instant::now() + super::RELAXED);
            }
        }
        result
    }

    /// Takes in what a run before had sequenced.
    pub(crate) fn take_in(&mut self, entries: &[Sealed]) -> Result<(), AppendError> {
        let mut rest = entries;
        while !rest.is_empty() {
            let results = self.integrate(rest.iter())?;
            rest = rest.get(results.len().max(1)..).unwrap_or_default();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Entry, Sealing};
    use crate::payload::RedactionKey;

    fn sealed(number: u64, origin: Origin) -> Sealed {
        let sealing = Sealing { key: RedactionKey::new([0; 32]), keep_raw: false, max_payload: 1000 };
        let (id, ts) = (EventId::from_parts(1, number.into()), tenterhook_event::Timestamp::from_unix_ms(1));
        let entry = Entry::change(id, ts, "mode", "dev", serde_json::Value::Null, &|_| Vec::new());
        entry.from(origin).seal(&sealing).unwrap()
    }

    #[test]
    fn entries_come_back_as_they_went_in_also_behind_a_line_that_was_cut_short() {
        let dir = tempfile::tempdir().unwrap();
        let mut pending = Pending::open(dir.path()).unwrap();
        let entries =
            [Origin::Hook, Origin::Daemon, Origin::Spool, Origin::Cli].map(|origin| sealed(1, origin));
        for entry in &entries {
            pending.put(entry).unwrap();
        }
        // As a disk that becomes full leaves it.
        pending.file.write_all(b"daemon {\"spool\":1,\"ki").unwrap();
        pending.torn = true;
        let last = sealed(2, Origin::Spool);
        pending.put(&last).unwrap();
        let (found, unread) = left_behind(dir.path()).unwrap();
        assert_eq!(found.split_last().unwrap(), (&last, &entries[..]));
        assert!(unread.unwrap().starts_with("1 lines "));
    }
}
