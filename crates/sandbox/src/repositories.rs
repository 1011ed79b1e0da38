// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the git repositories in a project: itself, nested repositories, submodules and worktrees.

use std::path::{Path, PathBuf};

use crate::file_tree::{FileKind, FileTree};

/// Maximum depth at which nested repositories are searched.
const MAX_DEPTH: usize = 6;
/// Maximum number of directories that are read.
const MAX_DIRECTORIES: usize = 4_000;
/// Directories in which no repositories are searched, because packages and build results fill them.
const SKIPPED: &[&str] =
    &["node_modules", "target", ".venv", "venv", "__pycache__", ".cache", "vendor", "dist", "build"];
/// Maximum size of a `.git` file.
const MAX_GIT_FILE_BYTES: u64 = 4096;

/// A repository in the project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repository {
    /// Directory of the working tree.
    pub root: PathBuf,
    /// Directory with the configuration and the hooks.
    pub git_dir: PathBuf,
    /// Directory with the settings of this worktree or submodule; the same as `git_dir` in an ordinary repository.
    pub own_git_dir: PathBuf,
}

/// Finds the repositories in a project. `complete` is false if the project is too large to be searched.
pub fn find_repositories(project: &Path, tree: &dyn FileTree) -> (Vec<Repository>, bool) {
    let mut found = Vec::new();
    let mut waiting = vec![(project.to_owned(), 0)];
    let mut read = 0;
    let mut complete = true;
    while let Some((directory, depth)) = waiting.pop() {
        let git = directory.join(".git");
        match tree.kind(&git) {
            Some(FileKind::Directory) => {
                found.push(Repository { root: directory.clone(), git_dir: git.clone(), own_git_dir: git })
            }
            Some(FileKind::File) => found.extend(linked_repository(&directory, &git)),
            Some(FileKind::Link) | None => {}
        }
        if depth == MAX_DEPTH {
            complete = false;
            continue;
        }
        read += 1;
        if read > MAX_DIRECTORIES {
            complete = false;
            break;
        }
        for name in tree.names(&directory) {
            let path = directory.join(&name);
            let is_skipped = name == ".git" || SKIPPED.iter().any(|skipped| name == *skipped);
            if !is_skipped && tree.kind(&path) == Some(FileKind::Directory) {
                waiting.push((path, depth + 1));
            }
        }
    }
    found.sort();
    (found, complete)
}

/// Reads a `.git` file, which names the git directory of a worktree or submodule.
fn linked_repository(root: &Path, file: &Path) -> Option<Repository> {
    if std::fs::metadata(file).ok()?.len() > MAX_GIT_FILE_BYTES {
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    let own_git_dir = root.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let common = std::fs::read_to_string(own_git_dir.join("commondir")).ok();
    let common = common.and_then(|common| own_git_dir.join(common.trim()).canonicalize().ok());
    Some(Repository {
        root: root.to_owned(),
        git_dir: common.unwrap_or_else(|| own_git_dir.clone()),
        own_git_dir,
    })
}
