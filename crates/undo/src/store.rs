// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The directory of all snapshots.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, Mode, OFlags};
use serde::{Deserialize, Serialize};
use tenterhook_files::{FileClass, read_bytes};

use crate::content::{ContentWriter, create_new};
use crate::current::read_stamp;
use crate::error::{SnapshotError, UndoError};
use crate::git;
use crate::limits::{Deadline, UndoLimits};
use crate::manifest::{
    EntryRole, MANIFEST_FORMAT, SavedContent, SavedEntry, SavedRef, SnapshotManifest, StateAfterCall,
};
use crate::request::{CallReference, SnapshotRequest};
use crate::root_directory::RootDirectory;
use crate::scan::Scanner;
use crate::stored_path::StoredPath;

const MANIFEST_FILE: &str = "manifest.json";
const ENTRIES_FILE: &str = "entries.jsonl";
const AFTER_FILE: &str = "after.json";

/// Ending of a snapshot's directory while it is written.
pub(crate) const UNFINISHED_ENDING: &str = ".tmp";

/// Maximum size of a manifest.
const MAX_MANIFEST_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum size of the file with the state after a call.
const MAX_STATE_BYTES: u64 = 256 * 1024 * 1024;

/// Attempts to create the directory of a snapshot.
const MAX_CREATE_ATTEMPTS: usize = 16;

/// Number of recent snapshots among which the one of a finished call is searched.
const RECENT_SNAPSHOTS: usize = 16;

/// Stores snapshots in a directory that guarded agents cannot change.
#[derive(Debug, Clone)]
pub struct UndoStore {
    pub(crate) directory: PathBuf,
    pub(crate) limits: UndoLimits,
}

/// Which snapshots are listed. An empty filter selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SnapshotFilter {
    /// Only snapshots of this session.
    pub session: Option<String>,
    /// Only the snapshot with this id, or with this event.
    pub id_or_event: Option<String>,
}

/// Which snapshots are undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoSelection {
    /// The newest snapshot of a call.
    Last,
    /// The snapshot with this id, or of this event.
    IdOrEvent(String),
    /// All snapshots of the calls of a session.
    Session(String),
}

/// Reason of a snapshot that was taken before a restore.
pub(crate) const RESTORE_REASON: &str = "restore";

/// A snapshot with all its entries.
#[derive(Debug)]
pub(crate) struct LoadedSnapshot {
    pub(crate) manifest: SnapshotManifest,
    pub(crate) entries: Vec<SavedEntry>,
    pub(crate) refs: Vec<SavedRef>,
    pub(crate) after: Option<StateAfterCall>,
    pub(crate) directory: PathBuf,
}

/// One line of the file with the entries.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SnapshotLine {
    Entry(SavedEntry),
    Ref(SavedRef),
}

/// The directory of a snapshot that is being written. It is removed unless the snapshot is finished.
struct UnfinishedSnapshot {
    path: PathBuf,
    is_finished: bool,
    /// Locked while this process writes, so that no other process removes the directory.
    _lock: OwnedFd,
}

// === impl UndoStore ===

impl UndoStore {
    /// Opens the store in a directory, which is created if it does not exist. Only the owner can enter it.
    pub fn open(directory: &Path, limits: UndoLimits) -> Result<Self, UndoError> {
        let failed = |error| UndoError::io(directory, error);
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
        let directory = directory.canonicalize().map_err(failed)?;
        let found = std::fs::symlink_metadata(&directory).map_err(failed)?;
        if found.uid() != rustix::process::geteuid().as_raw() || found.mode() & 0o077 != 0 {
            let refused = std::io::Error::other("the directory is not private");
            return Err(UndoError::io(&directory, refused));
        }
        Ok(Self { directory, limits })
    }

    /// Saves what a call may destroy. Nothing is left behind if this fails.
    pub fn take_snapshot(&self, request: &SnapshotRequest) -> Result<SnapshotManifest, SnapshotError> {
        let (scanner, refs, project) = self.scan_request(request)?;
        self.store_scanned(&scanner, refs, &project, &request.call, request.now_ms)
    }

    /// Saves what a call may destroy, like [`Self::take_snapshot`]. Returns `None` if the files of the call do not exist.
    pub fn take_snapshot_of_existing(
        &self,
        request: &SnapshotRequest,
    ) -> Result<Option<SnapshotManifest>, SnapshotError> {
        let (scanner, refs, project) = self.scan_request(request)?;
        if scanner.entries.iter().all(|entry| entry.role != EntryRole::Work) {
            return Ok(None);
        }
        self.store_scanned(&scanner, refs, &project, &request.call, request.now_ms).map(Some)
    }

