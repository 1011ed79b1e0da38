// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Stores the content of the scanned files in the directory of a snapshot.
//!
//! Small files are copied into a few pack files, because one `fsync` per pack is much cheaper than one per file.
//! Larger files are linked if the call deletes them, share their blocks with the original if the file system can do
//! that, and are copied otherwise.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::error::SnapshotError;
use crate::limits::{Deadline, UndoLimits};
use crate::manifest::{EntryRole, FileTime, SavedContent, SavedEntry, StorageMethod};
use crate::request::TargetChange;
use crate::root_directory::RootDirectory;
use crate::scan::{ScannedEntry, ScannedKind, device_of, stamp_of};
use crate::stored_path::StoredPath;

/// Maximum size of a file in a pack.
const MAX_PACKED_BYTES: u64 = 256 * 1024;
/// Size up to which a deleted file is packed: reading it takes as long as linking it, and a copy cannot change.
const MAX_PACKED_DELETE_BYTES: u64 = 16 * 1024;
/// Size of the buffer of a pack file, and of the pieces in which a large file is copied.
const COPY_CHUNK_BYTES: usize = 1024 * 1024;
/// Number of attempts to copy a file that changes meanwhile.
const MAX_COPY_ATTEMPTS: usize = 3;
/// Number of files from which a second thread is worth its start.
const FILES_PER_WORKER: usize = 128;
/// Maximum number of threads.
const MAX_WORKERS: usize = 4;

/// Directory of the files that are not in a pack.
const FILES_DIRECTORY: &str = "files";

/// Stores the content of entries in the directory of a snapshot.
pub(crate) struct ContentWriter<'a> {
    directory: &'a Path,
    files: OwnedFd,
    device: u64,
    roots: &'a [RootDirectory],
    limits: &'a UndoLimits,
    deadline: Deadline,
    /// Number of bytes that were copied or are being copied.
    copied: AtomicU64,
    /// Set when a worker has failed, so that the others stop.
    is_cancelled: AtomicBool,
}

/// A pack file that is being written.
struct PackFile {
    number: usize,
    writer: BufWriter<File>,
    offset: u64,
}

// === impl ContentWriter ===

impl<'a> ContentWriter<'a> {
    pub(crate) fn new(
        directory: &'a Path,
        roots: &'a [RootDirectory],
        limits: &'a UndoLimits,
        deadline: Deadline,
    ) -> Result<Self, SnapshotError> {
        let path = directory.join(FILES_DIRECTORY);
        rustix::fs::mkdir(&path, Mode::RWXU).map_err(SnapshotError::storage)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let files = rustix::fs::open(&path, flags, Mode::empty()).map_err(SnapshotError::storage)?;
        let found = rustix::fs::fstat(&files).map_err(SnapshotError::storage)?;
        let (copied, is_cancelled) = (AtomicU64::new(0), AtomicBool::new(false));
        Ok(Self {
            directory,
            files,
            device: device_of(&found),
            roots,
            limits,
            deadline,
            copied,
            is_cancelled,
        })
    }

    /// Stores all entries, and waits until they are on the disk.
    pub(crate) fn store(&self, entries: &[ScannedEntry]) -> Result<Vec<SavedEntry>, SnapshotError> {
        // Checked first, because copying without a result would make the call wait.
        let small = entries.iter().filter_map(|entry| match entry.kind {
            ScannedKind::File(size) if size <= MAX_PACKED_BYTES && !self.wants_link(entry, size) => {
                Some(size)
            }
            _ => None,
        });
        if small.sum::<u64>() > self.limits.max_copied_bytes {
            return Err(SnapshotError::TooMuchToCopy { limit: self.limits.max_copied_bytes });
        }
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = (entries.len() / FILES_PER_WORKER).clamp(1, processors.min(MAX_WORKERS));
        let share = entries.len().div_ceil(workers).max(1);
        let parts: Vec<_> = entries.chunks(share).enumerate().collect();
        let stored = std::thread::scope(|scope| {
            let mut running = Vec::new();
            for (number, part) in parts.iter().skip(1) {
                running.push(scope.spawn(|| self.store_part(*number, share, part)));
            }
            let first = parts.first().map(|(number, part)| self.store_part(*number, share, part));
            let lost = |_| Err(SnapshotError::Storage(std::io::Error::other("a worker thread ended")));
            let rest = running.into_iter().map(|worker| worker.join().unwrap_or_else(lost));
            first.into_iter().chain(rest).collect::<Result<Vec<_>, _>>()
        })?;
        rustix::fs::fsync(&self.files).map_err(SnapshotError::storage)?;
        Ok(stored.into_iter().flatten().collect())
    }

