// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tracks the working directory of a script, where a `cd` may fail or be skipped.

use std::sync::Arc;

use tenterhook_paths::resolve;

/// Maximum number of possible directories. With more, the working directory counts as unknown.
const MAX_DIRECTORIES: usize = 8;

/// Maximum length of a working directory. A longer one counts as unknown.
const MAX_DIRECTORY_BYTES: usize = 4096;

/// The directories that a script may be in. The value is copied with every scope, so paths are shared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WorkingDirectory {
    /// The directory if every command succeeded; `None` if it is unknown.
    expected: Option<Arc<str>>,
    /// Directories if an earlier command was skipped.
    alternatives: Vec<Arc<str>>,
    /// Directories if the last `cd` failed.
    if_cd_failed: Vec<Arc<str>>,
}

impl WorkingDirectory {
    pub(super) fn new(expected: Option<String>) -> Self {
        Self { expected: expected.map(Arc::from), ..Self::default() }
    }

    /// Returns the working directory if every command succeeded.
    pub(super) fn expected(&self) -> Option<&str> {
        self.expected.as_deref()
    }

    /// Returns the working directory, if only one is possible.
    pub(super) fn certain(&self) -> Option<&str> {
        self.expected().filter(|_| self.alternatives.is_empty() && self.if_cd_failed.is_empty())
    }

    /// Returns the other possible working directories.
    pub(super) fn alternatives(&self) -> impl Iterator<Item = &str> {
        self.alternatives.iter().chain(&self.if_cd_failed).map(AsRef::as_ref)
    }

    fn all(&self) -> impl Iterator<Item = &Arc<str>> {
        self.expected.iter().chain(&self.alternatives).chain(&self.if_cd_failed)
    }

    /// Applies `cd`. With `may_fail`, the old directories remain possible. `None` changes to an unknown directory.
    pub(super) fn change(&mut self, to: Option<&str>, may_fail: bool) {
        let mut before = std::mem::take(self);
        let Some(to) = to else { return };
        // A script that goes back up assumes that the `cd` before it succeeded.
        if to.starts_with("..") && to.chars().all(|c| matches!(c, '.' | '/')) {
            before.assume_success();
        }
        self.expected = resolve(before.expected(), to).map(Arc::from);
        for other in before.alternatives() {
            let directory = resolve(Some(other), to).map(Arc::from);
            push_unique(&mut self.alternatives, directory, self.expected.as_ref());
        }
        if may_fail && self.expected.is_some() {
            for other in before.all() {
                push_unique(&mut self.if_cd_failed, Some(Arc::clone(other)), self.expected.as_ref());
            }
        }
        self.enforce_limits();
    }

    /// Drops the directories of a failed `cd`, because the next command only runs after success.
    pub(super) fn assume_success(&mut self) {
        self.if_cd_failed.clear();
    }

    /// Merges the possible directories of two branches.
    pub(super) fn merge_with(&mut self, other: &Self) {
        if self == other {
            return;
        }
        if other.expected.is_none() {
            *self = Self::default();
        }
        for directory in other.all() {
            push_unique(&mut self.alternatives, Some(Arc::clone(directory)), self.expected.as_ref());
        }
        self.enforce_limits();
    }

    fn enforce_limits(&mut self) {
        // Every relative path is joined to these directories, so they must stay short.
        let long = self
            .expected()
            .into_iter()
            .chain(self.alternatives())
            .any(|directory| directory.len() > MAX_DIRECTORY_BYTES);
        if long
            || self.expected.is_none()
            || self.alternatives.len() + self.if_cd_failed.len() > MAX_DIRECTORIES
        {
            *self = Self::default();
        }
    }
}

fn push_unique(list: &mut Vec<Arc<str>>, directory: Option<Arc<str>>, expected: Option<&Arc<str>>) {
    if let Some(directory) = directory
        && expected != Some(&directory)
        && !list.contains(&directory)
    {
        list.push(directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str) -> WorkingDirectory {
        WorkingDirectory::new(Some(path.to_owned()))
    }

    #[test]
    fn a_change_that_may_fail_leaves_two_directories_and_success_leaves_one() {
        let mut directory = at("/a");
        directory.change(Some("b"), true);
        assert_eq!(
            (directory.expected(), directory.alternatives().collect::<Vec<_>>()),
            (Some("/a/b"), vec!["/a"])
        );
        assert_eq!(directory.certain(), None);
        directory.assume_success();
        assert_eq!(directory.certain(), Some("/a/b"));
    }

    #[test]
    fn too_many_directories_are_any() {
        let mut directory = at("/a");
        for name in ["b", "c", "d", "e", "f"] {
            directory.change(Some(name), true);
        }
        assert_eq!(directory.expected(), None);
    }
}
