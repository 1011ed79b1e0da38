// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Relaxed appends. An entry is *sequenced* when it has been written as a line to a file, which survives the end of
//! the process. It is *integrated* at most 25 ms later, together with others, in one durable commit.
//!
//! The file is read only when the ledger is opened after a crash. Event ids prevent an entry from being integrated
//! twice. Each line has a seal that only the holder of the signing key can create. Lines without a valid seal are
//! refused, and a record reports them. A durable ledger does not write such lines.

use std::collections::HashSet;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use aws_lc_rs::hmac;
use serde_json::json;
use sha2::{Digest, Sha256};
use tenterhook_event::EventId;
use tenterhook_files::{FileClass, FileRefused, read_bytes};

use super::error::{AppendError, OpenError};
use super::ledger::Appended;
use super::writer::Writer;
use crate::entry::{EntryBody, SealedEntry};
use crate::envelope::{LeafKind, LeafOrigin, MAX_ENVELOPE_BYTES};
use crate::hash::{decode_base64, encode_base64};
use crate::sign::{SignError, Signer};

/// Name of the file with sequenced entries.
const PENDING_FILE: &str = "ledger.pending";
/// Name of the file with refused lines.
const REFUSED_FILE: &str = "ledger.pending.refused";

/// Total size of waiting lines at which they are integrated.
const MAX_WAITING_BYTES: usize = 4 << 20;
/// Maximum length of the file: all waiting lines plus a line of maximum length.
const MAX_PENDING_BYTES: u64 = 128 << 20;

/// Entries that are sequenced but not integrated.
#[derive(Debug)]
pub(crate) struct PendingEntries {
    file: File,
    path: PathBuf,
    seal: PendingSeal,
    /// Whether a full disk truncated the last line, so that the next one must begin with a line break.
    torn: bool,
    entries: Vec<SealedEntry>,
    /// Total length of the waiting lines.
    bytes: usize,
    ids: HashSet<EventId>,
    /// When the first waiting entry must be integrated.
    pub(super) due: Option<Instant>,
}

/// Key that seals the file's lines.
#[derive(Debug)]
pub(crate) struct PendingSeal(hmac::Key);

/// Entries that the last run sequenced but did not integrate.
#[derive(Debug, Default)]
pub(crate) struct RecoveredEntries {
    pub(crate) entries: Vec<SealedEntry>,
    pub(crate) refused: Option<RefusedLines>,
}

/// Lines in the file that were refused.
#[derive(Debug)]
pub(crate) struct RefusedLines {
    lines: usize,
    reason: String,
    /// Hash of the refused lines, which are kept in another file.
    sha256: Option<String>,
}

impl PendingSeal {
    /// Derives the key from a signature that only the holder of the signing key can create.
    pub(crate) fn derive(signer: &dyn Signer) -> Result<Self, SignError> {
        let text = format!("tenterhook-pending/1\n{}\n", signer.key());
        let signature = signer.sign(text.as_bytes())?;
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &signature)))
    }

    fn tag(&self, text: &str) -> String {
        encode_base64(hmac::sign(&self.0, text.as_bytes()).as_ref())
    }

    fn is_tag(&self, text: &str, tag: &str) -> bool {
        decode_base64(tag).is_some_and(|tag| hmac::verify(&self.0, text.as_bytes(), &tag).is_ok())
    }
}

impl fmt::Display for RefusedLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lines, reason, sha256 } = self;
        match sha256 {
            Some(_) => {
                let s = if *lines == 1 { "" } else { "s" };
                write!(f, "refused {lines} line{s} of `{PENDING_FILE}`, kept in `{REFUSED_FILE}`: {reason}")
            }
            None => write!(f, "refused `{PENDING_FILE}`: {reason}"),
        }
    }
}

