// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Relaxed appends: *sequenced* when a line of them is in a file, which survives the end of this process,
//! and *integrated* together with others at most 25 ms later, in one commit that is on the disk.
//!
//! The file is only read by whoever opens the ledger after a run that did not end in order. Events that
//! were integrated meanwhile are known by their ids, so nothing comes in twice. Each line carries a seal
//! that only the holder of the signing key can make; a line without it is refused, and a record says so. A
//! ledger that was kept durably has no such lines.

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

use super::append::Writer;
use super::error::{AppendError, OpenError};
use super::ledger::Appended;
use crate::entry::{Body, Sealed};
use crate::hash::{base64, from_base64};
use crate::record::{Kind, MAX_ENVELOPE, Origin};
use crate::sign::{SignError, Signer};

/// The file in the ledger's directory.
const PENDING: &str = "ledger.pending";
/// Lines that nobody can read are kept here.
const REFUSED: &str = "ledger.pending.refused";

/// More than this is not kept waiting, in bytes.
const MOST: usize = 4 << 20;
/// No pending file is longer: what waits, and the longest line.
const MAX_PENDING_BYTES: u64 = 128 << 20;

/// What is sequenced and not integrated yet.
#[derive(Debug)]
pub(crate) struct Pending {
    file: File,
    path: PathBuf,
    seal: PendingSeal,
    /// A line was cut short by a full disk: the next one begins on a line of its own.
    torn: bool,
    entries: Vec<Sealed>,
    /// How long their lines are together.
    bytes: usize,
    ids: HashSet<EventId>,
    /// When the first of them must be integrated.
    pub(super) due: Option<Instant>,
}

/// Seals lines of the file.
#[derive(Debug)]
pub(crate) struct PendingSeal(hmac::Key);

/// What the last run sequenced and did not integrate.
#[derive(Debug, Default)]
pub(crate) struct LeftBehind {
    pub(crate) entries: Vec<Sealed>,
    pub(crate) refused: Option<RefusedLines>,
}

/// Lines of the file that are not imported.
#[derive(Debug)]
pub(crate) struct RefusedLines {
    lines: usize,
    reason: String,
    /// Hash of their text, which is kept beside.
    sha256: Option<String>,
}

// === impl PendingSeal ===

impl PendingSeal {
    /// The seal of a log. Its key is derived from a signature, which only the holder of the signing key can
    /// make.
    pub(crate) fn of(signer: &dyn Signer) -> Result<Self, SignError> {
        let text = format!("tenterhook-pending/1\n{}\n", signer.key());
        let signature = signer.sign(text.as_bytes())?;
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &signature)))
    }

    fn tag(&self, text: &str) -> String {
        base64(hmac::sign(&self.0, text.as_bytes()).as_ref())
    }

    fn is_tag(&self, text: &str, tag: &str) -> bool {
        from_base64(tag).is_some_and(|tag| hmac::verify(&self.0, text.as_bytes(), &tag).is_ok())
    }
}

// === impl RefusedLines ===

impl fmt::Display for RefusedLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lines, reason, sha256 } = self;
        match sha256 {
            Some(_) => {
                let s = if *lines == 1 { "" } else { "s" };
                write!(f, "refused {lines} line{s} of `{PENDING}`, kept in `{REFUSED}`: {reason}")
            }
            None => write!(f, "refused `{PENDING}`: {reason}"),
        }
    }
}

// === impl Pending ===

impl Pending {
    pub(crate) fn open(dir: &Path, seal: PendingSeal) -> Result<Self, OpenError> {
        let path = dir.join(PENDING);
        let opened = tenterhook_files::open_state_for_writing(&path, OpenOptions::new().append(true));
        let file = opened.map_err(|source| OpenError::Io { path: path.clone(), source })?;
        let (entries, ids) = (Vec::new(), HashSet::new());
        Ok(Self { file, path, seal, torn: false, entries, bytes: 0, ids, due: None })
    }

    /// Another key signs from here on. Nothing waits: the change of keys came after all of it.
    pub(super) fn reseal(&mut self, seal: PendingSeal) {
        self.seal = seal;
    }

