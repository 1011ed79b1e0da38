// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the current state of the paths of a snapshot.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use crate::content::open_content;
use crate::git::{MAX_INDEX_BYTES, hash_index};
use crate::manifest::{EntryRole, EntryStamp, SavedContent, SavedEntry, StorageMethod};
use crate::root_directory::RootDirectory;
use crate::scan::{permissions_of, read_link, stamp_of};

/// Size of the buffers for comparing content.
const COMPARE_CHUNK_BYTES: usize = 256 * 1024;

/// Current state of a saved path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CurrentState {
    /// The path does not exist.
    Missing,
    /// The path has the saved type, content and permissions.
    Same,
    /// The path has the saved type, but other content or permissions.
    Different(EntryStamp),
    /// The path cannot be replaced, for this reason.
    Blocked(&'static str),
}

/// Whether the stored content of an entry may have been changed through another name of the file, without a way to
/// detect this.
pub(crate) fn is_unverified(entry: &SavedEntry) -> bool {
    entry.role == EntryRole::Work
        && matches!(
            entry.content,
            SavedContent::File { stored: StorageMethod::HardLinked { .. }, sha256: None, .. }
        )
}

/// Why the stored content of an entry cannot be used.
pub(crate) fn find_damage(directory: &Path, entry: &SavedEntry) -> Option<&'static str> {
    let SavedContent::File { size, stored, .. } = entry.content else { return None };
    let Ok(content) = open_content(directory, stored, size) else { return Some("its content is missing") };
    let Ok(found) = content.get_ref().metadata() else { return Some("its content is unreadable") };
    match stored {
        StorageMethod::Packed { offset, .. } if found.len() < offset.saturating_add(size) => {
            Some("its content is incomplete")
        }
        StorageMethod::Packed { .. } => None,
        _ if found.len() < size => Some("its content is incomplete"),
        StorageMethod::HardLinked { .. } if entry.role == EntryRole::Work => {
            let now = stamp_of_file(content.get_ref());
            let is_same = now.is_some_and(|now| now.size == size && now.modified == entry.modified);
            (!is_same).then_some("it was written in place after the snapshot")
        }
        _ => None,
    }
}

fn stamp_of_file(file: &File) -> Option<EntryStamp> {
    rustix::fs::fstat(file).ok().map(|found| stamp_of(&found))
}

/// Compares a saved entry with the path in its place.
pub(crate) fn read_current(
    root: Option<&RootDirectory>,
    directory: &Path,
    entry: &SavedEntry,
) -> CurrentState {
    let Some(root) = root else { return CurrentState::Blocked("its root directory does not exist") };
    let path = entry.path.as_path();
    let found = match root.stat(path) {
        Ok(Some(found)) => found,
        Ok(None) => return find_blocking_parent(root, path),
        Err(Errno::LOOP) => return CurrentState::Blocked("a directory on the way is now a link"),
        Err(_) => return CurrentState::Blocked("it cannot be read"),
    };
    let kind = FileType::from_raw_mode(found.st_mode);
    let stamp = read_stamp(root, entry, &found);
    let is_same = match (&entry.content, kind) {
        (SavedContent::Directory, FileType::Directory) => true,
        (SavedContent::Directory, _) => {
            return CurrentState::Blocked("a file is in the place of the directory");
        }
        (_, FileType::Directory) => return CurrentState::Blocked("a directory is in its place"),
        (SavedContent::Symlink { target }, FileType::Symlink) => {
            read_link(root, path).is_ok_and(|link| link == target.as_path())
        }
        (SavedContent::File { .. }, FileType::RegularFile) if entry.role == EntryRole::GitObject => true,
        (SavedContent::File { size, stored, .. }, FileType::RegularFile) if stamp.index_hash.is_some() => {
            let mut bytes = Vec::new();
            let saved =
                open_content(directory, *stored, *size).and_then(|mut saved| saved.read_to_end(&mut bytes));
            saved.is_ok() && hash_index(&bytes) == stamp.index_hash
        }
        (SavedContent::File { size, stored, .. }, FileType::RegularFile) => {
            let is_log = entry.role == EntryRole::GitLog;
            is_same_content(root, path, &found, directory, (*size, *stored), is_log)
        }
        (_, FileType::RegularFile | FileType::Symlink) => false,
        _ => return CurrentState::Blocked("a special file is in its place"),
    };
    let has_mode =
        kind == FileType::Symlink || entry.role != EntryRole::Work || permissions_of(&found) == entry.mode;
    if is_same && has_mode { CurrentState::Same } else { CurrentState::Different(stamp) }
}

/// Returns the stamp of a path, with the hash of its entries if it is a git index.
pub(crate) fn read_stamp(root: &RootDirectory, entry: &SavedEntry, found: &Stat) -> EntryStamp {
    let stamp = stamp_of(found);
    if !entry.is_git_index() || stamp.size > MAX_INDEX_BYTES {
        return stamp;
    }
    let mut bytes = Vec::new();
    let read = root.open_file(entry.path.as_path()).map_err(std::io::Error::from);
    let read = read.and_then(|file| file.take(MAX_INDEX_BYTES).read_to_end(&mut bytes));
    EntryStamp { index_hash: read.ok().and_then(|_| hash_index(&bytes)), ..stamp }
}

/// Decides between a path that is missing and a path that cannot be created.
fn find_blocking_parent(root: &RootDirectory, path: &Path) -> CurrentState {
    for above in path.ancestors().skip(1) {
        match root.stat(above) {
            Ok(Some(found)) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => {
                return CurrentState::Missing;
            }
            Ok(Some(_)) => return CurrentState::Blocked("a directory on the way is now a file or link"),
            Ok(None) => {}
            Err(_) => return CurrentState::Blocked("a directory on the way cannot be read"),
        }
    }
    CurrentState::Missing
}

fn is_same_content(
    root: &RootDirectory,
    path: &Path,
    found: &Stat,
    directory: &Path,
    (size, stored): (u64, StorageMethod),
    is_prefix_enough: bool,
) -> bool {
    let length = stamp_of(found).size;
    if if is_prefix_enough { length < size } else { length != size } {
        return false;
    }
    let (Ok(current), Ok(content)) = (root.open_file(path), open_content(directory, stored, size)) else {
        return false;
    };
    is_equal(current.take(size), content).unwrap_or(false)
}

fn is_equal(one: impl Read, other: impl Read) -> std::io::Result<bool> {
    let mut one = BufReader::with_capacity(COMPARE_CHUNK_BYTES, one);
    let mut other = BufReader::with_capacity(COMPARE_CHUNK_BYTES, other);
    let (mut left, mut right) = (vec![0; COMPARE_CHUNK_BYTES], vec![0; COMPARE_CHUNK_BYTES]);
    loop {
        let length = one.read(&mut left)?;
        let (Some(left), Some(right)) = (left.get(..length), right.get_mut(..length)) else {
            return Ok(false);
        };
        if left.is_empty() {
            return Ok(other.read(&mut [0])? == 0);
        }
        if other.read_exact(right).is_err() || left != right {
            return Ok(false);
        }
    }
}
