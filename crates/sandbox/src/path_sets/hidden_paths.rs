// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The paths that rules protect from being read.

use std::path::Path;

use tenterhook_policy::PathRule;

use super::{Derivation, PathAccess};
use crate::file_tree::TreeEntryKind;
use crate::path_pattern::{PatternTarget, expand};

impl Derivation<'_> {
    /// Hides the paths of a glob.
    pub(super) fn hide(&mut self, rule: &PathRule, glob: &str) {
        for anchored in self.anchored(glob) {
            let expansion = expand(Path::new("/"), &anchored, self.tree);
            let whole = expansion.deep_directories.into_iter().chain(expansion.full_directories);
            let whole = whole.map(|path| PatternTarget { path, covers_tree: true, by_wildcard: true });
            for target in expansion.targets.into_iter().chain(whole) {
                if self.tree.kind(&target.path).is_none() {
                    continue;
                }
                let path = self.tree.canonical(&target.path);
                if self.is_private(&path) || !self.applies_at(rule, &path) {
                    continue;
                }
                let holds =
                    [&self.roots.home, &self.roots.project].into_iter().any(|root| root.starts_with(&path));
                if holds {
                    self.leave_to_hooks(
                        rule,
                        Some(&glob.to_owned()),
                        "the directory contains home or project",
                    );
                    continue;
                }
                match self.tree.kind(&path) {
                    Some(TreeEntryKind::Directory) if target.covers_tree => self.hide_directory(rule, &path),
                    Some(TreeEntryKind::File) if !target.covers_tree => self.hide_file(rule, &path),
                    _ => {}
                }
            }
        }
    }

    fn hide_directory(&mut self, rule: &PathRule, directory: &Path) {
        if self.readable.iter().any(|readable| readable == directory) {
            return;
        }
        self.add(directory, PathAccess::Hidden, true, &rule.rule);
        for name in self.tree.names(directory) {
            let path = directory.join(name);
            let is_readable = self.readable.contains(&path) || self.is_excepted(rule, &path);
            if is_readable && self.tree.kind(&path).is_some_and(|kind| kind != TreeEntryKind::Link) {
                let is_directory = self.tree.kind(&path) == Some(TreeEntryKind::Directory);
                self.add(&path, PathAccess::ReadOnly, is_directory, &format!("exception of {}", rule.rule));
            }
        }
    }

    fn hide_file(&mut self, rule: &PathRule, file: &Path) {
        if !self.readable.iter().any(|readable| readable == file) && !self.is_excepted(rule, file) {
            self.add(file, PathAccess::Hidden, false, &rule.rule);
        }
    }
}
