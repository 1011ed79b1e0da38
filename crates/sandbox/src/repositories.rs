// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Git repositories, read as git reads them: `.git` files, `commondir`, submodules and worktrees.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::file_tree::{FileTree, LinkAtEnd, TreeEntryKind, read_ordinary_file};

/// Names in a git directory.
const GIT_DIRECTORY_NAMES: &[&str] = &["HEAD", "objects", "refs"];
/// Start of a file that names a git directory.
const GIT_FILE_START: &[u8] = b"gitdir: ";
/// Maximum size of a file that names a git directory. Git has the same limit.
const MAX_GIT_FILE_BYTES: u64 = 1 << 20;
/// Maximum number of directories that are read below `modules` of a git directory.
const MAX_MODULE_DIRECTORIES: usize = 500;
/// Maximum number of parts in the name of a submodule, such as `third-party/library`.
const MAX_MODULE_DEPTH: usize = 4;

/// A repository in the project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Repository {
    /// Directory of the working tree. The git directory itself if this is a bare repository, or if its working tree is not
    /// known.
    pub root: PathBuf,
    /// Directory with the configuration and the hooks.
    pub git_dir: PathBuf,
    /// Directory with the settings of this worktree or submodule; the same as `git_dir` in an ordinary repository.
    pub own_git_dir: PathBuf,
    /// Whether this is a worktree of a repository outside: its own git directory is in `worktrees` of a git directory and
    /// names this working tree. Otherwise the project could name any directory as its git directory.
    pub is_worktree: bool,
}

impl Repository {
    /// Whether the repository has a working tree that is known.
    pub(crate) fn has_working_tree(&self) -> bool {
        self.root != self.own_git_dir
    }

    /// Directories whose `hooks` git runs.
    pub(crate) fn hook_owners(&self) -> Vec<&PathBuf> {
        // The hooks of a worktree are those of its repository.
        let is_plain_worktree = !self.has_working_tree() && self.own_git_dir != self.git_dir;
        if is_plain_worktree { vec![&self.git_dir] } else { vec![&self.git_dir, &self.own_git_dir] }
    }
}

/// The repository whose working tree is this directory.
pub(crate) fn repository_at(directory: &Path, tree: &dyn FileTree) -> Option<Repository> {
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

/// The bare repository that a directory with these names is. With `commondir`, the rest is in the directory that it names.
pub(crate) fn bare_repository(
    directory: &Path,
    names: &[std::ffi::OsString],
    tree: &dyn FileTree,
) -> Option<Repository> {
    let has = |name: &str| names.iter().any(|other| other == name);
    let is_bare = GIT_DIRECTORY_NAMES.iter().all(|name| has(name)) || has("HEAD") && has("commondir");
    is_bare.then(|| repository(directory, directory.to_owned(), tree))
}

/// Returns the git directories of submodules and worktrees in a git directory. Their working trees may be missing, or be
/// outside the project.
pub(crate) fn nested_git_directories(git_dir: &Path, tree: &dyn FileTree) -> Vec<Repository> {
    let mut found = Vec::new();
    let worktrees = git_dir.join("worktrees");
    for name in tree.names(&worktrees) {
        let directory = worktrees.join(name);
        if tree.kind(&directory) == Some(TreeEntryKind::Directory) {
            found.push(repository(&directory, directory.clone(), tree));
        }
    }
    let mut waiting = vec![(git_dir.join("modules"), 0)];
    let mut read = 0;
    while let Some((directory, depth)) = waiting.pop() {
        read += 1;
        if read > MAX_MODULE_DIRECTORIES {
            break;
        }
        for name in tree.names(&directory) {
            let path = directory.join(name);
            if tree.kind(&path) != Some(TreeEntryKind::Directory) {
                continue;
            }
            if tree.kind(&path.join("HEAD")).is_some() {
                found.push(repository(&path, path.clone(), tree));
                waiting.push((path.join("modules"), 0));
            } else if depth < MAX_MODULE_DEPTH {
                waiting.push((path, depth + 1));
            }
        }
    }
    found
}

/// Files that say where git finds the configuration of a repository.
pub(crate) fn identity_files(repository: &Repository) -> [PathBuf; 3] {
    let Repository { root, own_git_dir, .. } = repository;
    [root.join(".git"), own_git_dir.join("commondir"), own_git_dir.join("gitdir")]
}

/// A repository with this git directory. A file in it may name another directory with configuration and hooks.
fn repository(root: &Path, own_git_dir: PathBuf, tree: &dyn FileTree) -> Repository {
    let common = read_path(&own_git_dir.join("commondir"), b"")
        .map(|common| tree.canonical(&own_git_dir.join(common)));
    let back = read_path(&own_git_dir.join("gitdir"), b"");
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
    let own_git_dir = root.join(read_path(file, GIT_FILE_START)?);
    Some(repository(root, own_git_dir.canonicalize().ok()?, tree))
}

/// Reads a path from a file as git does: any bytes, up to the line breaks at the end or a zero byte.
fn read_path(file: &Path, start: &[u8]) -> Option<PathBuf> {
    // Git follows links here.
    let content = read_ordinary_file(file, MAX_GIT_FILE_BYTES, LinkAtEnd::Follow).ok()??;
    let path = path_in(content.strip_prefix(start)?);
    (!path.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(path)))
}

fn path_in(content: &[u8]) -> &[u8] {
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let end = content.iter().rposition(|byte| !is_break(byte)).map_or(0, |last| last + 1);
    let line = content.get(..end).unwrap_or_default();
    line.split(|byte| *byte == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_files_of_git_are_any_bytes() {
        for (content, path) in [
            (&b"../a\n"[..], &b"../a"[..]),
            (b"../a \r\n\n", b"../a "),
            (b"\xff/b", b"\xff/b"),
            (b"a\0b\n", b"a"),
            (b"a\nb\n", b"a\nb"),
            (b"\n", b""),
        ] {
            assert_eq!(path_in(content), path);
        }
    }
}