    /// Lists what has to be saved, and returns it with the refs of the repositories and the path of the project.
    fn scan_request(
        &self,
        request: &SnapshotRequest,
    ) -> Result<(Scanner<'_>, Vec<SavedRef>, PathBuf), SnapshotError> {
        let deadline = Deadline::start(self.limits.max_time);
        let project = request.project.canonicalize();
        let project = project.map_err(|error| SnapshotError::unreadable(&request.project, error))?;
        let mut scanner = Scanner::new(&self.limits, deadline, self.directory.clone());
        let mut refs = Vec::new();
        for target in &request.files {
            scanner.add_target(&project, target)?;
        }
        for target in &request.git {
            refs.extend(git::scan_repository(&mut scanner, &project, target)?);
        }
        Ok((scanner, refs, project))
    }

    /// Writes what was scanned as a new snapshot.
    pub(crate) fn store_scanned(
        &self,
        scanner: &Scanner<'_>,
        mut refs: Vec<SavedRef>,
        project: &Path,
        call: &CallReference,
        now_ms: u64,
    ) -> Result<SnapshotManifest, SnapshotError> {
        self.remove_unfinished();
        self.check_free_space(scanner.bytes)?;
        refs.sort_unstable();
        refs.dedup();
        let (id, mut unfinished) = self.create_unfinished(now_ms)?;
        let writer = ContentWriter::new(&unfinished.path, &scanner.roots, &self.limits, scanner.deadline)?;
        let entries = writer.store(&scanner.entries)?;
        let size = |entry: &SavedEntry| match entry.content {
            SavedContent::File { size, .. } => size,
            _ => 0,
        };
        let manifest = SnapshotManifest {
            format: MANIFEST_FORMAT,
            id,
            taken_ms: now_ms,
            reason: call.reason.clone(),
            session: call.session.clone(),
            event: call.event.clone(),
            tool_call: call.tool_call.clone(),
            replaces_question: call.replaces_question,
            project: StoredPath::from(project),
            roots: scanner.roots.iter().map(|root| StoredPath::from(root.path())).collect(),
            entries: entries.len(),
            refs: refs.len(),
            bytes: entries.iter().map(size).sum(),
            skipped: scanner.skipped.clone(),
        };
        write_lines(&unfinished.path.join(ENTRIES_FILE), entries, refs)?;
        write_json(&unfinished.path.join(MANIFEST_FILE), &manifest)?;
        sync_directory(&unfinished.path)?;
        scanner.deadline.check()?;
        std::fs::rename(&unfinished.path, self.directory.join(&manifest.id))
            .map_err(SnapshotError::storage)?;
        unfinished.is_finished = true;
        sync_directory(&self.directory)?;
        self.prune_if_due(&manifest, now_ms);
        Ok(manifest)
    }

    fn create_unfinished(&self, now_ms: u64) -> Result<(String, UnfinishedSnapshot), SnapshotError> {
        let mut last_error = rustix::io::Errno::NOENT;
        for _ in 0..MAX_CREATE_ATTEMPTS {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let id = format!("{now_ms:013}-{}-{number}", std::process::id());
            let path = self.directory.join(format!("{id}{UNFINISHED_ENDING}"));
            rustix::fs::mkdir(&path, Mode::RWXU).map_err(SnapshotError::storage)?;
            // Before the lock is taken, another snapshot may remove the directory because no process writes to it.
            match lock_directory(&path) {
                Ok(lock) if path.exists() => {
                    return Ok((id, UnfinishedSnapshot { path, is_finished: false, _lock: lock }));
                }
                Ok(_) => {}
                Err(error) => last_error = error,
            }
        }
        Err(SnapshotError::storage(last_error))
    }

    fn check_free_space(&self, needed: u64) -> Result<(), SnapshotError> {
        let found = rustix::fs::statvfs(&self.directory).map_err(SnapshotError::storage)?;
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        if free < needed.saturating_add(self.limits.min_free_bytes) {
            return Err(SnapshotError::StorageFull);
        }
        Ok(())
    }

