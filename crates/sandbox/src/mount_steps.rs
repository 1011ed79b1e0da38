// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The mounts of a sandbox for protected and writable paths, in order.

use std::path::{Path, PathBuf};

use crate::bubblewrap::{EMPTY_FILE, INSIDE_DIRECTORY, INSIDE_PROGRAM, SandboxMounts, outermost};
use crate::path_sets::{PathAccess, PathEntry};

/// Mode of a directory that appears empty because it is hidden.
const HIDDEN_MODE: u32 = 0o555;
/// Mode of an empty directory of the run's own.
const PRIVATE_MODE: u32 = 0o700;
/// Mode of an empty directory for temporary files.
const TEMPORARY_MODE: u32 = 0o1777;
/// Mode of an empty `/run`.
const RUN_MODE: u32 = 0o755;

/// One mount of a sandbox. Sources are paths outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MountStep {
    /// Shows a file or directory, with what is mounted in it.
    Bind { source: PathBuf, target: PathBuf, is_writable: bool },
    /// Shows an empty directory.
    EmptyDirectory { target: PathBuf, mode: u32 },
    /// Makes an empty directory read-only, after its exceptions were mounted in it.
    Seal { target: PathBuf },
}

impl MountStep {
    /// Path at which the step changes what is visible.
    pub(crate) fn target(&self) -> &Path {
        match self {
            Self::Bind { target, .. } | Self::EmptyDirectory { target, .. } | Self::Seal { target } => target,
        }
    }

    pub(crate) fn bind_itself(path: &Path, is_writable: bool) -> Self {
        Self::Bind { source: path.to_owned(), target: path.to_owned(), is_writable }
    }

    fn of_entry(entry: &PathEntry, empty: &Path) -> Option<Self> {
        let target = entry.path.clone();
        Some(match entry.access {
            PathAccess::Write | PathAccess::Anchored => Self::bind_itself(&target, true),
            PathAccess::ReadOnly => Self::bind_itself(&target, false),
            PathAccess::Checked => return None,
            PathAccess::Private => Self::EmptyDirectory { target, mode: PRIVATE_MODE },
            PathAccess::Hidden if entry.is_directory => Self::EmptyDirectory { target, mode: HIDDEN_MODE },
            PathAccess::Hidden => Self::Bind { source: empty.to_owned(), target, is_writable: false },
        })
    }
}

/// Returns the mounts of a sandbox, a directory before what is mounted in it: first the directories of which a sandbox has its
/// own, then all others.
pub(crate) fn mount_steps(mounts: &SandboxMounts<'_>) -> (Vec<MountStep>, Vec<MountStep>) {
    let temporary = mounts.var_directories.iter().map(PathBuf::as_path).chain([Path::new("/tmp")]);
    let directory = |target: &Path, mode| MountStep::EmptyDirectory { target: target.to_owned(), mode };
    let mut private = vec![directory(Path::new("/run"), RUN_MODE)];
    private.extend(temporary.map(|path| directory(path, TEMPORARY_MODE)));

    let empty = mounts.inside_files.join(EMPTY_FILE);
    let entries = &mounts.sets.entries;
    let mut steps: Vec<_> =
        outermost(&mounts.visible).map(|path| MountStep::bind_itself(path, false)).collect();
    steps.extend(entries.iter().filter_map(|entry| MountStep::of_entry(entry, &empty)));
    let hidden = entries.iter().filter(|entry| entry.access == PathAccess::Hidden && entry.is_directory);
    let mut sealed: Vec<_> = hidden.map(|entry| entry.path.clone()).collect();
    // A mount of a directory above would show them again, so they come after it.
    for directory in mounts.hidden_directories.iter().filter(|path| !mounts.sets.is_hidden(path)) {
        steps.push(MountStep::EmptyDirectory { target: directory.clone(), mode: HIDDEN_MODE });
        sealed.push(directory.clone());
    }
    let is_covered = |path: &Path| mounts.hidden_directories.iter().any(|above| path.starts_with(above));
    for socket in mounts.hidden_sockets.iter().filter(|path| !is_covered(path)) {
        let (source, target) = (empty.clone(), socket.clone());
        steps.push(MountStep::Bind { source, target, is_writable: false });
    }
    steps.extend(mounts.sockets.iter().map(|socket| MountStep::bind_itself(socket, false)));
    // Exceptions below a hidden directory were mounted before.
    steps.extend(sealed.into_iter().map(|target| MountStep::Seal { target }));
    let inside = Path::new(INSIDE_DIRECTORY);
    for (source, target) in
        [(mounts.inside_files, inside.to_owned()), (mounts.program, inside.join(INSIDE_PROGRAM))]
    {
        steps.push(MountStep::Bind { source: source.to_owned(), target, is_writable: false });
    }
    (private, steps)
}
