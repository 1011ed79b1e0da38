// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Applies what earlier calls of a session did with files: copies of sensitive files, and files that the session
//! created.

use std::collections::{BTreeMap, BTreeSet};

use tenterhook_event::Event;
use tenterhook_paths::{FileOp, PathFact, PathLocation, PathRoots, WrittenPath};
use tenterhook_shell_facts::{ExecLocation, FileEffect};

use super::facts::path_roots;
use super::{EvalEnvironment, Facts};

/// Files that earlier calls of a session copied or created.
#[derive(Debug, Clone, Copy)]
pub struct SessionFilePaths<'a> {
    /// Copies of sensitive files, each with the path of its original.
    pub copies: &'a BTreeMap<String, String>,
    /// Files and directories that did not exist before the session created them.
    pub created: &'a BTreeSet<String>,
}

impl SessionFilePaths<'_> {
    /// Returns whether there is nothing to apply.
    pub fn is_empty(&self) -> bool {
        self.copies.is_empty() && self.created.is_empty()
    }

    fn find_original(&self, path: &PathFact) -> Option<&str> {
        let path = path.resolved.as_deref().filter(|_| !path.is_open())?;
        self.copies.get(path).map(String::as_str)
    }

    fn is_created(&self, path: &PathFact) -> bool {
        // A pattern for directories could match a link to another directory.
        let is_last = |path: &str| {
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            !directory.contains(['*', '?', '['])
        };
        let is_safe = !path.dynamic && (!path.pattern || !path.text.ends_with('/'));
        let path = path.resolved.as_deref().filter(|path| is_safe && is_last(path));
        path.is_some_and(|path| self_and_parents(path).any(|path| self.created.contains(path)))
    }
}

impl Facts {
    /// Applies what the session did with files before this call.
    ///
    /// A call that reads a copy also reads the original, so that the rules for the original apply. A path that the
    /// session created counts as temporary: the session may delete and replace it.
    pub fn apply_session_files(
        &mut self,
        event: &Event,
        environment: &EvalEnvironment<'_>,
        files: SessionFilePaths<'_>,
    ) {
        let roots = path_roots(event, environment);
        let mut originals = Vec::new();
        let mut deleting: BTreeSet<String> = BTreeSet::new();
        for effect in self.effects.iter_mut().filter(|effect| effect.on == ExecLocation::Here) {
            // Rules other than those about deletion still apply to a path that the session created.
            if effect.does == FileOp::Delete {
                mark_created(&mut effect.path, files);
                deleting.insert(effect.by.clone());
            }
            if matches!(effect.does, FileOp::Read | FileOp::Move)
                && let Some(path) = original_of(&effect.path, files, &roots)
            {
                // A copy that is moved is copied once more, and nothing is printed.
                let by = if effect.does == FileOp::Move { "cp".to_owned() } else { effect.by.clone() };
                originals.push(FileEffect { does: FileOp::Read, path, by, ..effect.clone() });
            }
        }
        self.effects.extend(originals);
        add_originals(&mut self.paths, false, files, &roots);
        for command in self.commands.iter_mut().filter(|command| command.on == ExecLocation::Here) {
            let deletes = deleting.contains(&command.program);
            for list in [&mut command.operands, &mut command.named, &mut command.inputs] {
                add_originals(list, deletes, files, &roots);
            }
        }
    }
}

fn add_originals(list: &mut Vec<PathFact>, deletes: bool, files: SessionFilePaths<'_>, roots: &PathRoots) {
    for path in list.iter_mut().filter(|_| deletes) {
        mark_created(path, files);
    }
    let read = list.iter().filter(|path| !path.is_not_read);
    let originals: Vec<_> = read.filter_map(|path| original_of(path, files, roots)).collect();
    list.extend(originals);
}

fn mark_created(path: &mut PathFact, files: SessionFilePaths<'_>) {
    if path.places.contains(&PathLocation::OutsideProject) && files.is_created(path) {
        path.places = vec![PathLocation::Temp];
    }
}

fn original_of(path: &PathFact, files: SessionFilePaths<'_>, roots: &PathRoots) -> Option<PathFact> {
    let original = files.find_original(path)?;
    let written = WrittenPath { text: original, shape: original, dynamic: false, pattern: false };
    Some(roots.classify(&written, None))
}

/// Returns an absolute path and the directories that contain it, the path itself first.
fn self_and_parents(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| {
        path.rsplit_once('/').map(|(parent, _)| parent).filter(|parent| !parent.is_empty())
    })
}