    /// Notes the state of the saved paths after a call, so that later changes are recognised as newer work. Returns
    /// the id of the snapshot; `None` if none was taken for this call.
    pub fn note_call_end(&self, session: Option<&str>, tool_call: &str) -> Result<Option<String>, UndoError> {
        for id in self.list_ids()?.into_iter().take(RECENT_SNAPSHOTS) {
            let directory = self.directory.join(&id);
            if directory.join(AFTER_FILE).exists() {
                continue;
            }
            let Ok(manifest) = self.read_manifest(&id) else { continue };
            if manifest.tool_call.as_deref() != Some(tool_call) || manifest.session.as_deref() != session {
                continue;
            }
            self.note_state_after(&id)?;
            return Ok(Some(id));
        }
        Ok(None)
    }

    /// Notes the current state of the paths of a snapshot as the state after its call.
    pub fn note_state_after(&self, id: &str) -> Result<(), UndoError> {
        let snapshot = self.load(id)?;
        let roots = snapshot.open_roots();
        let stamp = |entry: &SavedEntry| {
            let root = roots.get(entry.root)?.as_ref()?;
            root.stat(entry.path.as_path()).ok()?.map(|found| read_stamp(root, entry, &found))
        };
        let entries = snapshot.entries.iter().map(stamp).collect();
        let refs = snapshot.read_current_refs(&roots, self.limits.max_files);
        let after = StateAfterCall { entries, refs };
        let path = snapshot.directory.join(AFTER_FILE);
        let temporary = snapshot.directory.join(format!("{AFTER_FILE}{UNFINISHED_ENDING}"));
        let written = serde_json::to_vec(&after).map_err(std::io::Error::other);
        let written = written.and_then(|bytes| std::fs::write(&temporary, bytes));
        written.and_then(|()| std::fs::rename(&temporary, &path)).map_err(|error| UndoError::io(&path, error))
    }

    /// Returns the snapshots that match a filter, newest first. Damaged snapshots are left out.
    pub fn list(&self, filter: &SnapshotFilter) -> Result<Vec<SnapshotManifest>, UndoError> {
        let manifests = self.list_ids()?.into_iter().filter_map(|id| self.read_manifest(&id).ok());
        Ok(manifests.filter(|manifest| filter.selects(manifest)).collect())
    }

    /// Returns the snapshots to undo, newest first, which is the order in which they have to be restored. Snapshots that
    /// were taken before a restore are selected only by their id.
    pub fn select(&self, selection: &UndoSelection) -> Result<Vec<SnapshotManifest>, UndoError> {
        let of_calls = |filter: &SnapshotFilter| {
            let mut found = self.list(filter)?;
            found.retain(|manifest| manifest.reason != RESTORE_REASON);
            Ok::<_, UndoError>(found)
        };
        let (found, name) = match selection {
            UndoSelection::Last => {
                let mut found = of_calls(&SnapshotFilter::default())?;
                found.truncate(1);
                (found, "last")
            }
            UndoSelection::IdOrEvent(id) => {
                let filter = SnapshotFilter { id_or_event: Some(id.clone()), ..SnapshotFilter::default() };
                (self.list(&filter)?, id.as_str())
            }
            UndoSelection::Session(session) => {
                let filter = SnapshotFilter { session: Some(session.clone()), ..SnapshotFilter::default() };
                (of_calls(&filter)?, session.as_str())
            }
        };
        if found.is_empty() {
            return Err(UndoError::UnknownSnapshot(name.to_owned()));
        }
        Ok(found)
    }

    /// Returns the ids of all snapshots, newest first.
    pub(crate) fn list_ids(&self) -> Result<Vec<String>, UndoError> {
        let failed = |error| UndoError::io(&self.directory, error);
        let mut ids = Vec::new();
        for entry in std::fs::read_dir(&self.directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            if let Some(id) = name.to_str().filter(|id| is_id(id)) {
                ids.push(id.to_owned());
            }
        }
        ids.sort_unstable_by(|one, other| other.cmp(one));
        Ok(ids)
    }

    pub(crate) fn read_manifest(&self, id: &str) -> Result<SnapshotManifest, UndoError> {
        if !is_id(id) {
            return Err(UndoError::UnknownSnapshot(id.to_owned()));
        }
        let path = self.directory.join(id).join(MANIFEST_FILE);
        let bytes = read_bytes(&path, FileClass::State, MAX_MANIFEST_BYTES);
        let bytes = bytes.map_err(|error| UndoError::io(&path, error))?;
        let bytes = bytes.ok_or_else(|| UndoError::UnknownSnapshot(id.to_owned()))?;
        let manifest: SnapshotManifest =
            serde_json::from_slice(&bytes).map_err(|error| UndoError::invalid(id, &error))?;
        if manifest.format != MANIFEST_FORMAT || manifest.id != id {
            return Err(UndoError::invalid(id, &"unknown format"));
        }
        Ok(manifest)
    }

