// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Carries out the plan of a restore.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Timespec, Timestamps};
use rustix::io::Errno;
use rustix::process::geteuid;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::content::{encode_hash, open_content};
use crate::error::UndoError;
use crate::limits::Deadline;
use crate::manifest::{EntryRole, EntryStamp, SavedContent, SavedEntry, SavedRef};
use crate::plan::{ItemIndex, PlannedRestore, RestoreAction, RestorePlan};
use crate::request::{CallReference, TargetChange};
use crate::root_directory::RootDirectory;
use crate::scan::{SPECIAL_MODE_BITS, Scanner, owner_of, stamp_of};
use crate::store::{LoadedSnapshot, RESTORE_REASON, UndoStore};

/// Size of the pieces in which a file is copied.
const COPY_CHUNK_BYTES: usize = 1024 * 1024;

/// Mode of a directory that a restore creates in the directory of a repository, before the account's mask applies.
const NEW_GIT_DIRECTORY_MODE: Mode =
    Mode::RWXU.union(Mode::RGRP).union(Mode::XGRP).union(Mode::ROTH).union(Mode::XOTH);

/// Result of a restore.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RestoreReport {
    /// Items that were created or replaced.
    pub restored: Vec<PlannedRestore>,
    /// Items that were left as they are, each with the reason.
    pub left: Vec<PlannedRestore>,
    /// Snapshot of the files that were replaced; restoring it undoes the undo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
}

impl UndoStore {
    /// Carries out a plan. Items that were changed after the call are replaced only with `force`. The files that are
    /// replaced are saved in a new snapshot first.
    pub fn restore(&self, plan: &RestorePlan, force: bool, now_ms: u64) -> Result<RestoreReport, UndoError> {
        let snapshot = self.load(&plan.snapshot.id)?;
        let (chosen, left): (Vec<_>, Vec<_>) = plan.items.iter().cloned().partition(|planned| {
            let is_forced = force && matches!(planned.action, RestoreAction::Conflict { .. });
            is_forced || matches!(planned.action, RestoreAction::Create | RestoreAction::Replace)
        });
        let mut report = RestoreReport { left, ..RestoreReport::default() };
        report.saved = self.save_current(&snapshot, &chosen, now_ms)?;
        let roots = snapshot.open_roots();
        let mut restored_directories = HashSet::new();
        for planned in chosen {
            let restored = match planned.item {
                ItemIndex::Entry(number) => {
                    let entry = snapshot.entries.get(number).ok_or(Errno::INVAL);
                    entry.map_err(std::io::Error::from).and_then(|entry| {
                        let root = find_root(&roots, entry.root)?;
                        let mut created = Vec::new();
                        let seen = planned.seen.as_ref();
                        let done = restore_entry(root, &snapshot.directory, entry, seen, &mut created);
                        if entry.content == SavedContent::Directory {
                            created.push(entry.path.as_path().to_owned());
                        }
                        restored_directories.extend(created.into_iter().map(|path| (entry.root, path)));
                        done
                    })
                }
                ItemIndex::Ref(number) => {
                    let saved = snapshot.refs.get(number).ok_or(Errno::INVAL);
                    saved
                        .map_err(std::io::Error::from)
                        .and_then(|saved| restore_ref(find_root(&roots, saved.root)?, saved))
                }
            };
            match restored {
                Ok(()) => report.restored.push(planned),
                Err(error) => {
                    let action = RestoreAction::Blocked { reason: error.to_string() };
                    report.left.push(PlannedRestore { action, ..planned });
                }
            }
        }
        // Directories on the way to a restored file are new too, and must not get more permissions than they had.
        let is_restored = |entry: &&SavedEntry| {
            entry.content == SavedContent::Directory
                && restored_directories.contains(&(entry.root, entry.path.as_path().to_owned()))
        };
        let directories: Vec<_> = snapshot.entries.iter().filter(is_restored).collect();
        // Writing into a directory changes its time, and may need a permission that it did not have.
        for entry in directories.into_iter().rev() {
            if let Ok(root) = find_root(&roots, entry.root)
                && let Ok(directory) = root.open_directory(entry.path.as_path())
            {
                let _ = set_attributes(&directory, entry);
            }
        }
        roots.iter().flatten().for_each(RootDirectory::sync_file_system);
        Ok(report)
    }

