// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Settings that a sandboxed run must be able to write. They are compared after the run, and changes with which the run
//! could act outside are undone.

use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::file_tree::{DiskTree, FileTree as _, TreeEntryKind};
use crate::git_settings::{program_settings, without_added};
use crate::path_sets::{PathAccess, PathSets, SandboxRoots};
use crate::repositories::{Repository, find_repositories, identity_files};

/// Maximum size of a settings file that is compared.
const MAX_SETTINGS_BYTES: u64 = 16 << 20;
/// Files with git settings in a git directory.
const GIT_SETTINGS_FILES: &[&str] = &["config", "config.worktree"];
/// Ending of the name of a file that was moved aside.
const REMOVED_SUFFIX: &str = ".removed-by-tenterhook";
/// Keys in a harness's own state with which it starts programs.
const STATE_KEYS: &[&str] = &[
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "hooks",
    "mcpServers",
    "otelHeadersHelper",
    "statusLine",
];

/// The settings before a run.
#[derive(Debug)]
pub struct SettingsBefore {
    project: PathBuf,
    git: Vec<(PathBuf, Option<Vec<u8>>)>,
    /// Files that say where git finds the configuration.
    identity: Vec<(PathBuf, FileIdentity)>,
    repositories: Vec<Repository>,
    links: Vec<(PathBuf, PathBuf)>,
    absent: Vec<PathBuf>,
    state: Vec<(PathBuf, Value)>,
    /// Files whose changes are only reported.
    reported: Vec<(PathBuf, Option<Vec<u8>>)>,
}

/// What a file that names a repository is.
#[derive(Debug, PartialEq, Eq)]
enum FileIdentity {
    Missing,
    Directory,
    File(Vec<u8>),
    Link(PathBuf),
}

impl FileIdentity {
    fn read(path: &Path) -> io::Result<Self> {
        Ok(match DiskTree.kind(path) {
            None => Self::Missing,
            Some(TreeEntryKind::Directory) => Self::Directory,
            Some(TreeEntryKind::Link) => Self::Link(std::fs::read_link(path)?),
            Some(TreeEntryKind::File) => Self::File(read_settings(path)?.unwrap_or_default()),
        })
    }

