// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the git repositories in a project: itself, nested and bare repositories, submodules and worktrees.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::file_tree::{FileTree, TreeEntryKind};

/// Maximum depth at which nested repositories are searched.
const MAX_DEPTH: usize = 6;
/// Maximum number of directories that are read.
const MAX_DIRECTORIES: usize = 4_000;
/// Directories that packages and build results fill. They are searched last, and not as deep.
const CROWDED: &[&str] =
    &["node_modules", "target", ".venv", "venv", "__pycache__", ".cache", "vendor", "dist", "build"];
/// Depth at which nested repositories are searched in crowded directories, for `node_modules/@scope/package`.
const CROWDED_DEPTH: usize = 2;
/// Maximum number of crowded directories that are looked at.
const MAX_CROWDED_DIRECTORIES: usize = 1_500;
/// Names in a git directory.
const GIT_DIRECTORY_NAMES: &[&str] = &["HEAD", "objects", "refs"];
/// Maximum size of a file that names a git directory. Git has the same limit.
const MAX_GIT_FILE_BYTES: u64 = 1 << 20;

/// A repository in the project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repository {
    /// Directory of the working tree, or of a bare repository.
    pub root: PathBuf,
    /// Directory with the configuration and the hooks.
    pub git_dir: PathBuf,
    /// Directory with the settings of this worktree or submodule; the same as `git_dir` in an ordinary repository.
    pub own_git_dir: PathBuf,
    /// Whether this is a worktree of a repository outside: its own git directory is in `worktrees` of a git directory and
    /// names this working tree. Otherwise the project could name any directory as its git directory.
    pub is_worktree: bool,
}

/// Finds the repositories in a project. The second value is false if the project is too large to be searched.
pub fn find_repositories(project: &Path, tree: &dyn FileTree) -> (Vec<Repository>, bool) {
    let mut found = Vec::new();
    let mut waiting = vec![(project.to_owned(), 0)];
    let mut crowded = VecDeque::new();
    let mut read = 0;
    let mut complete = true;
    while let Some((directory, depth)) = waiting.pop() {
        found.extend(repository_at(&directory, tree));
        if depth == MAX_DEPTH {
            complete = false;
            continue;
        }
        read += 1;
        if read > MAX_DIRECTORIES {
            complete = false;
            break;
        }
        for (name, path) in subdirectories(&directory, tree, &mut found) {
            if CROWDED.iter().any(|crowded| name == *crowded) {
                crowded.push_back((path, CROWDED_DEPTH));
            } else {
                waiting.push((path, depth + 1));
            }
        }
    }
    let mut looked_at = 0;
    while let Some((directory, depth)) = crowded.pop_front() {
        looked_at += 1;
        if looked_at > MAX_CROWDED_DIRECTORIES {
            complete = false;
            break;
        }
        found.extend(repository_at(&directory, tree));
        if depth > 0 {
            let below = subdirectories(&directory, tree, &mut found);
            crowded.extend(below.into_iter().map(|(_, path)| (path, depth - 1)));
        }
    }
    found.sort();
    found.dedup();
    (found, complete)
}

/// The repository whose working tree is this directory.
fn repository_at(directory: &Path, tree: &dyn FileTree) -> Option<Repository> {
    let git = directory.join(".git");
    match tree.kind(&git)? {
        TreeEntryKind::Directory => Some(repository(directory, git, tree)),
        TreeEntryKind::Link => {
            let real = tree.canonical(&git);
            match tree.kind(&real) {
                Some(TreeEntryKind::File) => linked_repository(directory, &real, tree),
                _ => Some(repository(directory, real, tree)),
            }
        }
        TreeEntryKind::File => linked_repository(directory, &git, tree),
    }
}

/// Returns the directories in a directory, except its git directory. Adds the directory if it is a bare repository.
fn subdirectories(
    directory: &Path,
    tree: &dyn FileTree,
    found: &mut Vec<Repository>,
) -> Vec<(OsString, PathBuf)> {
    let names = tree.names(directory);
    let has = |name: &str| names.iter().any(|other| other == name);
    // With `commondir`, the rest is in the directory that it names.
    if GIT_DIRECTORY_NAMES.iter().all(|name| has(name)) || has("HEAD") && has("commondir") {
        found.push(repository(directory, directory.to_owned(), tree));
    }
    let paths = names.into_iter().filter(|name| name != ".git").map(|name| {
        let path = directory.join(&name);
        (name, path)
    });
    paths.filter(|(_, path)| tree.kind(path) == Some(TreeEntryKind::Directory)).collect()
}

/// Files that say where git finds the configuration of a repository.
pub(crate) fn identity_files(repository: &Repository) -> [PathBuf; 3] {
    let Repository { root, own_git_dir, .. } = repository;
    [root.join(".git"), own_git_dir.join("commondir"), own_git_dir.join("gitdir")]
}

/// A repository with this git directory. A file in it may name another directory with configuration and hooks.
fn repository(root: &Path, own_git_dir: PathBuf, tree: &dyn FileTree) -> Repository {
    let common =
        read_line(&own_git_dir.join("commondir")).map(|common| tree.canonical(&own_git_dir.join(common)));
    let back = read_line(&own_git_dir.join("gitdir"));
    let is_named = back
        .is_some_and(|back| tree.canonical(&own_git_dir.join(back)) == tree.canonical(&root.join(".git")));
    let git_dir = common.unwrap_or_else(|| own_git_dir.clone());
    let is_worktree = is_named
        && !own_git_dir.starts_with(root)
        && own_git_dir.parent() == Some(git_dir.join("worktrees").as_path())
        && GIT_DIRECTORY_NAMES.iter().all(|name| tree.kind(&git_dir.join(name)).is_some());
    Repository { root: root.to_owned(), git_dir, own_git_dir, is_worktree }
}

/// Reads a `.git` file, which names the git directory of a worktree or submodule.
fn linked_repository(root: &Path, file: &Path, tree: &dyn FileTree) -> Option<Repository> {
    let line = read_line(file)?;
    let own_git_dir = root.join(line.strip_prefix("gitdir:")?.trim());
    Some(repository(root, own_git_dir.canonicalize().ok()?, tree))
}

fn read_line(path: &Path) -> Option<String> {
    // Git follows links here.
    let found = std::fs::metadata(path).ok()?;
    if !found.is_file() || found.len() > MAX_GIT_FILE_BYTES {
        return None;
    }
    Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
}