impl PendingEntries {
    pub(crate) fn open(dir: &Path, seal: PendingSeal) -> Result<Self, OpenError> {
        let path = dir.join(PENDING_FILE);
        let opened = tenterhook_files::open_state_for_writing(&path, OpenOptions::new().append(true));
        let file = opened.map_err(|source| OpenError::Io { path: path.clone(), source })?;
        let (entries, ids) = (Vec::new(), HashSet::new());
        Ok(Self { file, path, seal, torn: false, entries, bytes: 0, ids, due: None })
    }

    /// Sets the seal after a key rotation. No entries are waiting then, because a rotation integrates them first.
    pub(super) fn reseal(&mut self, seal: PendingSeal) {
        self.seal = seal;
    }

    fn write_line(&mut self, entry: &SealedEntry) -> Result<(), AppendError> {
        let failed = |error: &dyn std::fmt::Display| AppendError::Rejected(error.to_string());
        let text = entry.to_spool().map_err(|error| failed(&error))?;
        let line_break = if self.torn { "\n" } else { "" };
        let sealed = format!("{} {text}", entry.origin.as_str());
        let line = format!("{line_break}{} {sealed}\n", self.seal.tag(&sealed));
        // Written in one call, so that lines are complete. A partial line written to a full disk is invalid.
        let written = self.file.write_all(line.as_bytes());
        self.torn = written.is_err();
        written.map_err(|error| failed(&format_args!("`{}`: {error}", self.path.display())))?;
        self.bytes += line.len();
        self.ids.insert(entry.id);
        self.entries.push(entry.clone());
        self.due.get_or_insert_with(|| Instant::now() + super::MAX_RELAXED_DELAY);
        Ok(())
    }

    /// Clears the entries after integration. It does no harm if the lines remain in the file.
    fn clear(&mut self) {
        self.ids.clear();
        (self.bytes, self.due) = (0, None);
        drop(self.file.set_len(0));
    }
}

/// Reads entries that the last run sequenced but did not integrate. Without a seal, all lines are refused, because a
/// durable ledger does not write any.
pub(crate) fn read_pending_file(
    dir: &Path,
    seal: Option<&PendingSeal>,
) -> Result<RecoveredEntries, OpenError> {
    let path = dir.join(PENDING_FILE);
    let bytes = match read_bytes(&path, FileClass::State, MAX_PENDING_BYTES) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(RecoveredEntries::default()),
        Err(error) if FileRefused::reason_of(&error).is_some() => {
            let refused = RefusedLines { lines: 0, reason: error.to_string(), sha256: None };
            return Ok(RecoveredEntries { entries: Vec::new(), refused: Some(refused) });
        }
        Err(source) => return Err(OpenError::Io { path, source }),
    };
    let text = String::from_utf8_lossy(&bytes);
    let (mut entries, mut refused) = (Vec::new(), String::new());
    for line in text.lines().filter(|line| !line.is_empty()) {
        match seal.and_then(|seal| parse_line(line, seal)) {
            Some(entry) => entries.push(entry),
            None => refused += &format!("{line}\n"),
        }
    }
    if refused.is_empty() {
        return Ok(RecoveredEntries { entries, refused: None });
    }
    let refused_path = dir.join(REFUSED_FILE);
    let opened = tenterhook_files::open_state_for_writing(&refused_path, OpenOptions::new().append(true));
    opened
        .and_then(|mut file| file.write_all(refused.as_bytes()))
        .map_err(|source| OpenError::Io { path: refused_path, source })?;
    let reason = match seal {
        Some(_) => "the seal is missing or does not match, or the line was cut short",
        None => "the ledger was durable, so it did not write them",
    };
    let refused = RefusedLines {
        lines: refused.lines().count(),
        reason: reason.to_owned(),
        sha256: Some(encode_base64(&Sha256::digest(refused.as_bytes()))),
    };
    Ok(RecoveredEntries { entries, refused: Some(refused) })
}

