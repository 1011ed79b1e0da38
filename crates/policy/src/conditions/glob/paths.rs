// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Globs on paths.

use fast_glob::glob_match;
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Deserialize as DeriveDeserialize, Serialize};
use tenterhook_facts::PathFact;
use tenterhook_paths::overlap;

use super::{alternatives, list_for_display, literal_parts, read_globs};

/// Globs on paths: some that must match, some that must not.
#[derive(Debug, Serialize)]
pub(crate) struct PathGlobs {
    wanted: Vec<PathGlob>,
    except: Vec<PathGlob>,
}

#[derive(Debug, Serialize, DeriveDeserialize)]
pub(crate) struct PathGlob {
    pub(crate) text: String,
    /// How many bytes at its start are not part of a pattern: a path that starts differently cannot match.
    plain: usize,
    /// How many bytes at its end are not part of a pattern: a path that ends differently cannot match.
    tail: usize,
    pub(crate) from: GlobBase,
}

/// What a glob is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, DeriveDeserialize)]
pub(crate) enum GlobBase {
    Root,
    Home,
    Project,
    Anywhere,
}

// === impl PathGlobs ===

impl PathGlobs {
    pub(crate) fn new(texts: &[String]) -> Result<Self, String> {
        let (mut wanted, mut except) = (Vec::new(), Vec::new());
        for text in texts {
            let (list, text) = match text.strip_prefix('!') {
                Some(rest) => (&mut except, rest),
                None => (&mut wanted, text.as_str()),
            };
            for text in alternatives(text)? {
                list.push(PathGlob::new(text));
            }
        }
        if wanted.is_empty() {
            return Err("a list of paths must name at least one to match".to_owned());
        }
        Ok(Self { wanted, except })
    }

    /// The glob that matches, if one does and no exception holds.
    pub(crate) fn matching(&self, path: &PathFact) -> Option<&str> {
        let found = self.wanted.iter().find(|glob| glob.matches(path) || glob.may_match(path))?;
        (!self.except.iter().any(|glob| glob.matches(path))).then_some(found.text.as_str())
    }

    /// The glob that matches for certain, if no exception may hold.
    pub(crate) fn surely(&self, path: &PathFact) -> Option<&str> {
        let known = !path.dynamic && path.resolved.is_some();
        let found = self.wanted.iter().find(|glob| known && glob.matches(path))?;
        let excepted = self.except.iter().any(|glob| glob.matches(path) || glob.may_match(path));
        (!excepted).then_some(found.text.as_str())
    }

    /// The glob that matches, as [`PathGlobs::matching`], and whether it does for certain. A pattern or an
    /// unknown part that could only stand for some unusual name which a glob guards, too, does not
    /// match: `*foo*` is not about `settings*.json`.
    pub(crate) fn matching_for_certain(&self, path: &PathFact) -> Option<(&str, bool)> {
        let certain = self.wanted.iter().find(|glob| glob.matches(path) || glob.is_taken_by(path));
        let found = certain.map(|glob| (glob, true)).or_else(|| {
            if !path.is_open() {
                return None;
            }
            let possible = self.wanted.iter().find(|glob| glob.may_match(path) && glob.is_covered_by(path));
            possible.map(|glob| (glob, false))
        })?;
        (!self.except.iter().any(|glob| glob.matches(path))).then_some((found.0.text.as_str(), found.1))
    }

    /// The glob about something below a directory. With `near`, only what is in the directory itself.
    pub(crate) fn below(&self, directory: &PathFact, near: bool) -> Option<&str> {
        let found = self.wanted.iter().find(|glob| glob.is_below(directory, near));
        found.map(|glob| glob.text.as_str())
    }

    pub(crate) fn globs(&self) -> impl Iterator<Item = &PathGlob> {
        self.wanted.iter()
    }

    /// The glob of which a text mentions every part that is long enough to be looked for.
    pub(crate) fn mentioned(&self, contains: impl Fn(&str) -> bool) -> Option<&str> {
        let found = self.wanted.iter().find(|glob| {
            let mut parts = literal_parts(&glob.text).peekable();
            parts.peek().is_some() && parts.all(&contains)
        });
        found.map(|glob| glob.text.as_str())
    }