    fn restore(&self, path: &Path) -> io::Result<()> {
        match self {
            // A directory cannot have been moved, because it is mounted.
            Self::Missing | Self::Directory => move_aside(path),
            Self::File(content) => replace(path, content),
            Self::Link(target) => move_aside(path).and_then(|()| symlink(target, path)),
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
            project: roots.project.clone(),
            git: Vec::new(),
            identity: Vec::new(),
            repositories: roots.repositories.clone(),
            links: Vec::new(),
            absent: Vec::new(),
            state: Vec::new(),
            reported: Vec::new(),
        };
        for path in git_settings_files(&roots.repositories) {
            let content = read_settings(&path)?;
            before.git.push((path, content));
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
                    before.state.push((entry.path.clone(), read_state(&entry.path)?));
                }
                Some(TreeEntryKind::File) => {
                    before.reported.push((entry.path.clone(), read_settings(&entry.path)?));
                }
                Some(TreeEntryKind::Directory) => {}
                None => before.absent.push(entry.path.clone()),
            }
        }
        for path in own {
            before.state.push((path.clone(), read_state(path)?));
        }
        Ok(before)
    }

    /// Compares the settings after a run and undoes changes. No process of the run may be left.
    pub fn restore(&self) -> Vec<UndoneChange> {
        let mut undone = Vec::new();
        for (path, before) in &self.identity {
            if FileIdentity::read(path).ok().as_ref() != Some(before) {
                undone.push(UndoneChange::new(path, "it named another repository", before.restore(path)));
            }
        }
        for (path, before) in &self.git {
            undone.extend(restore_git_settings(path, before.as_deref().unwrap_or_default()));
        }
        let (now, _) = find_repositories(&self.project, &DiskTree);
        // Directories outside the project were not writable, even if a file names them.
        let is_inside = |found: &&Repository| {
            found.git_dir.starts_with(&self.project) && found.own_git_dir.starts_with(&self.project)
        };
        let is_known = |git_dir: &Path| self.repositories.iter().any(|known| known.git_dir == git_dir);
        let new: Vec<_> = now.iter().filter(is_inside).cloned().collect();
        let is_compared = |path: &PathBuf| self.git.iter().any(|(known, _)| known == path);
        for path in git_settings_files(&new).into_iter().filter(|path| !is_compared(path)) {
            undone.extend(restore_git_settings(&path, &[]));
        }
        for repository in new.iter().filter(|found| !is_known(&found.git_dir)) {
            undone.extend(disable_hooks(&repository.git_dir.join("hooks")));
        }
        for (path, target) in &self.links {
            if std::fs::read_link(path).ok().as_ref() != Some(target) {
                let restored = move_aside(path).and_then(|()| symlink(target, path));
                undone.push(UndoneChange::new(path, "the link was replaced", restored));
            }
        }
        for path in &self.absent {
            if DiskTree.kind(path).is_some() {
                undone.push(UndoneChange::new(path, "a guarded file was created", move_aside(path)));
            }
        }
        for (path, before) in &self.state {
            undone.extend(restore_state(path, before));
        }
        for (path, before) in &self.reported {
            if read_settings(path).ok().as_ref() != Some(before) {
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
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_file() && found.len() <= MAX_SETTINGS_BYTES => std::fs::read(path).map(Some),
        Ok(found) if found.is_file() => Err(io::ErrorKind::FileTooLarge.into()),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a file in JSON. Invalid JSON starts no program, so it is the same as an empty file.
fn read_state(path: &Path) -> io::Result<Value> {
    let content = read_settings(path)?.unwrap_or_default();
    Ok(serde_json::from_slice(&content).unwrap_or_default())
}

fn restore_git_settings(path: &Path, before: &[u8]) -> Option<UndoneChange> {
    let is_ordinary = matches!(DiskTree.kind(path), Some(TreeEntryKind::File) | None);
    let now = read_settings(path);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let before_text = text(before);
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
    let changed: Vec<_> = new.iter().filter(|setting| !old.contains(setting)).cloned().collect();
    let change = match (is_readable, changed.is_empty()) {
        (false, _) => "the file was replaced".to_owned(),
        (true, true) => "settings that run programs were removed".to_owned(),
        (true, false) => format!("set {}", changed.join(", ")),
    };
    let clean = without_added(&before_text, &now_text).filter(|_| is_readable).map(String::into_bytes);
    Some(UndoneChange::new(path, change, replace(path, &clean.unwrap_or_else(|| before.to_owned()))))
}

/// Makes hooks of a repository that the run created non-executable, so that git ignores them.
fn disable_hooks(directory: &Path) -> Vec<UndoneChange> {
    let mut undone = Vec::new();
    for name in DiskTree.names(directory) {
        let path = directory.join(&name);
        let is_sample = Path::new(&name).extension().is_some_and(|extension| extension == "sample");
        let Ok(found) = std::fs::symlink_metadata(&path) else { continue };
        if is_sample || found.is_dir() {
            continue;
        }
        if found.is_symlink() {
            undone.push(UndoneChange::new(&path, "a git hook was created", move_aside(&path)));
        } else if found.mode() & 0o111 != 0 {
            let mode = std::fs::Permissions::from_mode(found.mode() & 0o666);
            let result = std::fs::set_permissions(&path, mode);
            undone.push(UndoneChange::new(
                &path,
                "a git hook was created; it is no longer executable",
                result,
            ));
        }
    }
    undone
}

fn restore_state(path: &Path, before: &Value) -> Option<UndoneChange> {
    let content = read_settings(path).ok().flatten()?;
    let Ok(mut now) = serde_json::from_slice::<Value>(&content) else { return None };
    let mut changed = Vec::new();
    restore_keys(before, &mut now, &mut changed);
    if changed.is_empty() {
        return None;
    }
    changed.dedup();
    let text = serde_json::to_vec_pretty(&now).map_err(io::Error::from);
    let result = text.and_then(|text| replace(path, &text));
    Some(UndoneChange::new(path, format!("changed {}", changed.join(", ")), result))
}

fn restore_keys(before: &Value, now: &mut Value, changed: &mut Vec<&'static str>) {
    match now {
        Value::Object(map) => {
            for key in STATE_KEYS {
                let old = before.get(key).cloned();
                let is_empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
                if map.get(*key) == old.as_ref() || old.is_none() && map.get(*key).is_some_and(is_empty) {
                    continue;
                }
                changed.push(key);
                match old {
                    Some(old) => drop(map.insert((*key).to_owned(), old)),
                    None => drop(map.remove(*key)),
                }
            }
            for (key, value) in map.iter_mut().filter(|(key, _)| !STATE_KEYS.contains(&key.as_str())) {
                restore_keys(before.get(key).unwrap_or(&Value::Null), value, changed);
            }
        }
        Value::Array(list) => {
            for (at, value) in list.iter_mut().enumerate() {
                restore_keys(before.get(at).unwrap_or(&Value::Null), value, changed);
            }
        }
        _ => {}
    }
}

/// Replaces a file of any kind.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    if DiskTree.kind(path) == Some(TreeEntryKind::Directory) {
        move_aside(path)?;
    }
    let mode = std::fs::symlink_metadata(path).map_or(0o644, |found| found.mode() & 0o777);
    let mut new = path.as_os_str().to_owned();
    new.push(".tenterhook-new");
    let new = PathBuf::from(new);
    drop(std::fs::remove_file(&new));
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(&new)?;
    file.write_all(content)?;
    file.sync_all()?;
    std::fs::rename(&new, path)
}

/// Renames a file so that no program reads it.
fn move_aside(path: &Path) -> io::Result<()> {
    if DiskTree.kind(path).is_none() {
        return Ok(());
    }
    for number in 0..1000 {
        let mut name = path.as_os_str().to_owned();
        name.push(REMOVED_SUFFIX);
        if number > 0 {
            name.push(format!(".{number}"));
        }
        let aside = PathBuf::from(name);
        if DiskTree.kind(&aside).is_none() {
            return std::fs::rename(path, aside);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
