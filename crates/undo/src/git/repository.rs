// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the repository of a directory, and checks that its files are where they appear to be.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tenterhook_files::{FileClass, read_bytes, read_text};

use crate::error::SnapshotError;

/// Maximum size of a `.git` file and similar files with one path.
const MAX_LINK_BYTES: u64 = 16 * 1024;
/// Maximum size of a configuration file.
const MAX_CONFIG_BYTES: u64 = 4 * 1024 * 1024;

/// Bytes of an object id with SHA-1.
pub(super) const SHA1_BYTES: usize = 20;
/// Bytes of an object id with SHA-256.
pub(super) const SHA256_BYTES: usize = 32;

/// A git repository as one working tree sees it. All paths are free of links.
#[derive(Debug)]
pub(super) struct GitRepository {
    /// Working tree; `None` in a bare repository.
    pub(super) worktree: Option<PathBuf>,
    /// Directory with HEAD and the index of the working tree.
    pub(super) git_dir: PathBuf,
    /// Directory with refs and objects, which all working trees share.
    pub(super) common_dir: PathBuf,
    /// Length of an object id in bytes.
    pub(super) hash_bytes: usize,
}

impl GitRepository {
    /// Finds the repository that git uses in a directory.
    pub(super) fn find(directory: &Path) -> Result<Self, SnapshotError> {
        let unsupported = |reason: &str| SnapshotError::unsupported(directory, reason);
        let start = directory.canonicalize().map_err(|error| SnapshotError::unreadable(directory, error))?;
        for above in start.ancestors() {
            let link = above.join(".git");
            match link.symlink_metadata() {
                Ok(found) if found.is_dir() => return Self::open(directory, Some(above), &link),
                Ok(found) if found.is_file() => {
                    let git_dir = read_git_link(&link).ok_or_else(|| unsupported("invalid `.git` file"))?;
                    let repository = Self::open(directory, Some(above), &git_dir)?;
                    repository.check_link(&link)?;
                    return Ok(repository);
                }
                Ok(_) => return Err(unsupported("`.git` is not a file or directory")),
                Err(_) if is_git_directory(above) => return Self::open(directory, None, above),
                Err(_) => {}
            }
        }
        Err(unsupported("there is no repository"))
    }

    fn open(directory: &Path, worktree: Option<&Path>, git_dir: &Path) -> Result<Self, SnapshotError> {
        let unsupported = |reason: &str| SnapshotError::unsupported(directory, reason);
        let canonical =
            |path: &Path| path.canonicalize().map_err(|error| SnapshotError::unreadable(path, error));
        let git_dir = canonical(git_dir)?;
        let common_dir = match read_path(&git_dir.join("commondir")) {
            Some(common) => canonical(&git_dir.join(common))?,
            None => git_dir.clone(),
        };
        if !git_dir.join("HEAD").is_file() || !is_git_directory(&common_dir) {
            return Err(unsupported("the git directory is incomplete"));
        }
        let own = rustix::process::geteuid().as_raw();
        for path in [&git_dir, &common_dir] {
            let owner = path.metadata().map_err(|error| SnapshotError::unreadable(path, error))?.uid();
            if owner != own {
                return Err(unsupported("it belongs to another account"));
            }
        }
        let mut repository =
            Self { worktree: worktree.map(Path::to_owned), git_dir, common_dir, hash_bytes: SHA1_BYTES };
        repository.read_config()?;
        Ok(repository)
    }

