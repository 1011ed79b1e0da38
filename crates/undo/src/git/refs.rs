// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the refs of a repository, from single files and from `packed-refs`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType};
use rustix::io::Errno;

use crate::error::SnapshotError;
use crate::manifest::{FileTime, SavedRef};
use crate::root_directory::RootDirectory;
use crate::scan::stamp_of;

/// Maximum size of a file with one ref.
const MAX_REF_BYTES: u64 = 4096;
/// Maximum size of `packed-refs`.
const MAX_PACKED_BYTES: u64 = 64 * 1024 * 1024;

/// Returns all refs of a repository, ordered by name. `root` is the number of the common directory.
pub(crate) fn read_refs(
    common: &RootDirectory,
    root: usize,
    limit: usize,
) -> Result<Vec<SavedRef>, SnapshotError> {
    let mut refs = BTreeMap::new();
    let packed = read_file(common, Path::new("packed-refs"), MAX_PACKED_BYTES)?;
    for line in packed.unwrap_or_default().lines() {
        if let Some((value, name)) = line.split_once(' ')
            && !line.starts_with(['#', '^'])
        {
            refs.insert(name.to_owned(), value.to_owned());
        }
    }
    let mut open = vec![PathBuf::from("refs")];
    while let Some(path) = open.pop() {
        for (name, kind) in list_directory(common, &path)? {
            let path = path.join(OsStr::from_bytes(&name));
            if kind == FileType::Directory {
                open.push(path);
            } else if let (Some(name), false) = (path.to_str(), name.ends_with(b".lock"))
                && let Some(text) = read_file(common, &path, MAX_REF_BYTES)?
                && !text.trim().is_empty()
            {
                refs.insert(name.to_owned(), text.trim().to_owned());
            }
            if refs.len() > limit {
                return Err(SnapshotError::TooManyFiles { limit });
            }
        }
    }
    Ok(refs.into_iter().map(|(name, value)| SavedRef { root, name, value }).collect())
}

/// Returns the time at which a ref was last changed, if it is known.
pub(crate) fn find_ref_change(common: &RootDirectory, name: &str) -> Option<FileTime> {
    let own = common.stat(Path::new(name)).ok().flatten();
    let found = own.or_else(|| common.stat(Path::new("packed-refs")).ok().flatten());
    found.map(|found| stamp_of(&found).changed)
}

fn list_directory(common: &RootDirectory, path: &Path) -> Result<Vec<(Vec<u8>, FileType)>, SnapshotError> {
    let unreadable = |error: Errno| SnapshotError::unreadable(&common.path().join(path), error);
    let directory = match common.open_directory(path) {
        Ok(directory) => directory,
        Err(Errno::NOENT) => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut names = Vec::new();
    for entry in Dir::read_from(&directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let stat = common.stat(&path.join(OsStr::from_bytes(&name))).map_err(unreadable)?;
                    stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
                }
                kind => kind,
            };
            names.push((name, kind));
        }
    }
    Ok(names)
}

/// Returns the text of a file; `None` if it does not exist. A link or a special file is an error, because its value
/// cannot be restored.
fn read_file(common: &RootDirectory, path: &Path, limit: u64) -> Result<Option<String>, SnapshotError> {
    let place = common.path().join(path);
    let file = match common.open_file(path) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(SnapshotError::unreadable(&place, error)),
    };
    let found = file.metadata().map_err(|error| SnapshotError::unreadable(&place, error))?;
    if !found.is_file() || found.len() > limit {
        return Err(SnapshotError::unsupported(&place, "unexpected type or size"));
    }
    let mut text = String::new();
    let read = file.take(limit).read_to_string(&mut text);
    read.map_err(|error| SnapshotError::unreadable(&place, error))?;
    Ok(Some(text))
}
