// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the index of a repository: the tracked files, and the state in which git last saw them.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::content::encode_hash;
use crate::error::SnapshotError;
use crate::manifest::{EntryStamp, FileTime};
use crate::root_directory::RootDirectory;
use crate::scan::stamp_of;

/// Maximum size of an index. One entry takes about 100 bytes.
pub(crate) const MAX_INDEX_BYTES: u64 = 256 * 1024 * 1024;

/// Mode of a submodule.
const SUBMODULE_MODE: u32 = 0o160_000;
/// Flag: another two bytes of flags follow.
const EXTENDED_FLAG: u16 = 0x4000;
/// Bits of the flags that contain the stage of a merge.
const STAGE_MASK: u16 = 0x3000;
/// Bits of the flags that contain the length of the path.
const LENGTH_MASK: u16 = 0x0fff;

/// The index of a repository.
#[derive(Debug, Default)]
pub(super) struct GitIndex {
    pub(super) files: Vec<IndexedFile>,
    /// Time at which the index was written.
    written: FileTime,
}

/// A tracked file.
#[derive(Debug, Clone)]
pub(super) struct IndexedFile {
    pub(super) path: PathBuf,
    mode: u32,
    inode: u32,
    size: u32,
    modified: (u32, u32),
    changed: (u32, u32),
}

// === impl IndexedFile ===

impl IndexedFile {
    /// Whether the path is a submodule.
    pub(super) fn is_submodule(&self) -> bool {
        self.mode == SUBMODULE_MODE
    }
}

// === impl GitIndex ===

impl GitIndex {
    /// Reads the index of a working tree. A missing index is empty.
    pub(super) fn read(git_dir: &RootDirectory, hash_bytes: usize) -> Result<Self, SnapshotError> {
        let path = Path::new("index");
        let place = git_dir.path().join(path);
        let mut file = match git_dir.open_file(path) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(Self::default()),
            Err(error) => return Err(SnapshotError::unreadable(&place, error)),
        };
        let found = rustix::fs::fstat(&file).map_err(|error| SnapshotError::unreadable(&place, error))?;
        let mut bytes = Vec::new();
        let read = (&mut file).take(MAX_INDEX_BYTES).read_to_end(&mut bytes);
        read.map_err(|error| SnapshotError::unreadable(&place, error))?;
        let files = parse(&bytes, hash_bytes, &mut |_| {})
            .ok_or_else(|| SnapshotError::unsupported(git_dir.path(), "unknown format of the index"))?;
        Ok(Self { files, written: stamp_of(&found).modified })
    }

    /// Whether a file is in the state in which git last saw it. A file that was changed in the same moment as the
    /// index may have other content, so it does not count as clean.
    pub(super) fn is_clean(&self, file: &IndexedFile, found: &EntryStamp) -> bool {
        let same = |indexed: (u32, u32), time: FileTime| {
            i64::from(indexed.0) == time.0 && indexed.1 == time.1 && indexed.1 != 0
        };
        u64::from(file.size) == found.size
            && same(file.modified, found.modified)
            && same(file.changed, found.changed)
            && u64::from(file.inode) == found.inode & u64::from(u32::MAX)
            && found.modified < self.written
    }
}

/// Returns a hash over the paths, modes and object ids of an index; `None` if the bytes cannot be read.
pub(crate) fn hash_index(bytes: &[u8]) -> Option<String> {
    let hash = |hash_bytes| {
        let mut hash = Sha256::new();
        parse(bytes, hash_bytes, &mut |part| hash.update(part))?;
        Some(encode_hash(hash.finalize().as_slice()))
    };
    hash(super::repository::SHA1_BYTES).or_else(|| hash(super::repository::SHA256_BYTES))
}

