// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Files that describe programs: a folder `programs` beside each policy, and `.tenterhook/programs` in a project.

use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use crate::Home;

/// The folder beside a policy.
const FOLDER: &str = "programs";
/// The folder in a project. `programs` alone would be a name that projects use for themselves.
pub const PROJECT_PROGRAMS: &str = ".tenterhook/programs";
/// No more files of one folder are read.
const MAX_FILES: usize = 64;
/// A folder with more entries is refused.
const MAX_ENTRIES: usize = 1024;

impl Home {
    /// The user's descriptions of programs.
    pub fn program_descriptions(&self) -> PathBuf {
        self.config.join(FOLDER)
    }

    /// The organisation's descriptions of programs.
    pub fn organisation_descriptions(&self) -> Option<PathBuf> {
        Some(self.organisation.as_ref()?.parent()?.join(FOLDER))
    }
}

/// The files in a folder that describe programs, by name; none if there is no folder.
pub fn list_descriptions(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for (number, entry) in entries.enumerate() {
        if number >= MAX_ENTRIES {
            return Err(Error::other(format!("it has more than {MAX_ENTRIES} entries")));
        }
        let path = entry?.path();
        let is_yaml = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        if is_yaml && path.to_str().is_some() {
            files.push(path);
        }
    }
    if files.len() > MAX_FILES {
        return Err(Error::other(format!("it has more than {MAX_FILES} files")));
    }
    files.sort();
    Ok(files)
}

/// The folders of a home, and the files in them: a change of one of them is a change of the rules.
pub fn watched(home: &Home) -> Vec<PathBuf> {
    let mut watched = Vec::new();
    for folder in [Some(home.program_descriptions()), home.organisation_descriptions()].into_iter().flatten()
    {
        // The folder itself is watched, and a folder that cannot be listed is reported when its files are read.
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
        for number in 0..MAX_FILES {
            std::fs::write(folder.join(format!("{number}.yaml")), "").unwrap();
        }
        assert!(list_descriptions(&folder).unwrap_err().to_string().contains("more than 64 files"));
        assert!(list_descriptions(&folder.join("0.yaml")).is_err(), "not a folder");
    }
}
