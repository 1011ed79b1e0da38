// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Repositories that a run created: their settings and hooks are the agent's.

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use super::file_repair::FileRepair;
use super::stored::FileBytes;
use super::{CheckedSettingsFile, SettingsBefore, UndoneChange, git_settings_files, restore_git_settings};
use crate::file_tree::{DiskTree, FileTree as _, TreeEntryKind};
use crate::repositories::Repository;
use crate::repository_search::ProjectContent;

impl SettingsBefore {
    /// Removes the settings and hooks of repositories that the run created. What was not changed during the run stays: the
    /// search before a run does not find every repository.
    pub(super) fn restore_new_repositories(
        &self,
        found: &ProjectContent,
        repair: &FileRepair<'_>,
    ) -> Vec<UndoneChange> {
        let mut undone = Vec::new();
        if self.roots.is_searched && !found.is_complete {
            let left =
                Err(io::Error::other("look for repositories in new directories before you use git there"));
            let project = &self.roots.project;
            undone.push(UndoneChange::new(project, "it is too large now to be searched", left));
        }
        let known = &self.roots.repositories;
        let new = found.repositories.iter().filter(|found| !known.contains(found)).cloned();
        // A directory elsewhere belongs to another project, or the run has planted it where nothing is compared.
        let is_inside = |path: &Path| {
            let has_parent = path.components().any(|part| part == Component::ParentDir);
            !has_parent && self.roots.contains_in_project(path)
        };
        let is_ours = |found: &Repository| is_inside(&found.git_dir) && is_inside(&found.own_git_dir);
        let (new, outside): (Vec<_>, Vec<_>) = new.partition(is_ours);
        let is_new = |found: &Repository| self.is_new_repository(found);
        let named = outside.iter().map(|found| (naming_file(found), is_new(found)));
        for file in named.filter(|(file, is_new)| *is_new || self.is_recent(file)).map(|(file, _)| file) {
            let moved = repair.move_aside(&file);
            undone.push(UndoneChange::new(&file, "it named a git directory outside the project", moved));
        }
        let (unused, new): (Vec<_>, Vec<_>) = new.into_iter().partition(|found| self.uses_unused(found));
        for file in unused.iter().map(naming_file) {
            let moved = repair.move_aside(&file);
            undone.push(UndoneChange::new(&file, "it named a git directory that was not in use", moved));
        }
        let is_compared = |path: &PathBuf| self.git.iter().any(|(known, _)| known == path);
        let nothing = CheckedSettingsFile { content: FileBytes::default(), mode: None };
        let (whole, changed): (Vec<_>, Vec<_>) = new.into_iter().partition(is_new);
        for (repositories, is_new) in [(&whole, true), (&changed, false)] {
            let files = git_settings_files(repositories).into_iter();
            for path in files.filter(|path| !is_compared(path) && (is_new || self.is_recent(path))) {
                undone.extend(restore_git_settings(&path, &nothing, repair));
            }
        }
        let is_known = |git_dir: &Path| known.iter().any(|known| known.git_dir == git_dir);
        let mut done: Vec<PathBuf> = Vec::new();
        for (repositories, is_new) in [(&whole, true), (&changed, false)] {
            for git_dir in repositories.iter().flat_map(Repository::hook_owners) {
                if !is_known(git_dir) && !done.contains(git_dir) {
                    undone.extend(self.disable_hooks(&git_dir.join("hooks"), is_new, repair));
                    done.push(git_dir.clone());
                }
            }
        }
        undone
    }

    /// Whether a repository uses a git directory that was known before the run and had no working tree, such as test data of
    /// the project. Its settings and hooks had no effect before. Those of submodules and worktrees belong to a repository.
    fn uses_unused(&self, found: &Repository) -> bool {
        let known = &self.roots.repositories;
        let is_unused = |git_dir: &PathBuf| {
            let mut users = known
                .iter()
                .filter(|known| known.git_dir == *git_dir || known.own_git_dir == *git_dir)
                .peekable();
            let is_within =
                |other: &Repository| git_dir != &other.git_dir && git_dir.starts_with(&other.git_dir);
            users.peek().is_some()
                && users.all(|user| !user.has_working_tree())
                && !known.iter().any(is_within)
        };
        [&found.git_dir, &found.own_git_dir].into_iter().any(is_unused)
    }

    /// Whether a repository that was not known before the run was made by it. Its files may be older: the run can rename a
    /// directory to `.git`, or name one in a `.git` file.
    fn is_new_repository(&self, found: &Repository) -> bool {
        let names_directory = !found.own_git_dir.starts_with(&found.root);
        self.roots.was_searched(&found.root) || names_directory && self.is_recent(&naming_file(found))
    }

    /// Makes hooks that the run created non-executable, so that git ignores them. In a repository that the run made, it
    /// created all hooks.
    fn disable_hooks(&self, directory: &Path, is_new: bool, repair: &FileRepair<'_>) -> Vec<UndoneChange> {
        if DiskTree.kind(directory) == Some(TreeEntryKind::Link) {
            if !is_new && !self.is_recent(directory) {
                return Vec::new();
            }
            // What it leads to may be the user's own programs.
            let moved = repair.move_aside(directory);
            return vec![UndoneChange::new(directory, "the hooks were in another directory", moved)];
        }
        let opened = match repair.open_directory(directory) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
            Err(error) => {
                let change = "the directory with its hooks was replaced";
                return vec![UndoneChange::new(directory, change, Err(error))];
            }
        };
        let mut undone = Vec::new();
        for name in DiskTree.names(&opened.path()) {
            let place = opened.join(&name);
            let is_sample = Path::new(&name).extension().is_some_and(|extension| extension == "sample");
            let Ok(found) = std::fs::symlink_metadata(&place) else { continue };
            if is_sample || found.is_dir() || !is_new && !self.is_recent(&place) {
                continue;
            }
            let path = directory.join(&name);
            // Renaming works on any kind of file; changing the mode could follow a link that replaces the file.
            let is_file = found.is_file() && found.nlink() == 1;
            if found.is_symlink() || !is_file {
                undone.push(UndoneChange::new(&path, "a git hook was created", repair.move_aside(&path)));
            } else if found.mode() & 0o111 != 0 {
                let change = "a git hook was created; it is no longer executable";
                undone.push(UndoneChange::new(&path, change, take_execution(&place)));
            }
        }
        undone
    }
}

/// Takes the right to execute a file from everyone, without following a link.
fn take_execution(path: &Path) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, open};
    use std::os::fd::AsRawFd as _;

    let file = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let place = format!("/proc/self/fd/{}", file.as_raw_fd());
    let found = std::fs::metadata(&place)?;
    if !found.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    std::fs::set_permissions(place, std::fs::Permissions::from_mode(found.mode() & 0o666))
}

/// The file that names the git directory of a repository.
fn naming_file(repository: &Repository) -> PathBuf {
    if repository.own_git_dir.starts_with(&repository.root) {
        repository.own_git_dir.join("commondir")
    } else {
        repository.root.join(".git")
    }
}
