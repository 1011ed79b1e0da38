// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The directories that the paths of a sandbox are derived from.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::repositories::Repository;

/// The directories that paths are derived from. All are absolute and contain no symbolic links.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SandboxRoots {
    /// Home directory of the account.
    pub home: PathBuf,
    /// Root directory of the project.
    pub project: PathBuf,
    /// Repositories in the project.
    pub repositories: Vec<Repository>,
    /// Whether the whole project was searched for repositories.
    pub is_searched: bool,
    /// Directories below which the search read nothing.
    pub unread: Vec<PathBuf>,
    /// State directory of Tenterhook.
    pub state: PathBuf,
    /// Configuration directory of Tenterhook.
    pub config: PathBuf,
    /// Paths in the state directory that the run may not read.
    pub secret_state: Vec<PathBuf>,
    /// Directories of the `PATH`.
    pub program_directories: Vec<PathBuf>,
}

impl SandboxRoots {
    /// Whether a path is in the project or in the git directory of one of its repositories.
    pub fn contains_in_project(&self, path: &Path) -> bool {
        let mut git_dirs = self.repositories.iter().filter(|found| self.may_write_git_dir(found));
        path.starts_with(&self.project)
            || git_dirs.any(|found| path.starts_with(&found.git_dir) || path.starts_with(&found.own_git_dir))
    }

    /// Whether the search before the run would have found a repository with this working tree.
    pub(crate) fn was_searched(&self, root: &Path) -> bool {
        root.starts_with(&self.project)
            && !self.unread.iter().any(|unread| root.starts_with(unread) && root != unread)
    }

    /// The project and the working trees of its repositories.
    pub(super) fn working_trees(&self) -> impl Iterator<Item = &PathBuf> {
        let repositories = self.repositories.iter().filter(|found| found.has_working_tree());
        repositories.map(|found| &found.root).chain([&self.project])
    }

    /// Whether a run may write the git directory of a repository although it is outside the project. Both directories are
    /// then outside, and neither contains the home directory or Tenterhook's own files.
    pub(super) fn may_write_git_dir(&self, repository: &Repository) -> bool {
        let Repository { git_dir, own_git_dir, is_worktree, .. } = repository;
        let guarded = [&self.home, &self.state, &self.config];
        *is_worktree
            && !own_git_dir.starts_with(&self.project)
            && !git_dir.starts_with(&self.project)
            && !guarded.iter().any(|guarded| !guarded.as_os_str().is_empty() && guarded.starts_with(git_dir))
    }
}