    /// Reads a snapshot with all its entries.
    pub(crate) fn load(&self, id: &str) -> Result<LoadedSnapshot, UndoError> {
        let manifest = self.read_manifest(id)?;
        let directory = self.directory.join(id);
        let path = directory.join(ENTRIES_FILE);
        let file =
            tenterhook_files::open(&path, FileClass::State).map_err(|error| UndoError::io(&path, error))?;
        let file = file.ok_or_else(|| UndoError::invalid(id, &"entries are missing"))?;
        let (mut entries, mut refs) = (Vec::new(), Vec::new());
        for line in BufReader::new(file).lines() {
            let line = line.map_err(|error| UndoError::io(&path, error))?;
            match serde_json::from_str(&line).map_err(|error| UndoError::invalid(id, &error))? {
                SnapshotLine::Entry(entry) => entries.push(entry),
                SnapshotLine::Ref(saved) => refs.push(saved),
            }
        }
        if (entries.len(), refs.len()) != (manifest.entries, manifest.refs) {
            return Err(UndoError::invalid(id, &"entries are missing"));
        }
        let after = read_bytes(&directory.join(AFTER_FILE), FileClass::State, MAX_STATE_BYTES).ok().flatten();
        let after = after.and_then(|bytes| serde_json::from_slice::<StateAfterCall>(&bytes).ok());
        let after = after.filter(|after| after.entries.len() == entries.len());
        Ok(LoadedSnapshot { manifest, entries, refs, after, directory })
    }
}

// === impl SnapshotFilter ===

impl SnapshotFilter {
    fn selects(&self, manifest: &SnapshotManifest) -> bool {
        let same = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
        };
        same(&self.session, manifest.session.as_deref())
            && (same(&self.id_or_event, Some(&manifest.id))
                || same(&self.id_or_event, manifest.event.as_deref()))
    }
}

// === impl LoadedSnapshot ===

impl LoadedSnapshot {
    /// Opens the roots of the snapshot; `None` for a root that does not exist or was replaced by a link.
    pub(crate) fn open_roots(&self) -> Vec<Option<RootDirectory>> {
        self.manifest.roots.iter().map(|root| RootDirectory::open(root.as_path()).ok()).collect()
    }

    /// Reads the current refs of all repositories of the snapshot.
    pub(crate) fn read_current_refs(&self, roots: &[Option<RootDirectory>], limit: usize) -> Vec<SavedRef> {
        let mut numbers: Vec<_> = self.refs.iter().map(|saved| saved.root).collect();
        numbers.dedup();
        let read = |number: usize| git::read_refs(roots.get(number)?.as_ref()?, number, limit).ok();
        numbers.into_iter().filter_map(read).flatten().collect()
    }
}

// === impl UnfinishedSnapshot ===

impl Drop for UnfinishedSnapshot {
    fn drop(&mut self) {
        if !self.is_finished {
            // The next snapshot tries again if this fails.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Locks a directory against other processes; fails if it is locked.
pub(crate) fn lock_directory(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = rustix::fs::open(path, flags, Mode::empty())?;
    rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
    Ok(directory)
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

fn write_lines(path: &Path, entries: Vec<SavedEntry>, refs: Vec<SavedRef>) -> Result<(), SnapshotError> {
    let mut writer = BufWriter::new(create_new(path)?);
    let entries = entries.into_iter().map(SnapshotLine::Entry);
    for line in entries.chain(refs.into_iter().map(SnapshotLine::Ref)) {
        serde_json::to_writer(&mut writer, &line).map_err(SnapshotError::storage)?;
        writer.write_all(b"\n").map_err(SnapshotError::storage)?;
    }
    let file = writer.into_inner().map_err(|error| SnapshotError::storage(error.into_error()))?;
    file.sync_data().map_err(SnapshotError::storage)
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), SnapshotError> {
    let bytes = serde_json::to_vec(value).map_err(SnapshotError::storage)?;
    let mut file = create_new(path)?;
    file.write_all(&bytes).map_err(SnapshotError::storage)?;
    file.sync_data().map_err(SnapshotError::storage)
}

fn sync_directory(path: &Path) -> Result<(), SnapshotError> {
    let directory =
        rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    directory
        .map_err(std::io::Error::from)
        .and_then(|directory| File::from(directory).sync_all())
        .map_err(SnapshotError::storage)
}