/// Parses an index. `visit` receives the bytes that describe the content of each entry.
fn parse(bytes: &[u8], hash_bytes: usize, visit: &mut dyn FnMut(&[u8])) -> Option<Vec<IndexedFile>> {
    let mut reader = IndexReader { bytes, at: 0 };
    if reader.take(4)? != b"DIRC" {
        return None;
    }
    let version = reader.number()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = usize::try_from(reader.number()?).ok()?;
    let mut files = Vec::with_capacity(count.min(bytes.len() / 64));
    let mut previous = Vec::new();
    for _ in 0..count {
        let start = reader.at;
        let changed = (reader.number()?, reader.number()?);
        let modified = (reader.number()?, reader.number()?);
        let _device = reader.number()?;
        let (inode, mode) = (reader.number()?, reader.number()?);
        let _owner = (reader.number()?, reader.number()?);
        let size = reader.number()?;
        visit(&mode.to_be_bytes());
        visit(reader.take(hash_bytes)?);
        let flags = reader.short()?;
        visit(&(flags & STAGE_MASK).to_be_bytes());
        if flags & EXTENDED_FLAG != 0 {
            visit(&reader.short()?.to_be_bytes());
        }
        let name = if version == 4 {
            let dropped = reader.variable_number()?;
            let kept = previous.len().checked_sub(dropped)?;
            let mut name = previous.get(..kept)?.to_vec();
            name.extend_from_slice(reader.until_zero()?);
            name
        } else {
            let length = usize::from(flags & LENGTH_MASK);
            let name = if length < usize::from(LENGTH_MASK) {
                reader.take(length)?.to_vec()
            } else {
                let name = reader.until_zero()?.to_vec();
                reader.at -= 1;
                name
            };
            // Between one and eight zero bytes follow, up to a multiple of eight.
            let used = reader.at.checked_sub(start)?;
            reader.take(8 - used % 8)?;
            name
        };
        visit(&name);
        visit(&[0]);
        previous.clone_from(&name);
        let path = PathBuf::from(OsString::from_vec(name));
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return None;
        }
        files.push(IndexedFile { path, mode, inode, size, modified, changed });
    }
    check_extensions(&mut reader, hash_bytes)?;
    Some(files)
}

/// Refuses an index with an extension that changes the meaning of the entries, such as a split or sparse index. The
/// names of such extensions begin with a lower case letter.
fn check_extensions(reader: &mut IndexReader<'_>, hash_bytes: usize) -> Option<()> {
    while reader.rest() > hash_bytes {
        let name = reader.take(4)?;
        if !name.first()?.is_ascii_uppercase() {
            return None;
        }
        let length = usize::try_from(reader.number()?).ok()?;
        reader.take(length)?;
    }
    Some(())
}

/// Reads numbers and names from the bytes of an index.
struct IndexReader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> IndexReader<'b> {
    fn rest(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    fn short(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_be_bytes)
    }

    /// Reads a name and the zero byte after it.
    fn until_zero(&mut self) -> Option<&'b [u8]> {
        let length = self.bytes.get(self.at..)?.iter().position(|byte| *byte == 0)?;
        let name = self.take(length)?;
        self.take(1)?;
        Some(name)
    }

    /// Reads a number in the encoding of version 4: seven bits per byte, most significant first, each further byte
    /// adds one.
    fn variable_number(&mut self) -> Option<usize> {
        let mut value = 0_usize;
        loop {
            let byte = *self.take(1)?.first()?;
            value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            value = value.checked_add(1)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_bytes_are_refused_without_a_panic() {
        assert!(parse(b"", 20, &mut |_| {}).is_none());
        assert!(parse(b"DIRC\0\0\0\x02\0\0\0\x01", 20, &mut |_| {}).is_none());
        assert!(parse(b"DIRC\0\0\0\x09\0\0\0\0", 20, &mut |_| {}).is_none());
        assert!(parse(b"DIRC\0\0\0\x02\xff\xff\xff\xff", 20, &mut |_| {}).is_none());
        let mut link = b"DIRC\0\0\0\x02\0\0\0\0link\0\0\0\0".to_vec();
        link.extend([0; 20]);
        assert!(parse(&link, 20, &mut |_| {}).is_none());
        let empty = [&b"DIRC\0\0\0\x02\0\0\0\0"[..], &[0; 20]].concat();
        assert!(parse(&empty, 20, &mut |_| {}).unwrap().is_empty());
    }
}
