// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Globs on paths.

use fast_glob::glob_match;
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Deserialize as DeriveDeserialize, Serialize};
use tenterhook_facts::PathFact;
use tenterhook_paths::globs_overlap;

use super::{GlobError, expand_alternatives, list_for_display, literal_parts, read_globs};

/// Globs on paths: some that must match, some that must not.
#[derive(Debug, Serialize)]
pub(crate) struct PathGlobs {
    wanted: Vec<PathGlob>,
    except: Vec<PathGlob>,
}

#[derive(Debug, Serialize, DeriveDeserialize)]
pub(crate) struct PathGlob {
    pub(crate) text: String,
    /// Number of literal bytes at the start: a path that starts differently cannot match.
    plain: usize,
    /// Number of literal bytes at the end: a path that ends differently cannot match.
    tail: usize,
    pub(crate) from: GlobBase,
}

/// The directory that a glob is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, DeriveDeserialize)]
pub(crate) enum GlobBase {
    Root,
    Home,
    Project,
    Anywhere,
}

// === impl PathGlobs ===

impl PathGlobs {
    pub(crate) fn new(texts: &[String]) -> Result<Self, GlobError> {
        let (mut wanted, mut except) = (Vec::new(), Vec::new());
        for text in texts {
            let (list, text) = match text.strip_prefix('!') {
                Some(rest) => (&mut except, rest),
                None => (&mut wanted, text.as_str()),
            };
            for text in expand_alternatives(text)? {
                list.push(PathGlob::new(text));
            }
        }
        if wanted.is_empty() {
            return Err(GlobError::OnlyExclusions("paths"));
        }
        Ok(Self { wanted, except })
    }

    /// The first glob that matches or may match, unless an exclusion matches.
    pub(crate) fn find_possible(&self, path: &PathFact) -> Option<&str> {
        let found = self.wanted.iter().find(|glob| glob.matches(path) || glob.may_match(path))?;
        (!self.except.iter().any(|glob| glob.matches(path))).then_some(found.text.as_str())
    }

    /// The first glob that matches for certain, unless an exclusion may match.
    pub(crate) fn find_certain(&self, path: &PathFact) -> Option<&str> {
        let known = !path.dynamic && path.resolved.is_some();
        let found = self.wanted.iter().find(|glob| known && glob.matches(path))?;
        let excepted = self.except.iter().any(|glob| glob.matches(path) || glob.may_match(path));
        (!excepted).then_some(found.text.as_str())
    }

    /// The first glob that matches, and whether it does for certain. A pattern or an unknown part of the path does not
    /// match if it could only stand for an unusual name that a glob also covers: `*foo*` does not match `settings*.json`.
    pub(crate) fn find_with_certainty(&self, path: &PathFact) -> Option<(&str, bool)> {
        let certain = self.wanted.iter().find(|glob| glob.matches(path) || glob.is_certainly_in(path));
        let found = certain.map(|glob| (glob, true)).or_else(|| {
            if !path.is_open() {
                return None;
            }
            let possible = self.wanted.iter().find(|glob| glob.may_match(path) && glob.is_simplest_in(path));
            possible.map(|glob| (glob, false))
        })?;
        (!self.except.iter().any(|glob| glob.matches(path))).then_some((found.0.text.as_str(), found.1))
    }

    /// The first glob on something below a directory. With `near`, only on what is directly in it.
    pub(crate) fn find_below(&self, directory: &PathFact, near: bool) -> Option<&str> {
        let found = self.wanted.iter().find(|glob| glob.is_below(directory, near));
        found.map(|glob| glob.text.as_str())
    }

    pub(crate) fn globs(&self) -> impl Iterator<Item = &PathGlob> {
        self.wanted.iter()
    }

    /// The first glob of which a text contains every literal part that is long enough to be searched.
    pub(crate) fn find_mentioned(&self, contains: impl Fn(&str) -> bool) -> Option<&str> {
        let found = self.wanted.iter().find(|glob| {
            let mut parts = literal_parts(&glob.text).peekable();
            parts.peek().is_some() && parts.all(&contains)
        });
        found.map(|glob| glob.text.as_str())
    }

    /// The first globs, for messages.
    pub(crate) fn display_list(&self) -> String {
        list_for_display(self.wanted.iter().map(|glob| &glob.text))
    }
}

// === impl PathGlob ===

impl PathGlob {
    fn new(text: String) -> Self {
        let from = match text.as_str() {
            "~" => GlobBase::Home,
            text if text.starts_with("~/") => GlobBase::Home,
            text if text.starts_with('/') => GlobBase::Root,
            text if text.starts_with("**/") => GlobBase::Anywhere,
            _ => GlobBase::Project,
        };
        let plain = text.find(['*', '?', '[', '\\']).unwrap_or(text.len());
        let tail =
            text.rsplit(['*', '?', ']', '\\']).next().unwrap_or_default().trim_start_matches('/').len();
        Self { text, plain, tail, from }
    }

    /// The literal start of the glob.
    pub(crate) fn start(&self) -> &str {
        self.text.get(..self.plain).unwrap_or_default()
    }

