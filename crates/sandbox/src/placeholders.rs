// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Files and directories that are created before a run, so that they can be mounted, and removed after it.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::path_sets::{PathAccess, PathSets};

/// A file or directory that did not exist before the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placeholder {
    /// Absolute path.
    pub path: PathBuf,
    /// Whether it is a directory.
    pub is_directory: bool,
}

/// Returns what has to be created for the entries of a sandbox, a directory before its content.
pub fn missing(sets: &PathSets) -> Vec<Placeholder> {
    let mut found: Vec<Placeholder> = Vec::new();
    let mut add = |path: &Path, is_directory| {
        if !found.iter().any(|known| known.path == path) {
            found.push(Placeholder { path: path.to_owned(), is_directory });
        }
    };
    let missing = sets.entries.iter().filter(|entry| !entry.exists && entry.access != PathAccess::Checked);
    for entry in missing {
        let mut parents: Vec<_> = entry
            .path
            .ancestors()
            .skip(1)
            .take_while(|path| std::fs::symlink_metadata(path).is_err())
            .collect();
        parents.reverse();
        for parent in parents {
            add(parent, true);
        }
        add(&entry.path, entry.is_directory);
    }
    found
}

/// Creates a placeholder. Returns whether it was created now.
pub fn create(placeholder: &Placeholder) -> io::Result<bool> {
    let created = if placeholder.is_directory {
        DirBuilder::new().mode(0o755).create(&placeholder.path)
    } else {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&placeholder.path);
        file.and_then(|mut file| file.write_all(neutral_content(&placeholder.path)))
    };
    match created {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes a placeholder, unless it is in use: a directory with content or a file with other content stays.
pub fn remove(placeholder: &Placeholder) {
    let path = &placeholder.path;
    let removed = if placeholder.is_directory {
        std::fs::remove_dir(path)
    } else {
        let neutral = neutral_content(path);
        let is_small = |found: std::fs::Metadata| found.is_file() && found.len() == neutral.len() as u64;
        let is_unchanged = std::fs::symlink_metadata(path).is_ok_and(is_small)
            && std::fs::read(path).is_ok_and(|content| content == neutral);
        if is_unchanged { std::fs::remove_file(path) } else { Ok(()) }
    };
    // What cannot be removed is harmless.
    drop(removed);
}

/// Content of a settings file that sets nothing.
fn neutral_content(path: &Path) -> &'static [u8] {
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    if is_json { b"{}\n" } else { b"" }
}