    /// Saves the files and refs that a restore replaces. Returns `None` if it replaces nothing.
    fn save_current(
        &self,
        snapshot: &LoadedSnapshot,
        chosen: &[PlannedRestore],
        now_ms: u64,
    ) -> Result<Option<String>, UndoError> {
        let replaced: Vec<_> =
            chosen.iter().filter(|planned| planned.action != RestoreAction::Create).collect();
        if replaced.is_empty() {
            return Ok(None);
        }
        let mut limits = self.limits;
        // A user waits for this, not an agent's call.
        limits.max_time = limits.max_time.saturating_mul(30);
        let deadline = Deadline::start(limits.max_time);
        let mut scanner = Scanner::new(&limits, deadline, self.directory.clone());
        let mut refs = Vec::new();
        let current = snapshot.read_current_refs(&snapshot.open_roots(), limits.max_files);
        let failed = UndoError::CannotSaveCurrent;
        for planned in replaced {
            match planned.item {
                ItemIndex::Entry(number) => {
                    let Some(entry) = snapshot.entries.get(number) else { continue };
                    let Some(top) = snapshot.manifest.roots.get(entry.root) else { continue };
                    let root = scanner.add_root(top.as_path()).map_err(failed)?;
                    let change = TargetChange::Overwrite;
                    scanner.add_path(root, entry.path.as_path(), change, entry.role).map_err(failed)?;
                }
                ItemIndex::Ref(number) => {
                    let Some(saved) = snapshot.refs.get(number) else { continue };
                    let Some(top) = snapshot.manifest.roots.get(saved.root) else { continue };
                    let root = scanner.add_root(top.as_path()).map_err(failed)?;
                    let found = current.iter().find(|now| now.root == saved.root && now.name == saved.name);
                    refs.extend(found.map(|now| SavedRef { root, ..now.clone() }));
                }
            }
        }
        let call = CallReference {
            reason: RESTORE_REASON.to_owned(),
            replaces_question: true,
            session: snapshot.manifest.session.clone(),
            ..CallReference::default()
        };
        let project = snapshot.manifest.project.as_path();
        let saved = self.store_scanned(&scanner, refs, project, &call, now_ms).map_err(failed)?;
        Ok(Some(saved.id))
    }
}

fn find_root(roots: &[Option<RootDirectory>], number: usize) -> std::io::Result<&RootDirectory> {
    roots.get(number).and_then(Option::as_ref).ok_or_else(|| Errno::NOENT.into())
}

