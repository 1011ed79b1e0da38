// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Searches a project for git repositories: itself, nested and bare repositories, submodules and worktrees.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};

use crate::file_tree::{FileTree, TreeEntryKind};
use crate::repositories::{Repository, bare_repository, nested_git_directories, repository_at};

/// Directories that packages and build results fill. They are searched last, and not as deep.
const CROWDED: &[&str] =
    &["node_modules", "target", ".venv", "venv", "__pycache__", ".cache", "vendor", "dist", "build"];
/// Depth at which nested repositories are searched in crowded directories, for `node_modules/@scope/package`.
const CROWDED_DEPTH: usize = 2;

/// How far a project is searched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchLimits {
    /// Maximum depth of directories that are read.
    depth: usize,
    /// Maximum number of directories that are read.
    directories: usize,
    /// Maximum number of crowded directories that are read.
    crowded_directories: usize,
    /// Whether directories to which links in the project lead are searched too.
    follows_links: bool,
}

/// Limits before a run, which waits for the search.
const BEFORE_RUN: SearchLimits =
    SearchLimits { depth: 6, directories: 4_000, crowded_directories: 1_500, follows_links: false };
/// Limits after a run, which may have hidden a repository.
pub(crate) const AFTER_RUN: SearchLimits =
    SearchLimits { depth: 24, directories: 30_000, crowded_directories: 3_000, follows_links: true };

/// What is in a project.
#[derive(Debug, Default)]
pub(crate) struct ProjectContent {
    pub(crate) repositories: Vec<Repository>,
    /// Symbolic links outside of git directories.
    pub(crate) links: Vec<PathBuf>,
    /// False if the project is too large to be searched.
    pub(crate) is_complete: bool,
    /// Directories whose content was not read. Repositories may be below them.
    pub(crate) unread: Vec<PathBuf>,
}

/// The repositories in a project before a run.
#[derive(Debug, Default)]
pub struct FoundRepositories {
    /// The repositories that were found.
    pub repositories: Vec<Repository>,
    /// False if the project is too large to be searched.
    pub is_complete: bool,
    /// Directories below which more repositories may be.
    pub unread: Vec<PathBuf>,
}

/// Finds the repositories in a project before a run.
pub fn find_repositories(project: &Path, tree: &dyn FileTree) -> FoundRepositories {
    let ProjectContent { repositories, is_complete, unread, .. } = search_project(project, BEFORE_RUN, tree);
    FoundRepositories { repositories, is_complete, unread }
}

/// Searches a project. Directories near its root come first, so that many directories somewhere below hide none of them.
pub(crate) fn search_project(project: &Path, limits: SearchLimits, tree: &dyn FileTree) -> ProjectContent {
    let mut search = ProjectSearch {
        project,
        limits,
        tree,
        seen: HashSet::from([project.to_owned()]),
        waiting: VecDeque::from([(project.to_owned(), 0)]),
        crowded: VecDeque::new(),
        found: ProjectContent { is_complete: true, ..ProjectContent::default() },
    };
    search.found.repositories.extend(repository_at(project, tree));
    search.read_directories();
    search.read_crowded();
    let mut found = search.found;
    let owners: HashSet<_> = found
        .repositories
        .iter()
        .filter(|repository| repository.is_worktree || repository.git_dir.starts_with(project))
        .map(|repository| repository.git_dir.clone())
        .collect();
    for git_dir in owners {
        found.repositories.extend(nested_git_directories(&git_dir, tree));
    }
    found.repositories.sort();
    found.repositories.dedup();
    found
}

struct ProjectSearch<'a> {
    project: &'a Path,
    limits: SearchLimits,
    tree: &'a dyn FileTree,
    seen: HashSet<PathBuf>,
    waiting: VecDeque<(PathBuf, usize)>,
    crowded: VecDeque<(PathBuf, usize)>,
    found: ProjectContent,
}

impl ProjectSearch<'_> {
    fn read_directories(&mut self) {
        let mut read = 0;
        while let Some((directory, depth)) = self.waiting.pop_front() {
            read += 1;
            if read > self.limits.directories {
                self.found.is_complete = false;
                self.found.unread.push(directory);
                self.found.unread.extend(self.waiting.drain(..).map(|(path, _)| path));
                return;
            }
            for path in self.subdirectories(&directory, depth) {
                let is_crowded = CROWDED.iter().any(|name| path.file_name().is_some_and(|own| own == *name));
                if is_crowded {
                    self.crowded.push_back((path, CROWDED_DEPTH));
                } else if depth + 1 < self.limits.depth {
                    self.waiting.push_back((path, depth + 1));
                } else {
                    self.found.is_complete = false;
                    self.found.unread.push(path);
                }
            }
        }
    }

    fn read_crowded(&mut self) {
        let mut read = 0;
        while let Some((directory, depth)) = self.crowded.pop_front() {
            read += 1;
            if read > self.limits.crowded_directories {
                self.found.is_complete = false;
                self.found.unread.push(directory);
                self.found.unread.extend(self.crowded.drain(..).map(|(path, _)| path));
                return;
            }
            if depth > 0 {
                let below = self.subdirectories(&directory, 0);
                self.crowded.extend(below.into_iter().map(|path| (path, depth - 1)));
            } else {
                self.found.unread.push(directory);
            }
        }
    }

    /// Returns the directories in a directory, except its git directory. Adds the repositories and links that it contains.
    fn subdirectories(&mut self, directory: &Path, depth: usize) -> Vec<PathBuf> {
        let names = self.tree.names(directory);
        self.found.repositories.extend(bare_repository(directory, &names, self.tree));
        let mut below = Vec::new();
        for path in names.iter().filter(|name| *name != ".git").map(|name| directory.join(name)) {
            match self.tree.kind(&path) {
                Some(TreeEntryKind::Directory) if self.seen.insert(path.clone()) => {
                    self.found.repositories.extend(repository_at(&path, self.tree));
                    below.push(path);
                }
                Some(TreeEntryKind::Link) => self.add_link(path, depth),
                _ => {}
            }
        }
        below
    }

    /// Adds a link, and the directory to which it leads: git looks for a repository in the real directory and above it.
    fn add_link(&mut self, link: PathBuf, depth: usize) {
        if self.limits.follows_links {
            let target = self.tree.canonical(&link);
            let is_inside = target.starts_with(self.project);
            if is_inside && self.tree.kind(&target) == Some(TreeEntryKind::Directory) {
                let above = target.ancestors().take_while(|above| *above != self.project);
                let unseen: Vec<_> = above.filter(|above| self.seen.insert((*above).to_owned())).collect();
                for directory in unseen {
                    self.found.repositories.extend(repository_at(directory, self.tree));
                    self.waiting.push_back((directory.to_owned(), depth + 1));
                }
            }
        }
        self.found.links.push(link);
    }
}
