// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Trusted project files. Trust applies to the exact content that the user reviewed, identified by its hash.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenterhook_event::Timestamp;

use crate::home::{Home, write_atomic};
use crate::program_files::{PROJECT_PROGRAMS, list_descriptions};
use crate::read_file;
use tenterhook_error::Failure;

/// Name of a project's rule file.
pub const PROJECT_FILE: &str = ".tenterhook.yaml";

/// Trusted files, by canonical path.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct TrustStore {
    v: u32,
    /// The trusted content and the time at which it was trusted, by path.
    pub trusted: BTreeMap<PathBuf, TrustedFile>,
}

/// Content of a project file that the user trusted.
#[derive(Debug, Serialize, Deserialize)]
pub struct TrustedFile {
    /// SHA-256 of the content.
    pub sha256: String,
    /// When the user trusted the content.
    pub since: Timestamp,
}

/// How far a file is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The user trusted exactly this content.
    Trusted,
    /// The user trusted different content at this path.
    Changed,
    /// The user has not trusted this file.
    Unknown,
    /// The file belongs to the organisation, but an account other than root can change it.
    Exposed,
}

/// A project's rule file.
#[derive(Debug)]
pub struct ProjectFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Content of the file.
    pub text: String,
    /// How far the file is trusted.
    pub standing: Standing,
}

// === impl TrustStore ===

impl TrustStore {
    /// Reads the trusted files of a home.
    pub fn read(home: &Home) -> Result<Self, Failure> {
        let path = home.trust();
        let broken = |why: String| {
            Failure::internal(format!("`{}` cannot be read: {why}", path.display()))
                .hint("remove it, and trust your projects again: `tenterhook rules trust`")
        };
        match read_file::state_file(&path).map_err(|error| broken(error.to_string()))? {
            None => Ok(Self { v: 1, ..Self::default() }),
            Some(text) => serde_json::from_str(&text).map_err(|error| broken(error.to_string())),
        }
    }

    /// Stores the trusted files.
    pub fn write(&self, home: &Home) -> Result<(), Failure> {
        home.create()?;
        let text = serde_json::to_vec_pretty(self).map_err(std::io::Error::from)?;
        write_atomic(&home.trust(), &text, 0o600)
    }

    /// How far a file with this path and content is trusted.
    pub fn standing(&self, path: &Path, text: &str) -> Standing {
        match self.trusted.get(&canonical_path(path)) {
            Some(trusted) if trusted.sha256 == sha256(text.as_bytes()) => Standing::Trusted,
            Some(_) => Standing::Changed,
            None => Standing::Unknown,
        }
    }

    /// Trusts a file with this path and content.
    pub fn add(&mut self, path: &Path, text: &str, now: Timestamp) {
        let trusted = TrustedFile { sha256: sha256(text.as_bytes()), since: now };
        self.trusted.insert(canonical_path(path), trusted);
    }

    /// Removes the trust in a file. Returns whether the file was trusted.
    pub fn remove(&mut self, path: &Path) -> bool {
        self.trusted.remove(&canonical_path(path)).is_some()
    }
}

// === impl Standing ===

impl Standing {
    /// Description for the user.
    pub fn word(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Changed => "changed since it was trusted",
            Self::Unknown => "not trusted",
            Self::Exposed => "can be written by others",
        }
    }
}

/// SHA-256 in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Resolves the links in the directory part of a path. The last component is not resolved, so that a link to a trusted
/// file is not itself trusted.
fn canonical_path(path: &Path) -> PathBuf {
    let directory = path.parent().and_then(|directory| fs_err::canonicalize(directory).ok());
    match (directory, path.file_name()) {
        (Some(directory), Some(name)) => directory.join(name),
        _ => path.to_owned(),
    }
}