    fn store_part(
        &self,
        number: usize,
        share: usize,
        entries: &[ScannedEntry],
    ) -> Result<Vec<SavedEntry>, SnapshotError> {
        let stored = self.store_entries(number, number * share, entries);
        if stored.is_err() {
            self.is_cancelled.store(true, Ordering::Relaxed);
        }
        stored
    }

    fn store_entries(
        &self,
        number: usize,
        first: usize,
        entries: &[ScannedEntry],
    ) -> Result<Vec<SavedEntry>, SnapshotError> {
        let mut pack = PackFile::create(self.directory, number)?;
        let mut saved = Vec::with_capacity(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            if at.is_multiple_of(16) {
                self.deadline.check()?;
                if self.is_cancelled.load(Ordering::Relaxed) {
                    return Ok(saved);
                }
            }
            let content = match &entry.kind {
                ScannedKind::Directory => SavedContent::Directory,
                ScannedKind::Symlink(target) => {
                    SavedContent::Symlink { target: StoredPath::from(target.clone()) }
                }
                ScannedKind::File(size) => match self.store_file(entry, *size, first + at, &mut pack)? {
                    Some(content) => content,
                    // The file was deleted after it was listed.
                    None => continue,
                },
            };
            saved.push(SavedEntry {
                root: entry.root,
                path: StoredPath::from(entry.path.clone()),
                mode: entry.mode,
                owner: entry.owner,
                modified: entry.modified,
                role: entry.role,
                content,
            });
        }
        pack.finish()?;
        Ok(saved)
    }