    /// The first globs, for messages.
    pub(crate) fn list(&self) -> String {
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

    /// What it starts with that is not yet a pattern.
    pub(crate) fn start(&self) -> &str {
        self.text.get(..self.plain).unwrap_or_default()
    }

    /// Whether it is about something below a directory, by its first letters alone.
    fn is_below(&self, directory: &PathFact, near: bool) -> bool {
        if directory.dynamic || directory.pattern || self.from == GlobBase::Anywhere {
            return false;
        }
        let Some(form) = self.form(directory) else { return false };
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

    pub(crate) fn form<'a>(&self, path: &'a PathFact) -> Option<&'a str> {
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
        self.form(path).is_some_and(|form| {
            form.starts_with(start) && form.ends_with(end) && glob_match(&self.text, form)
        })
    }

    /// A pattern or an unknown part may stand for a path that matches.
    fn may_match(&self, path: &PathFact) -> bool {
        // `find ~ -name '*.rs'` goes everywhere; that alone does not make it about all that is guarded
        // by its directory, only about what is guarded by its name.
        let by_directory = |form: &str| {
            // Nothing is before the wildcard of a glob that may lie anywhere.
            if self.plain == 0 {
                return false;
            }
            let Some((root, name)) = form.split_once("**") else { return false };
            let wide = !name.is_empty() && root.len() < self.plain;
            let bare = self.text.ends_with("/*") || self.text.ends_with("/**");
            wide && (bare || name.starts_with('*') && self.text.ends_with('*'))
        };
        // Most patterns begin with other letters; seeing that is far cheaper than looking for an overlap.
        let begins_alike = |form: &str| {
            let plain = form.find(['*', '?', '[']).unwrap_or(form.len()).min(self.plain);
            self.text.as_bytes().get(..plain) == form.as_bytes().get(..plain)
        };
        path.is_open()
            && self.form(path).is_some_and(|form| {
                begins_alike(form)
                    && !by_directory(form)
                    && (self.from != GlobBase::Anywhere || self.is_named_by(form))
                    && overlap(&self.text, form)
            })
    }

    /// Whether a pattern stands for the plainest path that this guards.
    fn is_covered_by(&self, path: &PathFact) -> bool {
        self.form(path).is_some_and(|form| overlap(&self.plainest(), form))
    }

    /// Whether a pattern is known to take a path that this guards: it takes all of a directory, or leaves
    /// open only where the directory is.
    fn is_taken_by(&self, path: &PathFact) -> bool {
        let Some(form) = self.form(path).filter(|_| self.may_match(path) && self.is_covered_by(path)) else {
            return false;
        };
        let mut parts = form.trim_end_matches('/').rsplit('/');
        let (last, parent) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let is_open = |part: &str| part.contains(['*', '?', '[']);
        let takes_all = !last.is_empty() && last.chars().all(|letter| matches!(letter, '*' | '?' | '.'));
        !is_open(parent) && !parent.is_empty() && (!is_open(last) || takes_all)
    }

    /// The shortest path that matches, but for directories it may lie in.
    fn plainest(&self) -> String {
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

    /// A glob that may lie anywhere overlaps with any pattern at all: `src/**/*.css` might be
    /// `src/.claude/settings.json`. It is only meant by one that has something of its name.
    fn is_named_by(&self, form: &str) -> bool {
        let (own, mut other) = (last_part(&self.text), last_part(form));
        // `find` goes down to it by itself.
        while let Some(rest) = other.strip_prefix("**") {
            other = rest;
        }
        if own.ends_with('*') && other.starts_with('*') {
            return false;
        }
        let is_distinctive = |part: &str| part.chars().filter(|c| c.is_alphanumeric()).nth(2).is_some();
        if is_distinctive(own) {
            return is_distinctive(other) && overlap(own, other);
        }
        literal_parts(&self.text).all(|part| form.contains(part))
    }
}

/// The last part of a path.
fn last_part(path: &str) -> &str {
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
