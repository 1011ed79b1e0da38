// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Prepares a path with a pattern or an unknown part for comparing it with many globs.

use tenterhook_facts::PathFact;

use super::paths::{GlobBase, split_name};

/// Characters that are wildcards, or part of one.
pub(super) const WILDCARDS: [char; 4] = ['*', '?', '[', ']'];

/// A path with a pattern or an unknown part, in the form of the globs of one base.
#[derive(Debug)]
pub(super) struct OpenForm<'a> {
    pub(super) text: &'a str,
    /// Number of bytes before the first wildcard.
    pub(super) plain: usize,
    /// The parts before and after the first `**`.
    pub(super) walk: Option<(&'a str, &'a str)>,
    pub(super) directory: &'a str,
    /// The last component of the directory.
    pub(super) parent: OpenPatternPart<'a>,
    /// The last component, without the `**` of a search such as `find`, which descends into directories.
    pub(super) name: OpenPatternPart<'a>,
    /// Whether the last component consists of wildcards and dots.
    pub(super) is_whole_directory: bool,
    /// Whether the directory is not known.
    pub(super) has_open_directory: bool,
}

/// A component of a path that may be a pattern.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenPatternPart<'a> {
    pub(super) text: &'a str,
    /// Number of bytes that are not wildcards.
    spelled: usize,
    /// Number of bytes before the first wildcard.
    plain: usize,
    /// Length of the longest literal run.
    longest: usize,
}

/// The forms of one path, each computed when it is first needed.
#[derive(Debug)]
pub(super) struct OpenForms<'a> {
    path: &'a PathFact,
    computed: Vec<(GlobBase, Option<OpenForm<'a>>)>,
}

impl<'a> OpenForm<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let (directory, name) = split_name(text);
        let name = name.strip_prefix("**").filter(|name| !name.is_empty()).unwrap_or(name);
        let parent = split_name(directory).1;
        Self {
            text,
            plain: text.find(['*', '?', '[']).unwrap_or(text.len()),
            walk: text.split_once("**"),
            directory,
            parent: OpenPatternPart::new(parent),
            name: OpenPatternPart::new(name),
            is_whole_directory: !name.is_empty()
                && name.chars().all(|letter| matches!(letter, '*' | '?' | '.')),
            has_open_directory: is_open(parent) || parent.is_empty() || directory.contains("**"),
        }
    }
}

impl<'a> OpenPatternPart<'a> {
    fn new(text: &'a str) -> Self {
        let runs = || text.split(WILDCARDS).map(str::len);
        Self {
            text,
            spelled: runs().sum(),
            plain: runs().next().unwrap_or_default(),
            longest: runs().max().unwrap_or_default(),
        }
    }

    /// Whether this part contains at most two letters, which name nothing.
    pub(super) fn is_unnamed(self) -> bool {
        self.spelled <= 2
    }

    /// Whether a name begins with at least four letters that this part begins with.
    pub(super) fn is_start_of(self, name: &str) -> bool {
        self.plain > 3 && self.text.get(..self.plain).is_some_and(|start| name.starts_with(start))
    }

    /// Whether this part contains these letters without a wildcard between them.
    pub(super) fn contains(self, letters: &str) -> bool {
        letters.len() <= self.longest && self.text.split(WILDCARDS).any(|run| run.contains(letters))
    }

    /// Whether this part spells most of a name.
    pub(super) fn spells_most_of(self, name: &str) -> bool {
        !self.is_unnamed() && self.spelled * 3 > name.len() * 2
    }
}

impl<'a> OpenForms<'a> {
    pub(super) fn new(path: &'a PathFact) -> Self {
        Self { path, computed: Vec::new() }
    }

    /// Returns the path in the form of globs with this base; `None` if every letter of the path is known.
    pub(super) fn get(&mut self, from: GlobBase) -> Option<&OpenForm<'a>> {
        let path = self.path;
        if !path.is_open() {
            return None;
        }
        if !self.computed.iter().any(|(base, _)| *base == from) {
            self.computed.push((from, open_form(path, from).map(OpenForm::new)));
        }
        self.computed.iter().find(|(base, _)| *base == from)?.1.as_ref()
    }
}

/// Returns the path in the form of globs with this base.
pub(super) fn path_form(path: &PathFact, from: GlobBase) -> Option<&str> {
    match from {
        GlobBase::Root => path.resolved.as_deref(),
        GlobBase::Home => path.in_home.as_deref(),
        GlobBase::Project => path.in_project.as_deref(),
        GlobBase::Anywhere => path.resolved.as_deref().or(Some(path.text.as_str())),
    }
}

/// Returns the path in the form of globs with this base. A search that starts above the home directories also searches
/// them.
pub(super) fn open_form(path: &PathFact, from: GlobBase) -> Option<&str> {
    let walk = path.walk_in_homes.as_deref().filter(|_| from == GlobBase::Home);
    walk.or_else(|| path_form(path, from))
}

/// Whether a part of a path contains a wildcard.
pub(super) fn is_open(part: &str) -> bool {
    part.bytes().any(|byte| WILDCARDS.contains(&char::from(byte)))
}
