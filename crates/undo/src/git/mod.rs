// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists the files of a git repository that a git command may destroy. Only files are read; git never runs.

mod index;
mod refs;
mod repository;

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::error::SnapshotError;
use crate::manifest::{EntryRole, SavedRef};
use crate::request::{GitCallKind, GitTarget, TargetChange};
use crate::scan::{Scanner, WalkChoice, stamp_of};
use index::{GitIndex, IndexedFile};
pub(crate) use index::{MAX_INDEX_BYTES, hash_index};
pub(crate) use refs::{find_ref_change, read_refs};
use repository::GitRepository;

/// State files in the git directory of a working tree, and directories of such files.
const STATE_FILES: &[&str] = &[
    "HEAD",
    "index",
    "ORIG_HEAD",
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "config.worktree",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
];

/// State files in the common directory of all working trees.
const COMMON_FILES: &[&str] = &["config", "shallow"];

/// Maximum depth of submodules in submodules.
const MAX_SUBMODULE_DEPTH: usize = 8;

/// Adds what a git command may destroy, and returns the refs of the repository.
pub(crate) fn scan_repository(
    scanner: &mut Scanner<'_>,
    project: &Path,
    target: &GitTarget,
) -> Result<Vec<SavedRef>, SnapshotError> {
    let mut refs = Vec::new();
    scan_at_depth(scanner, project, target, 0, &mut refs)?;
    Ok(refs)
}

fn scan_at_depth(
    scanner: &mut Scanner<'_>,
    project: &Path,
    target: &GitTarget,
    depth: usize,
    refs: &mut Vec<SavedRef>,
) -> Result<(), SnapshotError> {
    let repository = GitRepository::find(&target.directory)?;
    repository.check_location(project)?;
    let git_root = scanner.add_root(&repository.git_dir)?;
    let common_root = scanner.add_root(&repository.common_dir)?;
    for name in STATE_FILES {
        add_state(scanner, git_root, Path::new(name), EntryRole::GitState)?;
    }
    for name in COMMON_FILES {
        add_state(scanner, common_root, Path::new(name), EntryRole::GitState)?;
    }
    for root in [git_root, common_root] {
        add_state(scanner, root, Path::new("logs"), EntryRole::GitLog)?;
    }
    refs.extend(read_refs(scanner.root(common_root)?, common_root, scanner.limits().max_files)?);
    if target.kind.releases_objects() {
        add_objects(scanner, common_root)?;
    }
    let Some(worktree) = &repository.worktree else { return Ok(()) };
    let needs_files =
        target.kind.replaces_tracked_files() || matches!(target.kind, GitCallKind::Clean { .. });
    if !needs_files {
        return Ok(());
    }
    let index = GitIndex::read(scanner.root(git_root)?, repository.hash_bytes)?;
    let work_root = scanner.add_root(worktree)?;
    if target.kind.replaces_tracked_files() {
        add_tracked_files(scanner, work_root, &index, target.kind)?;
    }
    match target.kind {
        GitCallKind::Clean { ignored, repositories } => {
            let walk = UntrackedWalk { index: &index, ignored, repositories, change: TargetChange::Delete };
            walk.add(scanner, work_root)?;
        }
        kind if kind.may_overwrite_untracked() => {
            let change = TargetChange::Overwrite;
            let walk = UntrackedWalk { index: &index, ignored: false, repositories: false, change };
            walk.add(scanner, work_root)?;
        }
        _ => {}
    }
    if target.with_submodules {
        if depth >= MAX_SUBMODULE_DEPTH {
            return Err(SnapshotError::unsupported(worktree, "submodules are nested too deeply"));
        }
        for file in index.files.iter().filter(|file| file.is_submodule()) {
            let directory = worktree.join(&file.path);
            // A submodule that is not checked out has no files to lose.
            if directory.join(".git").symlink_metadata().is_ok() {
                let target = GitTarget { directory, ..target.clone() };
                scan_at_depth(scanner, project, &target, depth + 1, refs)?;
            }
        }
    }
    Ok(())
}

fn add_state(
    scanner: &mut Scanner<'_>,
    root: usize,
    path: &Path,
    role: EntryRole,
) -> Result<(), SnapshotError> {
    scanner.add_tree(root, path, TargetChange::Overwrite, role, &|path, _| {
        // Another git process holds a lock file only for a moment.
        if path.extension().is_some_and(|extension| extension == "lock") {
            WalkChoice::Skip
        } else {
            WalkChoice::Include
        }
    })
}

