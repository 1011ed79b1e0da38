// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Settings that a sandboxed run must be able to write. They are compared after the run, and changes with which the run
//! could act outside are undone.

mod beginning;
mod file_repair;
mod new_repositories;
mod project_links;
mod rebase_commands;
mod state_file;
mod stored;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::beginning::RunBeginning;
use self::file_repair::FileRepair;
use self::state_file::StateFile;
use self::stored::FileBytes;
use crate::file_tree::{DiskTree, FileTree as _, LinkAtEnd, TreeEntryKind, read_ordinary_file};
use crate::git_settings::{program_settings, without_added};
use crate::path_sets::{PathAccess, PathSets, SandboxRoots};
use crate::repositories::{Repository, identity_files};
use crate::repository_search::{AFTER_RUN, search_project};

/// Maximum size of a settings file that is compared.
const MAX_SETTINGS_BYTES: u64 = 16 << 20;
/// Maximum number of settings that the report of a file names.
const MAX_NAMED_SETTINGS: usize = 10;
/// Maximum length of a setting in a report.
const MAX_SETTING_LETTERS: usize = 200;
/// Files with git settings in a git directory.
const GIT_SETTINGS_FILES: &[&str] = &["config", "config.worktree"];

/// The settings before a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct SettingsBefore {
    roots: SandboxRoots,
    sets: PathSets,
    /// When the settings were read.
    began: RunBeginning,
    git: Vec<(PathBuf, CheckedSettingsFile)>,
    /// Files that say where git finds the configuration.
    identity: Vec<(PathBuf, FileIdentity)>,
    links: Vec<(PathBuf, PathBuf)>,
    absent: Vec<PathBuf>,
    state: Vec<(PathBuf, StateFile)>,
    /// Steps of unfinished rebases.
    steps: Vec<(PathBuf, FileBytes)>,
    /// Files whose changes are only reported.
    reported: Vec<(PathBuf, Option<FileBytes>)>,
}

/// Content and mode of a settings file before a run.
#[derive(Debug, Serialize, Deserialize)]
struct CheckedSettingsFile {
    content: FileBytes,
    mode: Option<u32>,
}

/// What a file that names a repository is.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
enum FileIdentity {
    Missing,
    Directory,
    File(FileBytes),
    Link(PathBuf),
}

impl FileIdentity {
    fn read(path: &Path) -> io::Result<Self> {
        Ok(match DiskTree.kind(path) {
            None => Self::Missing,
            Some(TreeEntryKind::Directory) => Self::Directory,
            Some(TreeEntryKind::Link) => Self::Link(std::fs::read_link(path)?),
            Some(TreeEntryKind::File) => Self::File(FileBytes(read_settings(path)?.unwrap_or_default())),
        })
    }

    fn restore(&self, path: &Path, repair: &FileRepair<'_>) -> io::Result<()> {
        match self {
            // A directory cannot have been moved, because it is mounted.
            Self::Missing | Self::Directory => repair.move_aside(path),
            Self::File(content) => repair.replace(path, &content.0, None),
            Self::Link(target) => repair.replace_by_link(path, target),
        }
    }
}

/// A change that was undone after a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UndoneChange {
    /// File that was changed.
    pub path: PathBuf,
    /// What was changed.
    pub change: String,
    /// Why the change could not be undone, if so.
    pub error: Option<String>,
}

impl SettingsBefore {
    /// Reads the settings before a run. `own` are files in which a harness keeps its state.
    pub fn read(sets: &PathSets, roots: &SandboxRoots, own: &[PathBuf]) -> io::Result<Self> {
        let mut before = Self {
            roots: roots.clone(),
            sets: sets.clone(),
            began: RunBeginning::now(&roots.project),
            git: Vec::new(),
            identity: Vec::new(),
            links: Vec::new(),
            absent: Vec::new(),
            state: Vec::new(),
            steps: Vec::new(),
            reported: Vec::new(),
        };
        for path in git_settings_files(&roots.repositories) {
            let content = FileBytes(read_settings(&path)?.unwrap_or_default());
            let mode = std::fs::symlink_metadata(&path).ok().filter(std::fs::Metadata::is_file);
            let mode = mode.map(|found| found.mode() & 0o777);
            before.git.push((path, CheckedSettingsFile { content, mode }));
        }
        for path in rebase_commands::step_files(&roots.repositories) {
            if let Some(content) = read_settings(&path)? {
                before.steps.push((path, FileBytes(content)));
            }
        }
        for path in roots.repositories.iter().flat_map(identity_files) {
            let identity = FileIdentity::read(&path)?;
            before.identity.push((path, identity));
        }
        for entry in sets.with_access(PathAccess::Checked) {
            match DiskTree.kind(&entry.path) {
                Some(TreeEntryKind::Link) => {
                    before.links.push((entry.path.clone(), std::fs::read_link(&entry.path)?));
                }
                Some(TreeEntryKind::File) if entry.path.ends_with(".mcp.json") => {
                    before.state.push((entry.path.clone(), StateFile::read(&entry.path)?));
                }
                Some(TreeEntryKind::File) => {
                    let content = read_settings(&entry.path)?.map(FileBytes);
                    before.reported.push((entry.path.clone(), content));
                }
                Some(TreeEntryKind::Directory) => {}
                None => before.absent.push(entry.path.clone()),
            }
        }
        for path in own {
            before.state.push((path.clone(), StateFile::read(path)?));
        }
        Ok(before)
    }