    /// Whether the literal start of the glob is below a directory.
    fn is_below(&self, directory: &PathFact, near: bool) -> bool {
        if directory.dynamic || directory.pattern || self.from == GlobBase::Anywhere {
            return false;
        }
        let Some(form) = self.path_form(directory) else { return false };
        let base = form.trim_end_matches('/');
        let rest = if base.is_empty() {
            Some(self.start().trim_start_matches('/'))
        } else {
            self.start().strip_prefix(base).and_then(|rest| rest.strip_prefix('/'))
        };
        let Some(rest) = rest else { return false };
        let inside = !rest.is_empty() || self.plain < self.text.len();
        inside && (!near || !rest.trim_end_matches('/').contains('/'))
    }

    pub(crate) fn path_form<'a>(&self, path: &'a PathFact) -> Option<&'a str> {
        match self.from {
            GlobBase::Root => path.resolved.as_deref(),
            GlobBase::Home => path.in_home.as_deref(),
            GlobBase::Project => path.in_project.as_deref(),
            GlobBase::Anywhere => path.resolved.as_deref().or(Some(path.text.as_str())),
        }
    }

    fn matches(&self, path: &PathFact) -> bool {
        let (start, end) =
            (self.start(), self.text.get(self.text.len().saturating_sub(self.tail)..).unwrap_or_default());
        self.path_form(path).is_some_and(|form| {
            form.starts_with(start) && form.ends_with(end) && glob_match(&self.text, form)
        })
    }

    /// Whether a pattern or an unknown part of the path may stand for a path that matches.
    fn may_match(&self, path: &PathFact) -> bool {
        // `find ~ -name '*.rs'` walks everything. That alone is not a match for globs that guard by directory, only for
        // globs that guard by name.
        let by_directory = |form: &str| {
            // The glob has no literal start.
            if self.plain == 0 {
                return false;
            }
            let Some((root, name)) = form.split_once("**") else { return false };
            let wide = !name.is_empty() && root.len() < self.plain;
            let bare = self.text.ends_with("/*") || self.text.ends_with("/**");
            wide && (bare || name.starts_with('*') && self.text.ends_with('*'))
        };
        // Most patterns begin with other letters; comparing those is far cheaper than computing the overlap.
        let begins_alike = |form: &str| {
            let plain = form.find(['*', '?', '[']).unwrap_or(form.len()).min(self.plain);
            self.text.as_bytes().get(..plain) == form.as_bytes().get(..plain)
        };
        path.is_open()
            && self.path_form(path).is_some_and(|form| {
                begins_alike(form)
                    && !by_directory(form)
                    && (self.from != GlobBase::Anywhere || self.shares_name_with(form))
                    && globs_overlap(&self.text, form)
            })
    }

    /// Whether the path's pattern stands for the simplest path that this glob matches.
    fn is_simplest_in(&self, path: &PathFact) -> bool {
        self.path_form(path).is_some_and(|form| globs_overlap(&self.simplest_path(), form))
    }

    /// Whether the path's pattern certainly includes a path that this glob matches: it takes everything in a directory, or
    /// leaves open only where the directory is.
    fn is_certainly_in(&self, path: &PathFact) -> bool {
        let Some(form) = self.path_form(path).filter(|_| self.may_match(path) && self.is_simplest_in(path))
        else {
            return false;
        };
        let mut parts = form.trim_end_matches('/').rsplit('/');
        let (last, parent) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let is_open = |part: &str| part.contains(['*', '?', '[']);
        let names_whole_directory =
            !last.is_empty() && last.chars().all(|letter| matches!(letter, '*' | '?' | '.'));
        !is_open(parent) && !parent.is_empty() && (!is_open(last) || names_whole_directory)
    }

    /// The shortest path that matches, without the directories that a leading `**/` may stand for.
    fn simplest_path(&self) -> String {
        let (start, rest) =
            self.text.strip_prefix("**/").map_or(("", self.text.as_str()), |rest| ("**/", rest));
        let mut plain = start.to_owned();
        let mut letters = rest.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '*' if letters.next_if_eq(&'*').is_some() => plain.push('x'),
                '*' => {}
                '?' => plain.push('x'),
                '[' => {
                    let set: String = letters.by_ref().take_while(|letter| *letter != ']').collect();
                    plain.extend(set.trim_start_matches(['!', '^']).chars().next());
                }
                letter => plain.push(letter),
            }
        }
        plain
    }

    /// Whether a pattern has something in common with the name in a glob that starts with `**/`. Such a glob overlaps with
    /// any pattern, since `src/**/*.css` might be `src/.claude/settings.json`, so overlap alone is not enough.
    fn shares_name_with(&self, form: &str) -> bool {
        let (own, mut other) = (last_component(&self.text), last_component(form));
        // `find` descends to the file by itself.
        while let Some(rest) = other.strip_prefix("**") {
            other = rest;
        }
        if own.ends_with('*') && other.starts_with('*') {
            return false;
        }
        let is_distinctive = |part: &str| part.chars().filter(|c| c.is_alphanumeric()).nth(2).is_some();
        if is_distinctive(own) {
            return is_distinctive(other) && globs_overlap(own, other);
        }
        literal_parts(&self.text).all(|part| form.contains(part))
    }
}

/// The last component of a path.
fn last_component(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').map_or(path, |(_, last)| last)
}

// === impl Deserialize ===

impl<'de> Deserialize<'de> for PathGlobs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Self::new(&read_globs(deserializer)?).map_err(Error::custom);
        }
        let (wanted, except) = Deserialize::deserialize(deserializer)?;
        Ok(Self { wanted, except })
    }
}

#[cfg(feature = "schema")]
crate::conditions::schema_of_texts!(PathGlobs);
