// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Repositories that a run created: their settings and hooks are the agent's.

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use super::file_repair::FileRepair;
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
        for file in outside.iter().map(naming_file).filter(|file| self.is_recent(file)) {
            let moved = repair.move_aside(&file);
            undone.push(UndoneChange::new(&file, "it named a git directory outside the project", moved));
        }
        let is_compared = |path: &PathBuf| self.git.iter().any(|(known, _)| known == path);
        let nothing = CheckedSettingsFile { content: Vec::new(), mode: None };
        let files = git_settings_files(&new).into_iter();
        for path in files.filter(|path| !is_compared(path) && self.is_recent(path)) {
            undone.extend(restore_git_settings(&path, &nothing, repair));
        }
        let is_known = |git_dir: &Path| known.iter().any(|known| known.git_dir == git_dir);
        let mut owners: Vec<_> = new.iter().flat_map(Repository::hook_owners).collect();
        owners.sort();
        owners.dedup();
        for git_dir in owners.into_iter().filter(|git_dir| !is_known(git_dir)) {
            undone.extend(self.disable_hooks(&git_dir.join("hooks"), repair));
        }
        undone
    }

    /// Makes hooks of a repository that the run created non-executable, so that git ignores them.
    fn disable_hooks(&self, directory: &Path, repair: &FileRepair<'_>) -> Vec<UndoneChange> {
        if DiskTree.kind(directory) == Some(TreeEntryKind::Link) {
            if !self.is_recent(directory) {
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
            if is_sample || found.is_dir() || !self.is_recent(&place) {
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