/// Adds all objects. A command that removes the last name of a commit does not delete its objects, but the next
/// `git gc` may. Objects and packs are never written in place, so hard links of them are safe copies.
fn add_objects(scanner: &mut Scanner<'_>, common_root: usize) -> Result<(), SnapshotError> {
    let objects = Path::new("objects");
    scanner.add_tree(common_root, objects, TargetChange::Delete, EntryRole::GitObject, &|path, kind| {
        let name = path.file_name().map_or(&b""[..], |name| name.as_bytes());
        match kind {
            FileType::Directory if name == b"info" => WalkChoice::Skip,
            FileType::Directory => WalkChoice::Enter,
            _ if name.starts_with(b"tmp_") || name.ends_with(b".lock") => WalkChoice::Skip,
            _ => WalkChoice::Include,
        }
    })
}

fn add_tracked_files(
    scanner: &mut Scanner<'_>,
    root: usize,
    index: &GitIndex,
    kind: GitCallKind,
) -> Result<(), SnapshotError> {
    for file in index.files.iter().filter(|file| !file.is_submodule()) {
        if kind.restores_from_index() && is_unchanged(scanner, root, index, file)? {
            continue;
        }
        scanner.add_path(root, &file.path, TargetChange::Overwrite, EntryRole::Work)?;
    }
    Ok(())
}

/// Whether a file has the content that the index names. Then the file can be restored from the index.
fn is_unchanged(
    scanner: &Scanner<'_>,
    root: usize,
    index: &GitIndex,
    file: &IndexedFile,
) -> Result<bool, SnapshotError> {
    let directory = scanner.root(root)?;
    let found = directory.stat(&file.path);
    let found =
        found.map_err(|error| SnapshotError::unreadable(&directory.path().join(&file.path), error))?;
    Ok(found.is_none_or(|found| index.is_clean(file, &stamp_of(&found))))
}

/// Selects the untracked files of a working tree.
struct UntrackedWalk<'i> {
    index: &'i GitIndex,
    ignored: bool,
    repositories: bool,
    change: TargetChange,
}

impl UntrackedWalk<'_> {
    fn add(&self, scanner: &mut Scanner<'_>, root: usize) -> Result<(), SnapshotError> {
        let top = scanner.root(root)?.path().to_owned();
        let tracked: HashSet<&Path> = self.index.files.iter().map(|file| file.path.as_path()).collect();
        let ignored = if self.ignored { HashSet::new() } else { read_ignored_names(&top) };
        scanner.add_tree(root, Path::new(""), self.change, EntryRole::Work, &|path, kind| {
            let is_git = path.file_name().is_some_and(|name| name == ".git");
            let is_top_level = path.components().count() == 1;
            if (is_git && (is_top_level || !self.repositories))
                || (is_top_level && ignored.contains(path))
                || tracked.contains(path)
            {
                return WalkChoice::Skip;
            }
            match kind {
                FileType::Directory if path.as_os_str().is_empty() => WalkChoice::Enter,
                FileType::Directory if !self.repositories && is_repository(&top.join(path)) => {
                    WalkChoice::Skip
                }
                FileType::Directory if self.change == TargetChange::Overwrite => WalkChoice::Enter,
                _ => WalkChoice::Include,
            }
        })
    }
}

fn is_repository(directory: &Path) -> bool {
    directory.join(".git").symlink_metadata().is_ok()
}

/// Returns the names directly below the working tree that its `.gitignore` ignores by their plain names, such as
/// `target` or `node_modules`. Other patterns are not evaluated: saving an ignored file is only slower. If the file
/// contains an exception (`!`), nothing is returned.
fn read_ignored_names(top: &Path) -> HashSet<PathBuf> {
    const MAX_IGNORE_BYTES: u64 = 1024 * 1024;
    let class = tenterhook_files::FileClass::Untrusted;
    let text = tenterhook_files::read_text(&top.join(".gitignore"), class, MAX_IGNORE_BYTES);
    let Ok(Some(text)) = text else { return HashSet::new() };
    if text.lines().any(|line| line.starts_with('!')) {
        return HashSet::new();
    }
    let plain = |name: &str| {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        !name.is_empty() && name != "." && name != ".." && name.chars().all(is_plain)
    };
    let names = text.lines().map(|line| {
        let line = line.strip_prefix('/').unwrap_or(line);
        line.strip_suffix('/').unwrap_or(line)
    });
    names.filter(|name| plain(name)).map(PathBuf::from).collect()
}
