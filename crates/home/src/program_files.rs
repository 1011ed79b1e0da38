// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Files that describe programs: a directory `programs` next to each policy, and `.tenterhook/programs` in a
//! project.

use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use crate::Home;

/// Name of the directory next to a policy.
const PROGRAMS_DIR: &str = "programs";
/// Directory of program descriptions in a project. The name `programs` alone could be the project's own directory.
pub const PROJECT_PROGRAMS: &str = ".tenterhook/programs";
/// Maximum number of description files in a directory.
const MAX_DESCRIPTION_FILES: usize = 64;
/// Maximum number of entries in a directory; a larger directory is refused.
const MAX_DIR_ENTRIES: usize = 1024;

impl Home {
    /// Directory of the user's program descriptions.
    pub fn program_descriptions(&self) -> PathBuf {
        self.config.join(PROGRAMS_DIR)
    }

    /// Directory of the organisation's program descriptions.
    pub fn organisation_descriptions(&self) -> Option<PathBuf> {
        Some(self.organisation.as_ref()?.parent()?.join(PROGRAMS_DIR))
    }
}

/// The description files of a directory, sorted by name; empty if there is no directory.
pub fn list_descriptions(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for (number, entry) in entries.enumerate() {
        if number >= MAX_DIR_ENTRIES {
            return Err(Error::other(format!("it has more than {MAX_DIR_ENTRIES} entries")));
        }
        let path = entry?.path();
        let is_yaml = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        if is_yaml && path.to_str().is_some() {
            files.push(path);
        }
    }
    if files.len() > MAX_DESCRIPTION_FILES {
        return Err(Error::other(format!("it has more than {MAX_DESCRIPTION_FILES} files")));
    }
    files.sort();
    Ok(files)
}

/// The directories of program descriptions and the files in them. If a path changes, the rules must be loaded again.
pub fn watched_files(home: &Home) -> Vec<PathBuf> {
    let mut watched = Vec::new();
    for folder in [Some(home.program_descriptions()), home.organisation_descriptions()].into_iter().flatten()
    {
        // An error is ignored: the directory itself is watched, and reading its files reports the error.
        watched.extend(list_descriptions(&folder).unwrap_or_default());
        watched.push(folder);
    }
    watched
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_data_files_are_listed_in_order_and_not_too_many() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("programs");
        assert_eq!(list_descriptions(&folder).unwrap(), Vec::<PathBuf>::new());
        std::fs::create_dir(&folder).unwrap();
        for name in ["b.yaml", "a.yml", "notes.md", ".b.yaml.swp"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        assert_eq!(list_descriptions(&folder).unwrap(), [folder.join("a.yml"), folder.join("b.yaml")]);
        for number in 0..MAX_DESCRIPTION_FILES {
            std::fs::write(folder.join(format!("{number}.yaml")), "").unwrap();
        }
        assert!(list_descriptions(&folder).unwrap_err().to_string().contains("more than 64 files"));
        assert!(list_descriptions(&folder.join("0.yaml")).is_err(), "not a folder");
    }
}
