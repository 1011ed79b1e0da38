// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Records symbolic links on the paths of a call.
//!
//! The caller reads the disk through a callback; this module only walks the paths. The same walk is used when links
//! are read and when rules are evaluated, so both see the same targets.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

/// Maximum number of links on a path. As on most systems, a path with more links does not resolve.
const MAX_LINKS_PER_PATH: usize = 40;
/// Maximum length of a path. No supported system has longer paths.
const MAX_PATH_BYTES: usize = 4096;
/// Maximum number of probes per call. At about a microsecond each, this many probes take a few milliseconds.
const MAX_PROBES: usize = 4096;
/// Maximum number of path components visited for one call. A component that is visited twice is counted twice.
const MAX_WALK_STEPS: usize = 1 << 16;

/// The kind of file system entry at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    /// A symbolic link, with its target as stored.
    Link(String),
    /// Any other entry, such as a directory.
    Other,
    /// No entry, or an entry that cannot be traversed. Paths below it are not probed.
    Missing,
}

/// Symbolic links that were found on the paths of a call. They are recorded with the call, so that evaluating it again
/// gives the same result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkMap {
    /// Target of each link, by the path of the link.
    pub links: BTreeMap<String, String>,
    /// Whether a limit was reached, so that links may be missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// A path to walk, component by component.
#[derive(Debug, Clone, Copy)]
pub struct PathWalk<'a> {
    /// Absolute path, with every `..` still in it.
    pub path: &'a str,
    /// Whether `*`, `?` and `[…]` in the path are a pattern.
    pub pattern: bool,
    /// Whether a link in the last component is kept instead of followed.
    pub keep_last_link: bool,
}

/// How many more path components may be visited.
#[derive(Debug)]
pub struct WalkBudget(Cell<usize>);

impl Default for WalkBudget {
    fn default() -> Self {
        Self(Cell::new(MAX_WALK_STEPS))
    }
}

impl WalkBudget {
    fn spend(&self) -> Option<()> {
        self.0.set(self.0.get().checked_sub(1)?);
        Some(())
    }

    /// Whether the limit is reached.
    pub fn is_exhausted(&self) -> bool {
        self.0.get() == 0
    }
}

impl LinkMap {
    /// Walks all paths and collects the links on them. Every entry is probed once.
    pub fn probe<'a>(
        walks: impl IntoIterator<Item = PathWalk<'a>>,
        probe: &mut dyn FnMut(&str) -> EntryKind,
    ) -> Self {
        let mut known: HashMap<String, EntryKind> = HashMap::new();
        let mut map = Self::default();
        let (budget, mut walked) = (WalkBudget::default(), HashSet::new());
        for walk in walks.into_iter().filter(|walk| walked.insert(walk.path)) {
            walk.run(&budget, |entry| {
                if let Some(kind) = known.get(entry) {
                    return kind.clone();
                }
                if known.len() >= MAX_PROBES {
                    map.cut = true;
                    return EntryKind::Missing;
                }
                let kind = if is_virtual(entry) { EntryKind::Missing } else { probe(entry) };
                if let EntryKind::Link(target) = &kind {
                    map.links.insert(entry.to_owned(), target.clone());
                }
                known.insert(entry.to_owned(), kind.clone());
                kind
            });
        }
        map.cut |= budget.is_exhausted();
        map
    }

    /// Whether no link was found and no limit was reached.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty() && !self.cut
    }

    /// Returns the path that a walk ends at. `None` if the links form a cycle or a limit is reached.
    pub(crate) fn end(&self, walk: PathWalk<'_>, budget: &WalkBudget) -> Option<String> {
        walk.run(budget, |entry| {
            self.links.get(entry).map_or(EntryKind::Other, |target| EntryKind::Link(target.clone()))
        })
    }
}

/// Whether a path is in a virtual file system, where link targets depend on the process that reads them.
fn is_virtual(path: &str) -> bool {
    matches!(path, "/proc" | "/sys")
        || path.starts_with("/dev/") && path != "/dev/shm" && !path.starts_with("/dev/shm/")
}

impl PathWalk<'_> {
    /// Walks the path as a system does: `..` after a link is the parent of its target.
    fn run(self, budget: &WalkBudget, mut probe: impl FnMut(&str) -> EntryKind) -> Option<String> {
        let mut at = String::with_capacity(self.path.len());
        let mut rest = self.path.to_owned();
        let (mut done, mut links, mut there) = (0, 0, true);
        while let Some(tail) = rest.get(done..).map(|tail| tail.trim_start_matches('/')) {
            let (part, after) = match tail.find('/') {
                Some(end) => tail.split_at(end),
                None => (tail, ""),
            };
            done = rest.len() - after.len();
            budget.spend()?;
            match part {
                "" => break,
                "." => continue,
                ".." => {
                    at.truncate(at.rfind('/').unwrap_or(0));
                    continue;
                }
                part => {
                    at.push('/');
                    at.push_str(part);
                    there &= !(self.pattern && part.contains(['*', '?', '[']));
                }
            }
            if !there || at.len() > MAX_PATH_BYTES || self.keep_last_link && after.is_empty() {
                continue;
            }
            match probe(&at) {
                EntryKind::Other => {}
                EntryKind::Missing => there = false,
                EntryKind::Link(target) => {
                    links += 1;
                    if links > MAX_LINKS_PER_PATH || target.len() + after.len() > 2 * MAX_PATH_BYTES {
                        return None;
                    }
                    let up = if target.starts_with('/') { 0 } else { at.rfind('/').unwrap_or(0) };
                    at.truncate(up);
                    rest = target + after;
                    done = 0;
                }
            }
        }
        Some(if at.is_empty() { "/".to_owned() } else { at })
    }
}

#[cfg(test)]
mod tests;