    /// Compares the settings after a run and undoes changes. No process of the run may be left.
    pub fn restore(&self) -> Vec<UndoneChange> {
        let mut undone = Vec::new();
        let repair = FileRepair { project: &self.roots.project };
        for (path, before) in &self.identity {
            if FileIdentity::read(path).ok().as_ref() != Some(before) {
                let restored = before.restore(path, &repair);
                undone.push(UndoneChange::new(path, "it named another repository", restored));
            }
        }
        for (path, before) in &self.git {
            undone.extend(restore_git_settings(path, before, &repair));
        }
        let found = search_project(&self.roots.project, AFTER_RUN, &DiskTree);
        undone.extend(self.restore_new_repositories(&found, &repair));
        undone.extend(self.undo_rebase_commands(&found.repositories, &repair));
        undone.extend(self.undo_links(&found.links, &found.repositories, &repair));
        for (path, target) in &self.links {
            if std::fs::read_link(path).ok().as_ref() != Some(target) {
                let restored = repair.replace_by_link(path, target);
                undone.push(UndoneChange::new(path, "the link was replaced", restored));
            }
        }
        for path in &self.absent {
            if DiskTree.kind(path).is_some() {
                undone.push(UndoneChange::new(path, "a guarded file was created", repair.move_aside(path)));
            }
        }
        for (path, before) in &self.state {
            undone.extend(before.restore(path, &self.roots.project, &repair));
        }
        for (path, before) in &self.reported {
            if read_settings(path).ok().map(|now| now.map(FileBytes)).as_ref() != Some(before) {
                let left =
                    Err(io::Error::other("the project owns the file; read it before you open the project"));
                undone.push(UndoneChange::new(
                    path,
                    "a file with which an editor starts programs was changed",
                    left,
                ));
            }
        }
        undone
    }

    /// Whether a file was created or changed during the run. A program cannot set this time.
    fn is_recent(&self, path: &Path) -> bool {
        std::fs::symlink_metadata(path).is_ok_and(|found| self.began.is_before(&found))
    }
}

impl UndoneChange {
    fn new(path: &Path, change: impl Into<String>, result: io::Result<()>) -> Self {
        Self {
            path: path.to_owned(),
            change: change.into(),
            error: result.err().map(|error| error.to_string()),
        }
    }
}

fn git_settings_files(repositories: &[Repository]) -> Vec<PathBuf> {
    let directories = repositories.iter().flat_map(|found| [&found.git_dir, &found.own_git_dir]);
    let mut files: Vec<_> = directories
        .flat_map(|directory| GIT_SETTINGS_FILES.iter().map(|name| directory.join(name)))
        .collect();
    files.sort();
    files.dedup();
    files
}

/// Reads a settings file; `None` if it is missing or is not an ordinary file.
fn read_settings(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match read_ordinary_file(path, MAX_SETTINGS_BYTES, LinkAtEnd::Refuse) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result,
    }
}

fn restore_git_settings(
    path: &Path,
    before: &CheckedSettingsFile,
    repair: &FileRepair<'_>,
) -> Option<UndoneChange> {
    let is_ordinary = matches!(DiskTree.kind(path), Some(TreeEntryKind::File) | None);
    let now = read_settings(path);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let before_text = text(&before.content.0);
    let texts =
        |text: &str| program_settings(text).into_iter().map(|setting| setting.text).collect::<Vec<_>>();
    let old = texts(&before_text);
    let (now_text, is_readable) = match &now {
        Ok(now) => (text(now.as_deref().unwrap_or_default()), is_ordinary),
        Err(_) => (String::new(), false),
    };
    let new = texts(&now_text);
    if is_readable && old == new {
        return None;
    }
    let known: HashSet<_> = old.iter().collect();
    let changed: Vec<_> = new.iter().filter(|setting| !known.contains(setting)).cloned().collect();
    let change = match (is_readable, changed.is_empty()) {
        (false, _) => "the file was replaced".to_owned(),
        (true, true) => "settings that run programs were removed".to_owned(),
        (true, false) => describe_settings(&changed),
    };
    let clean = without_added(&before_text, &now_text).filter(|_| is_readable).map(String::into_bytes);
    let content = clean.as_deref().unwrap_or(&before.content.0);
    Some(UndoneChange::new(path, change, repair.replace(path, content, before.mode)))
}

/// Names the settings that were set, shortened.
fn describe_settings(changed: &[String]) -> String {
    let short = |setting: &String| setting.chars().take(MAX_SETTING_LETTERS).collect::<String>();
    let named: Vec<_> = changed.iter().take(MAX_NAMED_SETTINGS).map(short).collect();
    let more = changed.len() - named.len();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("set {}{rest}", named.join(", "))
}