    fn put(&mut self, entry: &Sealed) -> Result<(), AppendError> {
        let failed = |error: &dyn std::fmt::Display| AppendError::Entry(error.to_string());
        let text = entry.to_spool().map_err(|error| failed(&error))?;
        let break_first = if self.torn { "\n" } else { "" };
        let sealed = format!("{} {text}", entry.origin.word());
        let line = format!("{break_first}{} {sealed}\n", self.seal.tag(&sealed));
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

/// What the last run sequenced and did not integrate. Without a seal the ledger was kept durably, and no
/// line of the file is its own.
pub(crate) fn left_behind(dir: &Path, seal: Option<&PendingSeal>) -> Result<LeftBehind, OpenError> {
    let path = dir.join(PENDING);
    let bytes = match read_bytes(&path, FileClass::State, MAX_PENDING_BYTES) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(LeftBehind::default()),
        Err(error) if FileRefused::reason_of(&error).is_some() => {
            let refused = RefusedLines { lines: 0, reason: error.to_string(), sha256: None };
            return Ok(LeftBehind { entries: Vec::new(), refused: Some(refused) });
        }
        Err(source) => return Err(OpenError::Io { path, source }),
    };
    let text = String::from_utf8_lossy(&bytes);
    let (mut entries, mut refused) = (Vec::new(), String::new());
    for line in text.lines().filter(|line| !line.is_empty()) {
        match seal.and_then(|seal| read(line, seal)) {
            Some(entry) => entries.push(entry),
            None => refused += &format!("{line}\n"),
        }
    }
    if refused.is_empty() {
        return Ok(LeftBehind { entries, refused: None });
    }
    let beside = dir.join(REFUSED);
    let opened = tenterhook_files::open_state_for_writing(&beside, OpenOptions::new().append(true));
    opened
        .and_then(|mut file| file.write_all(refused.as_bytes()))
        .map_err(|source| OpenError::Io { path: beside, source })?;
    let reason = match seal {
        Some(_) => "the seal is missing or does not match, or the line was cut short",
        None => "the ledger was kept durably, so it did not write them",
    };
    let refused = RefusedLines {
        lines: refused.lines().count(),
        reason: reason.to_owned(),
        sha256: Some(base64(&Sha256::digest(refused.as_bytes()))),
    };
    Ok(LeftBehind { entries, refused: Some(refused) })
}

/// A line: its seal, who brought the entry, and the entry.
fn read(line: &str, seal: &PendingSeal) -> Option<Sealed> {
    let (tag, sealed) = line.split_once(' ')?;
    if !seal.is_tag(sealed, tag) {
        return None;
    }
    let (word, text) = sealed.split_once(' ')?;
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

    /// Records that lines of the file were refused.
    pub(crate) fn record_refused(&mut self, refused: &RefusedLines, who: &str) -> Result<(), AppendError> {
        let RefusedLines { lines, reason, sha256 } = refused;
        let body = Body {
            what: Some("pending-refused".to_owned()),
            who: Some(who.to_owned()),
            detail: Some(json!({"file": PENDING, "lines": lines, "reason": reason, "sha256": sha256})),
            ..Body::default()
        };
        self.own(Kind::Change, body, |_, _| Ok(())).map(drop)
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
    use crate::sign::SoftwareKey;

    fn sealed(number: u64, origin: Origin) -> Sealed {
        let sealing = Sealing {
            key: RedactionKey::new([0; 32]),
            keep_raw: false,
            max_payload: 1000,
            keep_model_text: false,
        };
        let (id, ts) = (EventId::from_parts(1, number.into()), tenterhook_event::Timestamp::from_unix_ms(1));
        let entry = Entry::change(id, ts, "mode", "dev", serde_json::Value::Null, &|_| Vec::new());
        entry.from(origin).seal(&sealing).unwrap()
    }

    #[test]
    fn entries_come_back_as_they_went_in_also_behind_a_line_that_was_cut_short() {
        let dir = tempfile::tempdir().unwrap();
        let seal = || PendingSeal::of(&SoftwareKey::from_seed("test.local/a", &[1; 32]).unwrap()).unwrap();
        let mut pending = Pending::open(dir.path(), seal()).unwrap();
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
        let LeftBehind { entries: found, refused } = left_behind(dir.path(), Some(&seal())).unwrap();
        assert_eq!(found.split_last().unwrap(), (&last, &entries[..]));
        assert!(refused.unwrap().to_string().starts_with("refused 1 line of "));
    }

    #[test]
    fn a_line_is_of_one_entry_one_origin_and_one_key() {
        let dir = tempfile::tempdir().unwrap();
        let seal = |seed: u8| {
            PendingSeal::of(&SoftwareKey::from_seed("test.local/a", &[seed; 32]).unwrap()).unwrap()
        };
        let mut pending = Pending::open(dir.path(), seal(1)).unwrap();
        pending.put(&sealed(1, Origin::Hook)).unwrap();
        let line = std::fs::read_to_string(&pending.path).unwrap();
        let forged = [
            line.replace(" hook ", " daemon "),
            line.replace("dev", "eve"),
            line.split_once(' ').unwrap().1.to_owned(),
            format!("{} {}", "A".repeat(44), line.split_once(' ').unwrap().1),
        ];
        for text in forged {
            std::fs::write(&pending.path, &text).unwrap();
            let found = left_behind(dir.path(), Some(&seal(1))).unwrap();
            assert!(found.entries.is_empty() && found.refused.is_some(), "{text}");
        }
        std::fs::write(&pending.path, &line).unwrap();
        assert_eq!(left_behind(dir.path(), Some(&seal(1))).unwrap().entries.len(), 1);
        for other in [Some(&seal(2)), None] {
            let found = left_behind(dir.path(), other).unwrap();
            assert!(found.entries.is_empty() && found.refused.is_some());
        }
    }

    #[test]
    fn a_pipe_or_a_link_in_the_place_of_the_file_is_refused_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let seal = PendingSeal::of(&SoftwareKey::from_seed("test.local/a", &[1; 32]).unwrap()).unwrap();
        std::os::unix::fs::symlink("/proc/self/pagemap", dir.path().join(PENDING)).unwrap();
        let found = left_behind(dir.path(), Some(&seal)).unwrap();
        assert!(found.refused.unwrap().to_string().contains("is a symbolic link"));
        assert!(Pending::open(dir.path(), seal).is_err());
        forget(dir.path());
        assert!(left_behind(dir.path(), None).unwrap().refused.is_none(), "it is gone");
    }
}