fn restore_entry(
    root: &RootDirectory,
    directory: &Path,
    entry: &SavedEntry,
    seen: Option<&EntryStamp>,
    created: &mut Vec<PathBuf>,
) -> std::io::Result<()> {
    let path = entry.path.as_path();
    // The directories get their saved modes at the end. Git's own directories are readable for all.
    let mode = if entry.role == EntryRole::Work { Mode::RWXU } else { NEW_GIT_DIRECTORY_MODE };
    if entry.content == SavedContent::Directory {
        root.create_directories(path, mode, created)?;
        return Ok(());
    }
    let name = path.file_name().ok_or(Errno::INVAL)?;
    let parent = root.create_directories(path.parent().ok_or(Errno::INVAL)?, mode, created)?;
    let temporary = TemporaryName::new(&parent);
    match &entry.content {
        SavedContent::Directory => {}
        SavedContent::Symlink { target } => {
            rustix::fs::symlinkat(target.as_path(), &parent, temporary.name.as_str())?;
            let times = modification_times(entry);
            rustix::fs::utimensat(&parent, temporary.name.as_str(), &times, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        SavedContent::File { size, stored, sha256 } => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = rustix::fs::openat(&parent, temporary.name.as_str(), flags, Mode::RUSR | Mode::WUSR)?;
            let mut file = File::from(file);
            let written = copy_content(open_content(directory, *stored, *size)?, &mut file, *size)?;
            if sha256.as_ref().is_some_and(|known| *known != written) {
                return Err(std::io::Error::other("its content was changed after the snapshot"));
            }
            set_attributes(file.as_fd(), entry)?;
        }
    }
    put_in_place(&parent, &temporary, name, entry.role, seen)
}

/// Moves a complete file to its place, if the place is still as it was when the plan was made.
fn put_in_place(
    parent: &OwnedFd,
    temporary: &TemporaryName<'_>,
    name: &OsStr,
    role: EntryRole,
    seen: Option<&EntryStamp>,
) -> std::io::Result<()> {
    let changed = || std::io::Error::other("it was changed while the restore ran");
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => return Err(changed()),
        Ok(found) if seen.is_some_and(|seen| seen.is_same_file(&stamp_of(&found))) => {}
        Ok(_) if role == EntryRole::GitObject => return Ok(()),
        Ok(_) => return Err(changed()),
        Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(rustix::fs::renameat(parent, temporary.name.as_str(), parent, name)?)
}

/// Copies the stored content and returns its hash.
fn copy_content(mut content: impl Read, file: &mut File, size: u64) -> std::io::Result<String> {
    let (mut hash, mut left) = (Sha256::new(), size);
    let mut chunk = vec![0; COPY_CHUNK_BYTES.min(usize::try_from(size).unwrap_or(COPY_CHUNK_BYTES)).max(1)];
    while left > 0 {
        let length = content.read(&mut chunk)?;
        let Some(bytes) = chunk.get(..length).filter(|bytes| !bytes.is_empty()) else {
            return Err(std::io::Error::other("the stored content is incomplete"));
        };
        hash.update(bytes);
        file.write_all(bytes)?;
        left = left.saturating_sub(u64::try_from(length).unwrap_or(u64::MAX));
    }
    Ok(encode_hash(hash.finalize().as_slice()))
}

fn set_attributes(file: impl AsFd, entry: &SavedEntry) -> std::io::Result<()> {
    let found = rustix::fs::fstat(&file)?;
    let is_own = entry.owner == Some(owner_of(&found)) && found.st_uid == geteuid().as_raw();
    // A program that ran with the rights of its owner must not run with those of another account.
    let mode = if is_own { entry.mode } else { entry.mode & !SPECIAL_MODE_BITS };
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    rustix::fs::futimens(&file, &modification_times(entry))?;
    Ok(())
}

fn modification_times(entry: &SavedEntry) -> Timestamps {
    let time = Timespec { tv_sec: entry.modified.0, tv_nsec: entry.modified.1.into() };
    Timestamps { last_access: time, last_modification: time }
}

/// Writes a ref with the lock file that git itself uses.
fn restore_ref(common: &RootDirectory, saved: &SavedRef) -> std::io::Result<()> {
    let path = Path::new(&saved.name);
    if !path.starts_with("refs") {
        return Err(Errno::INVAL.into());
    }
    let name = path.file_name().ok_or(Errno::INVAL)?;
    let parent = path.parent().ok_or(Errno::INVAL)?;
    let parent = common.create_directories(parent, NEW_GIT_DIRECTORY_MODE, &mut Vec::new())?;
    let mut lock = name.to_owned();
    lock.push(".lock");
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&parent, &lock, flags, Mode::from_raw_mode(0o644));
    let mut file = File::from(file.map_err(|error| match error {
        Errno::EXIST => std::io::Error::other("another git process has locked the ref"),
        error => error.into(),
    })?);
    let written = file.write_all(format!("{}\n", saved.value).as_bytes()).and_then(|()| file.sync_data());
    let moved = written.and_then(|()| Ok(rustix::fs::renameat(&parent, &lock, &parent, name)?));
    if moved.is_err() {
        let _ = rustix::fs::unlinkat(&parent, &lock, AtFlags::empty());
    }
    moved
}

/// Name of a file that is complete before it is moved to its place. It is removed if that does not happen.
struct TemporaryName<'p> {
    parent: &'p OwnedFd,
    name: String,
}

impl<'p> TemporaryName<'p> {
    fn new(parent: &'p OwnedFd) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self { parent, name: format!(".tenterhook-undo-{}-{number}", std::process::id()) }
    }
}

impl Drop for TemporaryName<'_> {
    fn drop(&mut self) {
        // After the move there is no such file.
        let _ = rustix::fs::unlinkat(self.parent, self.name.as_str(), AtFlags::empty());
    }
}
