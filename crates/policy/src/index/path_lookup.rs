// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Looks up the rules that could match the paths of an event.

use tenterhook_facts::{Facts, PathFact};

use super::IndexEntry;
use super::lookup::{IndexLookup, sort_and_dedup};
use super::term::{
    COMPONENT_TAG, IndexTerm, NAME_END_TAG, NAME_START_TAG, NAME_TAG, path_start_key, path_start_tag,
};
use crate::conditions::glob::GlobBase;

/// Number of entries above which duplicates are removed during a lookup.
const DEDUP_ABOVE: usize = 1 << 16;

/// Number of paths that are remembered during a lookup, because most paths of a call occur several times.
const MAX_REMEMBERED_PATHS: usize = 8;

impl IndexLookup<'_> {
    pub(super) fn collect_by_paths(&self, facts: &Facts, found: &mut Vec<IndexEntry>) {
        let of_commands = facts
            .commands
            .iter()
            .flat_map(|command| command.operands.iter().chain(&command.named).chain(&command.inputs));
        let by_name = facts.paths.iter().chain(of_commands).map(|path| (path, false));
        let by_effect = facts.effects.iter().map(|effect| (&effect.path, effect.reaches_below()));
        let mut dedup_above = DEDUP_ABOVE;
        let mut is_any_open = false;
        let mut remembered: Vec<&PathFact> = Vec::with_capacity(MAX_REMEMBERED_PATHS);
        for (path, recursive) in by_name.chain(by_effect) {
            if !remembered.iter().any(|other| is_same_path(other, path)) {
                self.collect_by_path(path, found);
                if remembered.len() < MAX_REMEMBERED_PATHS {
                    remembered.push(path);
                }
            }
            if path.is_open() || recursive {
                self.collect_below(path, found);
            }
            is_any_open |= path.is_open();
            // Many paths find the same rules repeatedly.
            if found.len() > dedup_above {
                sort_and_dedup(found);
                dedup_above = DEDUP_ABOVE.max(2 * found.len());
            }
        }
        if is_any_open {
            self.collect_term(IndexTerm::SomeOpenPath, found);
        }
    }

    fn collect_by_path(&self, path: &PathFact, found: &mut Vec<IndexEntry>) {
        for (from, known) in known_starts(path) {
            let tag = path_start_tag(from);
            let ends = known.match_indices('/').map(|(end, _)| end).chain([known.len()]);
            let ends = ends.take_while(|end| *end <= self.form.longest_path);
            self.form.keys.get_prefixes(self.body, tag, known, ends, found);
            if !known.starts_with('/') {
                self.get(tag, "", found);
            }
        }
        if !path.is_open() {
            self.collect_by_components(path.resolved.as_deref().unwrap_or(&path.text), found);
        }
    }

    /// Finds globs that may start anywhere and have a component in common with this path.
    fn collect_by_components(&self, path: &str, found: &mut Vec<IndexEntry>) {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.get(NAME_TAG, name, found);
        self.collect_by_starts(NAME_START_TAG, name, found);
        if self.form.keys.has_tag(NAME_END_TAG) {
            let backwards: String = name.chars().rev().take(self.form.longest_name_part).collect();
            self.collect_by_starts(NAME_END_TAG, &backwards, found);
        }
        if self.form.keys.has_tag(COMPONENT_TAG) {
            path.split('/').for_each(|part| self.get(COMPONENT_TAG, part, found));
        }
    }

    fn collect_by_starts(&self, tag: char, name: &str, found: &mut Vec<IndexEntry>) {
        let ends = name.char_indices().map(|(at, letter)| at + letter.len_utf8());
        let ends = ends.take_while(|end| *end <= self.form.longest_name_part);
        self.form.keys.get_prefixes(self.body, tag, name, ends, found);
    }

    /// Finds globs that start below this path.
    fn collect_below(&self, path: &PathFact, found: &mut Vec<IndexEntry>) {
        for (from, known) in known_starts(path) {
            self.find_by_prefix(&path_start_key(from, known.trim_end_matches('/')), found);
        }
    }
}

/// Returns the forms of a path, each up to its first unknown letter.
fn known_starts(path: &PathFact) -> impl Iterator<Item = (GlobBase, &str)> {
    let forms = [
        (GlobBase::Root, path.resolved.as_deref()),
        (GlobBase::Home, path.in_home.as_deref().or(path.walk_in_homes.as_deref())),
        (GlobBase::Project, path.in_project.as_deref()),
    ];
    forms.into_iter().filter_map(|(from, form)| {
        let form = form?;
        // Only the letters before a pattern are certain.
        let known = match form.find(['*', '?', '[']).filter(|_| path.is_open()) {
            Some(end) => form.get(..end).unwrap_or_default(),
            None => form,
        };
        Some((from, known))
    })
}

/// Whether two paths find the same rules.
fn is_same_path(one: &PathFact, other: &PathFact) -> bool {
    one.text == other.text
        && one.resolved == other.resolved
        && one.in_home == other.in_home
        && one.in_project == other.in_project
        && one.walk_in_homes == other.walk_in_homes
        && one.is_open() == other.is_open()
}