    /// Stores a file; `None` if it no longer exists.
    fn store_file(
        &self,
        entry: &ScannedEntry,
        size: u64,
        number: usize,
        pack: &mut PackFile,
    ) -> Result<Option<SavedContent>, SnapshotError> {
        let root = self.roots.get(entry.root).ok_or_else(|| SnapshotError::storage(Errno::INVAL))?;
        let place = || root.path().join(&entry.path);
        if self.wants_link(entry, size) && self.link_file(root, entry, number)? {
            let stored = StorageMethod::HardLinked { file: number };
            let sha256 = self.hash_linked(entry, number)?;
            return Ok(Some(SavedContent::File { size, stored, sha256 }));
        }
        let mut file = match root.open_file(&entry.path) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(SnapshotError::unreadable(&place(), error)),
        };
        if size > MAX_PACKED_BYTES {
            return self.store_large_file(&mut file, size, number, &place).map(Some);
        }
        let bytes = self.read_small_file(&mut file, size, &place)?;
        let stored = StorageMethod::Packed { pack: pack.number, offset: pack.offset };
        pack.append(&bytes)?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Ok(Some(SavedContent::File {
            size,
            stored,
            sha256: Some(encode_hash(Sha256::digest(&bytes).as_slice())),
        }))
    }

    /// Whether a file is linked instead of copied. A file with another name may be changed through it later.
    fn wants_link(&self, entry: &ScannedEntry, size: u64) -> bool {
        let is_object = entry.role == EntryRole::GitObject;
        entry.change == TargetChange::Delete
            && entry.device == self.device
            && (is_object || size > MAX_PACKED_DELETE_BYTES && entry.links == 1)
    }

    /// Returns the hash of a linked file; `None` for a git object, whose name is its hash, and if there is no time. The
    /// restore replaces nothing by content without a hash unless the user forces it.
    fn hash_linked(&self, entry: &ScannedEntry, number: usize) -> Result<Option<String>, SnapshotError> {
        if entry.role == EntryRole::GitObject {
            return Ok(None);
        }
        let path = self.directory.join(FILES_DIRECTORY).join(number.to_string());
        let mut file = File::open(&path).map_err(SnapshotError::storage)?;
        let mut hash = Sha256::new();
        let mut chunk = vec![
            0;
            COPY_CHUNK_BYTES
                .min(
                    usize::try_from(file.metadata().map_or(0, |found| found.len()))
                        .unwrap_or(COPY_CHUNK_BYTES)
                )
                .max(1)
        ];
        loop {
            if self.deadline.is_half_over() {
                return Ok(None);
            }
            let length = file.read(&mut chunk).map_err(SnapshotError::storage)?;
            match chunk.get(..length).filter(|bytes| !bytes.is_empty()) {
                Some(bytes) => hash.update(bytes),
                None => return Ok(Some(encode_hash(hash.finalize().as_slice()))),
            }
        }
    }

    /// Reads a small file. It is read again if it changes meanwhile.
    fn read_small_file(
        &self,
        file: &mut File,
        size: u64,
        place: &dyn Fn() -> PathBuf,
    ) -> Result<Vec<u8>, SnapshotError> {
        let unreadable = |error| SnapshotError::unreadable(&place(), error);
        for _ in 0..MAX_COPY_ATTEMPTS {
            let before = read_stamp_of(file).map_err(unreadable)?;
            let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
            file.rewind().map_err(unreadable)?;
            // A file may have grown after it was listed.
            file.take(self.limits.max_copy_bytes).read_to_end(&mut bytes).map_err(unreadable)?;
            if read_stamp_of(file).map_err(unreadable)? == before {
                return Ok(bytes);
            }
        }
        Err(SnapshotError::FileInUse { path: place() })
    }

    /// Links a file. Returns whether this succeeded; the file is copied otherwise.
    fn link_file(
        &self,
        root: &RootDirectory,
        entry: &ScannedEntry,
        number: usize,
    ) -> Result<bool, SnapshotError> {
        let name = number.to_string();
        let linked = root.open_parent(&entry.path).and_then(|(parent, source)| {
            rustix::fs::linkat(parent, source, &self.files, name.as_str(), AtFlags::empty())
        });
        match linked {
            Ok(()) => {}
            Err(Errno::NOSPC | Errno::DQUOT) => return Err(SnapshotError::StorageFull),
            // Another file system, too many links, or a file of another account.
            Err(_) => return Ok(false),
        }
        let found = rustix::fs::statat(&self.files, name.as_str(), AtFlags::SYMLINK_NOFOLLOW);
        if found.is_ok_and(|found| stamp_of(&found).inode == entry.inode) {
            return Ok(true);
        }
        // The path was replaced after it was listed.
        rustix::fs::unlinkat(&self.files, name.as_str(), AtFlags::empty()).map_err(SnapshotError::storage)?;
        Ok(false)
    }

    fn store_large_file(
        &self,
        file: &mut File,
        size: u64,
        number: usize,
        place: &dyn Fn() -> PathBuf,
    ) -> Result<SavedContent, SnapshotError> {
        let path = self.directory.join(FILES_DIRECTORY).join(number.to_string());
        let mut copy = create_new(&path)?;
        if clone_blocks(&copy, file) {
            copy.sync_all().map_err(SnapshotError::storage)?;
            let stored = StorageMethod::Reflinked { file: number };
            return Ok(SavedContent::File { size, stored, sha256: None });
        }
        if size > self.limits.max_copy_bytes {
            return Err(SnapshotError::FileTooLarge { path: place() });
        }
        let copied = self.copied.fetch_add(size, Ordering::Relaxed).saturating_add(size);
        if copied > self.limits.max_copied_bytes {
            return Err(SnapshotError::TooMuchToCopy { limit: self.limits.max_copied_bytes });
        }
        let unreadable = |error| SnapshotError::unreadable(&place(), error);
        let mut attempts = 0;
        let (hash, copied) = loop {
            let before = read_stamp_of(file).map_err(unreadable)?;
            let done = self.copy_content(file, &mut copy, place)?;
            if read_stamp_of(file).map_err(unreadable)? == before {
                break done;
            }
            attempts += 1;
            if attempts == MAX_COPY_ATTEMPTS {
                return Err(SnapshotError::FileInUse { path: place() });
            }
        };
        copy.sync_all().map_err(SnapshotError::storage)?;
        let stored = StorageMethod::Copied { file: number };
        Ok(SavedContent::File { size: copied, stored, sha256: Some(encode_hash(hash.finalize().as_slice())) })
    }
}