    /// Checks the configuration for settings that move files elsewhere.
    fn read_config(&mut self) -> Result<(), SnapshotError> {
        let unsupported = |reason: &str| SnapshotError::unsupported(&self.git_dir, reason);
        let mut hash_bytes = SHA1_BYTES;
        for path in [self.common_dir.join("config"), self.git_dir.join("config.worktree")] {
            let bytes = read_bytes(&path, FileClass::Untrusted, MAX_CONFIG_BYTES)
                .map_err(|error| SnapshotError::unreadable(&path, error))?;
            let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
            let lower = text.to_ascii_lowercase();
            // A file that is included may contain any setting.
            if lower.contains("[include") {
                return Err(unsupported("its configuration includes another file"));
            }
            if lower.contains("reftable") {
                return Err(unsupported("its refs are stored in reftables"));
            }
            if lower.contains("objectformat") && lower.contains("sha256") {
                hash_bytes = SHA256_BYTES;
            }
            // Without this check, a changed `core.worktree` would let git delete files that were not saved.
            for value in find_values(&text, "worktree") {
                let named = self.git_dir.join(value).canonicalize().ok();
                if named.is_none() || named != self.worktree {
                    return Err(unsupported("`core.worktree` names another directory"));
                }
            }
        }
        if self.common_dir.join("reftable").exists() {
            return Err(unsupported("its refs are stored in reftables"));
        }
        self.hash_bytes = hash_bytes;
        Ok(())
    }

    /// Checks that a `.git` file leads to the git directory of this working tree. The git directory of a linked
    /// working tree names its `.git` file. The git directory of a submodule is in the repository above it.
    fn check_link(&self, link: &Path) -> Result<(), SnapshotError> {
        let names_back = read_path(&self.git_dir.join("gitdir"))
            .and_then(|path| self.git_dir.join(path).canonicalize().ok())
            .is_some_and(|path| path == link);
        let is_submodule = self.git_dir.components().any(|part| part.as_os_str() == "modules")
            && link.ancestors().skip(2).any(|above| self.git_dir.starts_with(above.join(".git")));
        if names_back || is_submodule || self.is_submodule_of_worktree(link) {
            Ok(())
        } else {
            let reason = "the git directory does not belong to this working tree";
            Err(SnapshotError::unsupported(link, reason))
        }
    }

    /// Whether the git directory is that of a submodule in a linked working tree above.
    fn is_submodule_of_worktree(&self, link: &Path) -> bool {
        link.ancestors().skip(2).any(|above| {
            let above = above.join(".git");
            above.is_file()
                && read_git_link(&above)
                    .and_then(|path| path.canonicalize().ok())
                    .is_some_and(|git_dir| self.git_dir.starts_with(git_dir.join("modules")))
        })
    }

    /// Checks that the command changes files of the project: the working tree is in the project or contains it.
    pub(super) fn check_location(&self, project: &Path) -> Result<(), SnapshotError> {
        let top = self.worktree.as_ref().unwrap_or(&self.git_dir);
        if top.starts_with(project) || project.starts_with(top) {
            Ok(())
        } else {
            Err(SnapshotError::OutsideProject { path: top.clone() })
        }
    }
}

fn is_git_directory(path: &Path) -> bool {
    path.join("HEAD").is_file() && path.join("objects").is_dir() && path.join("refs").is_dir()
}

/// Returns the git directory that a `.git` file names.
fn read_git_link(link: &Path) -> Option<PathBuf> {
    let bytes = read_bytes(link, FileClass::Untrusted, MAX_LINK_BYTES).ok()??;
    let path = bytes.strip_prefix(b"gitdir:")?.trim_ascii();
    Some(link.parent()?.join(std::ffi::OsStr::from_bytes(path)))
}

/// Returns the path that is the content of a file.
fn read_path(file: &Path) -> Option<PathBuf> {
    let text = read_text(file, FileClass::Untrusted, MAX_LINK_BYTES).ok()??;
    Some(PathBuf::from(text.trim_end()))
}

/// Returns the values of a key in any section of a git configuration.
fn find_values(config: &str, key: &str) -> Vec<String> {
    let mut values = Vec::new();
    for line in config.lines() {
        // A section's header and its first key may be on the same line.
        let line = match line.trim_start().strip_prefix('[').and_then(|rest| rest.rsplit_once(']')) {
            Some((_, rest)) => rest,
            None => line,
        };
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        if name.trim().eq_ignore_ascii_case(key) {
            values.push(value.trim().trim_matches('"').to_owned());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_on_its_own_line_and_after_its_section() {
        let config = "[core]\n\tworktree = ../a\n[core] WorkTree=\"/b\"\n[branch \"worktree\"]\n\tworktreeConfig = true\n";
        assert_eq!(find_values(config, "worktree"), ["../a", "/b"]);
    }
}
