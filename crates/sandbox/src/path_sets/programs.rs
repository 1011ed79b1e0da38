// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that run outside later, and files with which other programs start them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Derivation, PathAccess};
use crate::file_tree::TreeEntryKind;

/// Files of a repository with which harnesses and editors start programs, and which no rule protects. They stay writable,
/// because many repositories contain them and git has to be able to replace them.
const PROGRAM_SETTINGS: &[&str] = &[
    ".devcontainer.json",
    ".devcontainer/devcontainer.json",
    ".envrc",
    ".exrc",
    ".helix/config.toml",
    ".helix/languages.toml",
    ".idea/watcherTasks.xml",
    ".idea/workspace.xml",
    ".lazygit.yml",
    ".mcp.json",
    ".nvim.lua",
    ".nvimrc",
    ".vim/coc-settings.json",
    ".vscode/mcp.json",
    ".vscode/settings.json",
    ".vscode/tasks.json",
    ".zed/settings.json",
    ".zed/tasks.json",
];
/// Files of a git directory with which other programs than git start programs.
const GIT_PROGRAM_SETTINGS: &[&str] = &["lazygit.yml"];

/// Rule whose files name the programs that a harness starts.
const HARNESS_SETTINGS_RULE: &str = "hook-settings";
/// Characters around a path in a settings file.
const PATH_DELIMITERS: &[char] =
    &['"', '\'', '`', ' ', '\t', '\n', '\r', ',', ';', '=', '(', ')', '[', ']', '{', '}', '<', '>', '|', '&'];
/// Starts of a path in the home directory.
const HOME_STARTS: &[&str] = &["~/", "$HOME/", "${HOME}/"];

impl Derivation<'_> {
    /// Makes a path of a profile read-only. A missing file is created with neutral content, or, if that could hide another
    /// file, removed after the run.
    pub(super) fn add_read_only(&mut self, path: &Path, is_directory: bool) {
        let is_neutral = is_directory || path.extension().is_some_and(|extension| extension == "json");
        let access = if is_neutral || self.tree.kind(path).is_some() {
            PathAccess::ReadOnly
        } else {
            PathAccess::Checked
        };
        self.add(path, access, is_directory, "profile");
    }

    /// Makes programs read-only that the settings of a harness name, such as the script of a status line: other sessions
    /// run them. The directory of a program may contain other files that it reads.
    pub(super) fn add_named_programs(&mut self) {
        let settings = self.entries.values().filter(|entry| {
            entry.reason == HARNESS_SETTINGS_RULE
                && entry.exists
                && !entry.is_directory
                && entry.path.starts_with(&self.roots.home)
                && !entry.path.starts_with(&self.roots.project)
        });
        let files = settings.map(|entry| &entry.path).chain(&self.own);
        let texts: Vec<_> = files.filter_map(|path| self.tree.settings_text(path)).collect();
        let words: BTreeSet<_> = texts.iter().flat_map(|text| text.split(PATH_DELIMITERS)).collect();
        let programs: BTreeSet<_> = words.into_iter().filter_map(|word| self.home_path(word)).collect();
        for program in programs {
            if self.tree.kind(&program) != Some(TreeEntryKind::File)
                || !self.is_writable_outside_project(&program)
            {
                continue;
            }
            let root = self.writable_root(&program);
            match program.parent().filter(|directory| Some(*directory) != root.as_deref()) {
                Some(directory) if is_program_name(&program) => {
                    self.add(directory, PathAccess::ReadOnly, true, "programs in settings");
                }
                _ => self.add(&program, PathAccess::ReadOnly, false, "programs in settings"),
            }
        }
    }

    fn home_path(&mut self, word: &str) -> Option<PathBuf> {
        let home = &self.roots.home;
        let below = HOME_STARTS.iter().find_map(|start| word.strip_prefix(start));
        let path =
            below.map(|below| home.join(below)).or_else(|| word.starts_with('/').then(|| word.into()))?;
        Some(self.real(&path))
    }

    /// Makes programs that the user starts by their name read-only: directories of the `PATH`, and the files to which
    /// links in them lead. The project belongs to the run.
    pub(super) fn add_programs(&mut self) {
        for directory in &self.roots.program_directories {
            if self.is_writable_outside_project(directory) {
                self.add(directory, PathAccess::ReadOnly, true, "programs on the PATH");
            }
            if !directory.starts_with(&self.roots.home) {
                continue;
            }
            for name in self.tree.names(directory) {
                let link = directory.join(name);
                if self.tree.kind(&link) != Some(TreeEntryKind::Link) {
                    continue;
                }
                let program = self.tree.canonical(&link);
                if self.tree.kind(&program) == Some(TreeEntryKind::File)
                    && self.is_writable_outside_project(&program)
                {
                    self.add(&program, PathAccess::ReadOnly, false, "programs on the PATH");
                }
            }
        }
    }

    pub(super) fn add_program_settings(&mut self) {
        let roots = self.roots;
        for root in roots.working_trees() {
            for name in PROGRAM_SETTINGS {
                self.add(&root.join(name), PathAccess::Checked, false, "tenterhook");
            }
        }
        let git_dirs = roots.repositories.iter().flat_map(|found| [&found.git_dir, &found.own_git_dir]);
        for git_dir in git_dirs.filter(|git_dir| roots.contains_in_project(git_dir)) {
            for name in GIT_PROGRAM_SETTINGS {
                self.add(&git_dir.join(name), PathAccess::Checked, false, "tenterhook");
            }
        }
    }
}

/// Whether a name is that of a script or a program, not that of a data file.
fn is_program_name(path: &Path) -> bool {
    const SCRIPTS: &[&str] =
        &["sh", "bash", "zsh", "fish", "py", "js", "mjs", "cjs", "ts", "rb", "pl", "lua", "php"];
    path.extension().is_none_or(|extension| SCRIPTS.iter().any(|known| extension == *known))
}