/// Parses a line: seal, origin and entry.
fn parse_line(line: &str, seal: &PendingSeal) -> Option<SealedEntry> {
    let (tag, sealed) = line.split_once(' ')?;
    if !seal.is_tag(sealed, tag) {
        return None;
    }
    let (word, text) = sealed.split_once(' ')?;
    let origin = LeafOrigin::ALL.iter().copied().find(|origin| origin.as_str() == word)?;
    Some(SealedEntry { origin, ..SealedEntry::from_spool(text).ok()? })
}

/// Removes the file after recovery.
pub(crate) fn remove_pending_file(dir: &Path) {
    // If this fails, event ids prevent the entries from being integrated twice.
    drop(std::fs::remove_file(dir.join(PENDING_FILE)));
}

impl Writer {
    /// Sequences entries: writes each to the file and assigns its number.
    pub(super) fn sequence<'e>(
        &mut self,
        entries: impl Iterator<Item = &'e SealedEntry>,
    ) -> Vec<Result<Appended, AppendError>> {
        let appended = entries.map(|entry| self.sequence_one(entry)).collect();
        if self.is_pending_full() {
            // The entries are in the file. If the flush fails, it is tried again later.
            drop(self.flush_pending());
        }
        appended
    }

    fn is_pending_full(&self) -> bool {
        let full = |pending: &PendingEntries| {
            pending.entries.len() >= self.batch.size || pending.bytes >= MAX_WAITING_BYTES
        };
        self.pending.as_ref().is_some_and(full)
    }

    fn sequence_one(&mut self, entry: &SealedEntry) -> Result<Appended, AppendError> {
        if self.is_pending_full() {
            // An earlier integration failed. The error is reported, so that memory use stays bounded.
            self.flush_pending()?;
        }
        if entry.supersedes.is_some() || self.is_stale() {
            self.flush_pending()?;
            return self.integrate(std::iter::once(entry))?.pop().unwrap_or(Err(AppendError::Closed));
        }
        if entry.fields.len() > MAX_ENVELOPE_BYTES - 1024 {
            return Err(AppendError::Rejected(format!(
                "the envelope has {} bytes, which is too long",
                entry.fields.len()
            )));
        }
        if let Some(seq) = self.find(&entry.id.to_string())? {
            return Ok(Appended::AlreadyThere { seq });
        }
        let first = self.tree.size();
        let Some(pending) = &mut self.pending else { return Err(AppendError::Closed) };
        let seq_of = |at: usize| first + u64::try_from(at).unwrap_or(u64::MAX);
        if pending.ids.contains(&entry.id)
            && let Some(at) = pending.entries.iter().position(|other| other.id == entry.id)
        {
            return Ok(Appended::AlreadyThere { seq: seq_of(at) });
        }
        pending.write_line(entry)?;
        Ok(Appended::New { seq: seq_of(pending.entries.len() - 1) })
    }

    /// Integrates sequenced entries. Entries that fail stay pending.
    pub(super) fn flush_pending(&mut self) -> Result<(), AppendError> {
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
                pending.due = Some(Instant::now() + super::MAX_RELAXED_DELAY);
            }
        }
        result
    }

    /// Appends a leaf about refused lines.
    pub(crate) fn record_refused_lines(
        &mut self,
        refused: &RefusedLines,
        who: &str,
    ) -> Result<(), AppendError> {
        let RefusedLines { lines, reason, sha256 } = refused;
        let body = EntryBody {
            what: Some("pending-refused".to_owned()),
            who: Some(who.to_owned()),
            detail: Some(json!({"file": PENDING_FILE, "lines": lines, "reason": reason, "sha256": sha256})),
            ..EntryBody::default()
        };
        self.append_internal(LeafKind::Change, body, |_, _| Ok(())).map(drop)
    }

    /// Integrates entries that an earlier run sequenced.
    pub(crate) fn integrate_recovered(&mut self, entries: &[SealedEntry]) -> Result<(), AppendError> {
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
    use crate::entry::{LedgerEntry, SealingOptions};
    use crate::sign::SoftwareKey;

    fn sealed_entry(number: u64, origin: LeafOrigin) -> SealedEntry {
        let sealing = SealingOptions::internal();
        let (id, ts) = (EventId::from_parts(1, number.into()), tenterhook_event::Timestamp::from_unix_ms(1));
        let entry = LedgerEntry::change(id, ts, "mode", "dev", serde_json::Value::Null, &|_| Vec::new());
        entry.with_origin(origin).seal(&sealing).unwrap()
    }

    #[test]
    fn entries_are_read_back_unchanged_also_after_a_line_that_was_cut_short() {
        let dir = tempfile::tempdir().unwrap();
        let seal =
            || PendingSeal::derive(&SoftwareKey::from_seed("test.local/a", &[1; 32]).unwrap()).unwrap();
        let mut pending = PendingEntries::open(dir.path(), seal()).unwrap();
        let entries = [LeafOrigin::Hook, LeafOrigin::Daemon, LeafOrigin::Spool, LeafOrigin::Cli]
            .map(|origin| sealed_entry(1, origin));
        for entry in &entries {
            pending.write_line(entry).unwrap();
        }
        // Simulates a disk that becomes full.
        pending.file.write_all(b"daemon {\"spool\":1,\"ki").unwrap();
        pending.torn = true;
        let last = sealed_entry(2, LeafOrigin::Spool);
        pending.write_line(&last).unwrap();
        let RecoveredEntries { entries: found, refused } =
            read_pending_file(dir.path(), Some(&seal())).unwrap();
        assert_eq!(found.split_last().unwrap(), (&last, &entries[..]));
        assert!(refused.unwrap().to_string().starts_with("refused 1 line of "));
    }

    #[test]
    fn a_seal_covers_entry_and_origin_and_needs_the_key() {
        let dir = tempfile::tempdir().unwrap();
        let seal = |seed: u8| {
            PendingSeal::derive(&SoftwareKey::from_seed("test.local/a", &[seed; 32]).unwrap()).unwrap()
        };
        let mut pending = PendingEntries::open(dir.path(), seal(1)).unwrap();
        pending.write_line(&sealed_entry(1, LeafOrigin::Hook)).unwrap();
        let line = std::fs::read_to_string(&pending.path).unwrap();
        let forged = [
            line.replace(" hook ", " daemon "),
            line.replace("dev", "eve"),
            line.split_once(' ').unwrap().1.to_owned(),
            format!("{} {}", "A".repeat(44), line.split_once(' ').unwrap().1),
        ];
        for text in forged {
            std::fs::write(&pending.path, &text).unwrap();
            let found = read_pending_file(dir.path(), Some(&seal(1))).unwrap();
            assert!(found.entries.is_empty() && found.refused.is_some(), "{text}");
        }
        std::fs::write(&pending.path, &line).unwrap();
        assert_eq!(read_pending_file(dir.path(), Some(&seal(1))).unwrap().entries.len(), 1);
        for other in [Some(&seal(2)), None] {
            let found = read_pending_file(dir.path(), other).unwrap();
            assert!(found.entries.is_empty() && found.refused.is_some());
        }
    }

    #[test]
    fn a_link_in_place_of_the_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let seal = PendingSeal::derive(&SoftwareKey::from_seed("test.local/a", &[1; 32]).unwrap()).unwrap();
        std::os::unix::fs::symlink("/proc/self/pagemap", dir.path().join(PENDING_FILE)).unwrap();
        let found = read_pending_file(dir.path(), Some(&seal)).unwrap();
        assert!(found.refused.unwrap().to_string().contains("is a symbolic link"));
        assert!(PendingEntries::open(dir.path(), seal).is_err());
        remove_pending_file(dir.path());
        assert!(read_pending_file(dir.path(), None).unwrap().refused.is_none(), "it is gone");
    }
}