impl ContentWriter<'_> {
    /// Copies the content of a file, and returns its hash and its size.
    fn copy_content(
        &self,
        file: &mut File,
        copy: &mut File,
        place: &dyn Fn() -> PathBuf,
    ) -> Result<(Sha256, u64), SnapshotError> {
        let unreadable = |error| SnapshotError::unreadable(&place(), error);
        file.rewind().map_err(unreadable)?;
        copy.rewind().and_then(|()| copy.set_len(0)).map_err(SnapshotError::storage)?;
        let (mut hash, mut copied) = (Sha256::new(), 0_u64);
        let mut chunk = vec![0; COPY_CHUNK_BYTES];
        loop {
            self.deadline.check()?;
            let length = file.read(&mut chunk).map_err(unreadable)?;
            let Some(bytes) = chunk.get(..length).filter(|bytes| !bytes.is_empty()) else {
                return Ok((hash, copied));
            };
            copied = copied.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
            if copied > self.limits.max_copy_bytes {
                return Err(SnapshotError::FileTooLarge { path: place() });
            }
            hash.update(bytes);
            copy.write_all(bytes).map_err(SnapshotError::storage)?;
        }
    }
}

// === impl PackFile ===

impl PackFile {
    fn create(directory: &Path, number: usize) -> Result<Self, SnapshotError> {
        let file = create_new(&directory.join(pack_name(number)))?;
        Ok(Self { number, writer: BufWriter::with_capacity(COPY_CHUNK_BYTES, file), offset: 0 })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.writer.write_all(bytes).map_err(SnapshotError::storage)?;
        self.offset = self.offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(())
    }

    fn finish(self) -> Result<(), SnapshotError> {
        let file = self.writer.into_inner().map_err(|error| SnapshotError::storage(error.into_error()))?;
        file.sync_data().map_err(SnapshotError::storage)
    }
}

/// Returns the size and the times of an open file, which show whether it was written.
fn read_stamp_of(file: &File) -> std::io::Result<(u64, FileTime, FileTime)> {
    let stamp = stamp_of(&rustix::fs::fstat(file)?);
    Ok((stamp.size, stamp.modified, stamp.changed))
}

/// Creates a private file that must not exist.
pub(crate) fn create_new(path: &Path) -> Result<File, SnapshotError> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    opened.map_err(SnapshotError::storage)
}

fn pack_name(number: usize) -> String {
    format!("pack-{number}")
}

/// Lets two files share their blocks. Returns whether the file system can do that.
#[cfg(target_os = "linux")]
fn clone_blocks(target: &File, source: &File) -> bool {
    rustix::fs::ioctl_ficlone(target, source).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn clone_blocks(_target: &File, _source: &File) -> bool {
    false
}

/// Writes a hash as hexadecimal digits.
pub(crate) fn encode_hash(hash: &[u8]) -> String {
    let mut text = String::with_capacity(hash.len() * 2);
    for byte in hash {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Opens the stored content of a file. The reader ends after the given size.
pub(crate) fn open_content(
    directory: &Path,
    stored: StorageMethod,
    size: u64,
) -> std::io::Result<std::io::Take<File>> {
    let (name, offset) = match stored {
        StorageMethod::Packed { pack, offset } => (pack_name(pack).into(), offset),
        StorageMethod::Copied { file }
        | StorageMethod::Reflinked { file }
        | StorageMethod::HardLinked { file } => (Path::new(FILES_DIRECTORY).join(file.to_string()), 0),
    };
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(directory.join(name))?;
    file.seek(SeekFrom::Start(offset))?;
    Ok(file.take(size))
}
