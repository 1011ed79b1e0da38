// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Links with which a program outside would write a protected file for the run: git writes its logs and messages through
//! links, and other programs their results.

use std::path::{Path, PathBuf};

use super::{SettingsBefore, UndoneChange, file_repair::FileRepair};
use crate::file_tree::{DiskTree, FileTree as _, TreeEntryKind};
use crate::path_sets::PathAccess;
use crate::repositories::Repository;

/// Maximum number of links after each other.
const MAX_LINKS: usize = 16;
/// Maximum number of names that are read in a git directory.
const MAX_GIT_NAMES: usize = 20_000;
/// Directories of a git directory whose content is read at any depth.
const DEEP_GIT_DIRECTORIES: &[&str] = &["info", "logs", "rebase-apply", "rebase-merge", "refs", "sequencer"];
/// Directories of a git directory of which only the names are read.
const FLAT_GIT_DIRECTORIES: &[&str] = &["objects"];

impl SettingsBefore {
    /// Moves new links aside with which a program outside would change what the run may not change.
    pub(super) fn undo_links(
        &self,
        links: &[PathBuf],
        repositories: &[Repository],
        repair: &FileRepair<'_>,
    ) -> Vec<UndoneChange> {
        let mut undone = Vec::new();
        for link in links.iter().filter(|link| self.is_recent(link)) {
            if resolve(link).is_some_and(|target| self.is_guarded_target(&target)) {
                let moved = repair.move_aside(link);
                undone.push(UndoneChange::new(link, "a link to a protected path was created", moved));
            }
        }
        let mut git_dirs: Vec<_> =
            repositories.iter().flat_map(|found| [&found.git_dir, &found.own_git_dir]).collect();
        git_dirs.retain(|git_dir| self.roots.contains_in_project(git_dir));
        git_dirs.sort();
        git_dirs.dedup();
        for git_dir in git_dirs {
            for link in links_in(git_dir).into_iter().filter(|link| self.is_recent(link)) {
                if resolve(&link).is_some_and(|target| !self.roots.contains_in_project(&target)) {
                    let moved = repair.move_aside(&link);
                    let change = "a link in a git directory led out of the project";
                    undone.push(UndoneChange::new(&link, change, moved));
                }
            }
        }
        undone
    }

    /// Whether a path is protected, or is a directory that contains protected paths of the home directory.
    fn is_guarded_target(&self, target: &Path) -> bool {
        let roots = &self.roots;
        if roots.contains_in_project(target) {
            return false;
        }
        let is_ours = [&roots.home, &roots.state, &roots.config]
            .into_iter()
            .any(|directory| !directory.as_os_str().is_empty() && target.starts_with(directory));
        let is_above = roots.home.starts_with(target);
        let is_strict = |access| matches!(access, PathAccess::ReadOnly | PathAccess::Hidden);
        let mut entries = self.sets.entries.iter().filter(|entry| {
            is_strict(entry.access) && entry.reason != "profile" && entry.reason != "programs on the PATH"
        });
        is_above
            || is_ours
                && (entries.any(|entry| target.starts_with(&entry.path) || entry.path.starts_with(target))
                    || self.sets.has_protected_below(target)
                    || self.sets.rule_against_writing(target).is_some())
    }
}

/// Returns where a link leads, whether that exists or not. `None` if this is not a link, or a circle of links.
fn resolve(link: &Path) -> Option<PathBuf> {
    let mut path = link.to_owned();
    for _ in 0..MAX_LINKS {
        let directory = DiskTree.canonical(path.parent()?);
        let target = DiskTree.canonical(&directory.join(std::fs::read_link(&path).ok()?));
        if DiskTree.kind(&target) != Some(TreeEntryKind::Link) {
            return Some(target);
        }
        path = target;
    }
    None
}

/// Returns the links in a git directory through which git may write.
fn links_in(git_dir: &Path) -> Vec<PathBuf> {
    let mut links = Vec::new();
    let mut waiting = vec![(git_dir.to_owned(), false)];
    let mut left = MAX_GIT_NAMES;
    while let Some((directory, is_deep)) = waiting.pop() {
        for name in DiskTree.names(&directory) {
            let Some(rest) = left.checked_sub(1) else { return links };
            left = rest;
            let path = directory.join(&name);
            let is_named = |names: &[&str]| names.iter().any(|other| name == *other);
            match DiskTree.kind(&path) {
                Some(TreeEntryKind::Link) => links.push(path),
                Some(TreeEntryKind::Directory)
                    if is_deep || directory == git_dir && is_named(DEEP_GIT_DIRECTORIES) =>
                {
                    waiting.push((path, true));
                }
                Some(TreeEntryKind::Directory) if directory == git_dir && is_named(FLAT_GIT_DIRECTORIES) => {
                    waiting.push((path, false));
                }
                _ => {}
            }
        }
    }
    links
}
