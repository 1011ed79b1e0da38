// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the symbolic links among the paths of a call, and their targets.
//!
//! Nothing is opened and no link is followed: each directory of a path is examined separately, so that a pipe, a
//! device or a directory that is not mounted yet cannot block the call.

use std::collections::{BTreeMap, HashMap};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use tenterhook_event::Event;
use tenterhook_facts::{EntryKind, EvalEnvironment, Facts};

use crate::scratch_repository;

/// Returns the facts of a call with its links resolved.
pub fn collect_facts(event: &Event, environment: &EvalEnvironment<'_>) -> Facts {
    collect_facts_with_links(event, environment, &BTreeMap::new())
}

/// Returns the facts of a call with its links resolved: links on the disk, and the given links with their targets.
pub(crate) fn collect_facts_with_links(
    event: &Event,
    environment: &EvalEnvironment<'_>,
    links: &BTreeMap<String, String>,
) -> Facts {
    resolve_links(event, tenterhook_facts::facts(event, environment), environment, links)
}

/// Returns the facts of a call with its links resolved; `facts` are the facts without links.
pub(crate) fn resolve_links(
    event: &Event,
    facts: Facts,
    environment: &EvalEnvironment<'_>,
    links: &BTreeMap<String, String>,
) -> Facts {
    if environment.seen.is_some() {
        return facts;
    }
    let mut facts = follow_links(event, facts, environment, links);
    scratch_repository::remove_unverified_acts(&mut facts);
    facts
}

fn follow_links(
    event: &Event,
    facts: Facts,
    environment: &EvalEnvironment<'_>,
    links: &BTreeMap<String, String>,
) -> Facts {
    let mut probe = SymlinkProbe::default();
    let mut look = |path: &str| match links.get(path) {
        Some(target) => EntryKind::Link(target.clone()),
        // A directory in which the session created a link exists, or will exist.
        None if links.keys().any(|link| is_below(link, path)) => EntryKind::Other,
        None => probe.probe(path),
    };
    let seen = tenterhook_facts::probe_links(event, &facts, environment, &mut look);
    if seen.is_empty() {
        return facts;
    }
    tenterhook_facts::facts(event, &EvalEnvironment { seen: Some(&seen), ..*environment })
}

fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// Checks paths for links, and remembers which devices must not be accessed.
#[derive(Debug, Default)]
pub(crate) struct SymlinkProbe {
    is_automounted: HashMap<i128, bool>,
}

impl SymlinkProbe {
    /// Whether opening a file could wait for a directory to be mounted.
    pub(crate) fn may_block(&mut self, path: &str) -> bool {
        let parents = path.match_indices('/').filter_map(|(at, _)| path.get(..at.max(1)));
        let mut entries = parents.map(|parent| self.probe(parent));
        entries.any(|entry| entry == EntryKind::Missing)
    }

    /// Whether a path certainly does not exist. A path behind a link counts as existing.
    pub(crate) fn is_absent(&mut self, path: &str) -> bool {
        self.find_first_absent(path).is_some()
    }

    /// Whether a part of a path is a link, or cannot be examined although it exists.
    pub(crate) fn has_link(&mut self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
        let mut parts = ends.filter_map(|end| path.get(..end));
        parts.any(|part| matches!(self.probe(part), EntryKind::Link(_)))
    }

    /// Returns the topmost part of a path that certainly does not exist.
    pub(crate) fn find_first_absent<'p>(&mut self, path: &'p str) -> Option<&'p str> {
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
        for part in ends.filter_map(|end| path.get(..end)) {
            match self.probe(part) {
                EntryKind::Other => {}
                EntryKind::Link(_) => return None,
                EntryKind::Missing => {
                    let found = rustix::fs::statat(CWD, part, AtFlags::SYMLINK_NOFOLLOW);
                    return found.is_err_and(|error| error == rustix::io::Errno::NOENT).then_some(part);
                }
            }
        }
        None
    }

    fn probe(&mut self, path: &str) -> EntryKind {
        let Ok(stat) = rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW) else {
            return EntryKind::Missing;
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => match rustix::fs::readlinkat(CWD, path, Vec::new()) {
                Ok(target) => EntryKind::Link(target.to_string_lossy().into_owned()),
                Err(_) => EntryKind::Missing,
            },
            FileType::Directory => {
                // A file system with a block device is already mounted.
                let mounts = !has_block_device(&stat) && {
                    let device = i128::from(stat.st_dev);
                    *self.is_automounted.entry(device).or_insert_with(|| is_automounted(path))
                };
                if mounts { EntryKind::Missing } else { EntryKind::Other }
            }
            _ => EntryKind::Missing,
        }
    }
}

/// Whether an account may search every directory on the way to a path, as far as the directories exist. Rights that the
/// account has only through a group are ignored, so the answer may be false for a path that the account can see.
pub(crate) fn may_see(path: &str, account: u32) -> bool {
    let parents = path.match_indices('/').filter_map(|(at, _)| path.get(..at.max(1)));
    let mut found =
        parents.map_while(|parent| rustix::fs::statat(CWD, parent, AtFlags::SYMLINK_NOFOLLOW).ok());
    found.all(|stat| {
        let mode = Mode::from_raw_mode(stat.st_mode);
        let needed = if stat.st_uid == account { Mode::XUSR } else { Mode::XOTH };
        mode.contains(needed)
    })
}

/// Returns whether the file system has a block device. The kernel gives all other file systems a device number with
/// major number 0.
#[cfg(target_os = "linux")]
fn has_block_device(stat: &rustix::fs::Stat) -> bool {
    rustix::fs::major(stat.st_dev) != 0
}

#[cfg(not(target_os = "linux"))]
fn has_block_device(_stat: &rustix::fs::Stat) -> bool {
    false
}

/// Returns whether the entries of a directory are mounted on access, from a machine that may not answer.
#[cfg(target_os = "linux")]
fn is_automounted(directory: &str) -> bool {
    /// `AUTOFS_SUPER_MAGIC`
    const AUTOFS_MAGIC: u64 = 0x0187;
    let path_only = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(path) = rustix::fs::openat(CWD, directory, path_only, Mode::empty()) else { return false };
    rustix::fs::fstatfs(path).is_ok_and(|system| u64::try_from(system.f_type) == Ok(AUTOFS_MAGIC))
}

#[cfg(not(target_os = "linux"))]
fn is_automounted(_directory: &str) -> bool {
    false
}