/// Lists a project's rule files and program descriptions, from the project's root down to the working directory. The
/// user's home directory and the directories above it are never searched.
///
/// All listed files apply, not only the nearest one. If only the nearest applied, a file in a subdirectory would
/// replace the project's rules for that subdirectory.
pub fn project_files(cwd: &Path, project: Option<&Path>, user_home: Option<&Path>) -> Vec<PathBuf> {
    // Some harnesses report the working directory as the project. The reported root and the root of the git repository
    // are compared, and the outer one is used.
    let reported = project.filter(|root| cwd.starts_with(root));
    let found = cwd.ancestors().find(|dir| dir.join(".git").exists());
    let root = reported.into_iter().chain(found).min_by_key(|root| root.as_os_str().len()).unwrap_or(cwd);
    let above_home = |dir: &Path| user_home.is_some_and(|user_home| user_home.starts_with(dir));
    let mut found: Vec<PathBuf> = Vec::new();
    for dir in
        cwd.ancestors().take_while(|dir| dir.starts_with(root) && !above_home(dir) && dir.parent().is_some())
    {
        // Pushed in reverse order, because the whole list is reversed below.
        let folder = dir.join(PROJECT_PROGRAMS);
        match list_descriptions(&folder) {
            Ok(files) => found.extend(files.into_iter().rev()),
            // Lists the directory itself. The caller tries to read it as a file, which fails and reports the problem.
            Err(_) => found.push(folder),
        }
        let rules = dir.join(PROJECT_FILE);
        found.extend(rules.symlink_metadata().is_ok().then_some(rules));
    }
    found.reverse();
    found
}

/// Whether a project file contains rules; other files describe programs.
pub fn is_rule_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == PROJECT_FILE)
}

/// Reads a project file. Only small regular files are read; links are refused.
pub fn read_project_file(path: &Path) -> std::io::Result<Option<String>> {
    read_file::project_file(path, None)
}

/// Why a project file could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ProjectReadError(pub String);

/// A project file as it was read, before its trust is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectText {
    /// Path of the file.
    pub path: PathBuf,
    /// Content of the file, or why it could not be read.
    pub text: Result<String, ProjectReadError>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_the_published_one() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_changed_text_is_not_the_one_that_was_read() {
        let mut trust = TrustStore::default();
        let path = Path::new("/no/such/.tenterhook.yaml");
        assert_eq!(trust.standing(path, "a"), Standing::Unknown);
        trust.add(path, "a", Timestamp::from_unix_ms(0));
        assert_eq!(trust.standing(path, "a"), Standing::Trusted);
        assert_eq!(trust.standing(path, "b"), Standing::Changed);
        assert!(trust.remove(path));
        assert_eq!(trust.standing(path, "a"), Standing::Unknown);
    }

    #[test]
    fn a_link_to_a_trusted_file_is_not_trusted() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).join(PROJECT_FILE);
        for name in ["good", "evil"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::fs::write(at("good"), "a").unwrap();
        std::os::unix::fs::symlink(at("good"), at("evil")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("good"), dir.path().join("same")).unwrap();
        let mut trust = TrustStore::default();
        trust.add(&at("good"), "a", Timestamp::from_unix_ms(0));
        assert_eq!(trust.standing(&at("good"), "a"), Standing::Trusted);
        assert_eq!(trust.standing(&at("same"), "a"), Standing::Trusted, "it is the same directory");
        assert_eq!(trust.standing(&at("evil"), "a"), Standing::Unknown);
        assert!(read_project_file(&at("evil")).unwrap_err().to_string().contains("symbolic link"));
    }

    #[test]
    fn files_are_looked_for_up_to_the_root_and_never_at_home() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("home/p/a/b")).unwrap();
        for place in ["home", "home/p", "home/p/a/b"] {
            std::fs::write(at(place).join(PROJECT_FILE), "").unwrap();
        }
        let (home, cwd) = (at("home"), at("home/p/a/b"));
        let both = [at("home/p").join(PROJECT_FILE), cwd.join(PROJECT_FILE)];
        let found = |project: Option<&str>| {
            let project = project.map(at);
            project_files(&cwd, project.as_deref(), Some(&home))
        };
        assert_eq!(found(Some("home/p")), both);
        assert_eq!(found(Some("home")), both, "a home is no project");
        assert_eq!(found(Some("home/p/a")), both[1..]);
        assert_eq!(found(None), both[1..], "without a root there is only this directory");
        std::fs::create_dir(at("home/p/.git")).unwrap();
        assert_eq!(found(None), both);
        assert_eq!(found(Some("elsewhere")), both);
    }
}
