// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Globs on names and on paths.

use globset::{Glob, GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

use crate::facts::overlap::overlap;
use crate::facts::{PathFact, expand_braces};

/// Globs on names.
#[derive(Debug)]
pub(crate) struct Names {
    texts: Vec<String>,
    set: GlobSet,
}

/// Globs on paths: some that must match, some that must not.
#[derive(Debug)]
pub(crate) struct Paths {
    wanted: Vec<PathGlob>,
    except: Vec<PathGlob>,
}

#[derive(Debug)]
struct PathGlob {
    text: String,
    from: From,
    matcher: GlobMatcher,
}

/// What a glob is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Root,
    Home,
    Project,
    Anywhere,
}

// === impl Names ===

impl Names {
    pub(crate) fn new(texts: &[String]) -> Result<Self, String> {
        let mut set = GlobSetBuilder::new();
        for text in texts {
            for text in alternatives(text)? {
                set.add(Glob::new(&text).map_err(|error| error.to_string())?);
            }
        }
        let set = set.build().map_err(|error| error.to_string())?;
        Ok(Self { texts: texts.to_vec(), set })
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        self.set.is_match(name)
    }

    /// For people.
    pub(crate) fn list(&self) -> String {
        listed(&self.texts)
    }
}

// === impl Paths ===

impl Paths {
    pub(crate) fn new(texts: &[String]) -> Result<Self, String> {
        let (mut wanted, mut except) = (Vec::new(), Vec::new());
        for text in texts {
            let (list, text) = match text.strip_prefix('!') {
                Some(rest) => (&mut except, rest),
                None => (&mut wanted, text.as_str()),
            };
            for text in alternatives(text)? {
                list.push(PathGlob::new(&text)?);
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

    /// Letters that anything written out to match one of the globs would contain.
    pub(crate) fn traces(&self) -> impl Iterator<Item = &str> {
        self.wanted.iter().filter_map(|glob| trace(&glob.text))
    }

    /// For people.
    pub(crate) fn list(&self) -> String {
        let texts: Vec<_> = self.wanted.iter().map(|glob| glob.text.clone()).collect();
        listed(&texts)
    }
}

// === impl PathGlob ===

impl PathGlob {
    fn new(text: &str) -> Result<Self, String> {
        let from = match text {
            "~" => From::Home,
            text if text.starts_with("~/") => From::Home,
            text if text.starts_with('/') => From::Root,
            text if text.starts_with("**/") => From::Anywhere,
            _ => From::Project,
        };
        let glob =
            GlobBuilder::new(text).literal_separator(true).build().map_err(|error| error.to_string())?;
        Ok(Self { text: text.to_owned(), from, matcher: glob.compile_matcher() })
    }

    fn form<'a>(&self, path: &'a PathFact) -> Option<&'a str> {
        match self.from {
            From::Root => path.resolved.as_deref(),
            From::Home => path.in_home.as_deref(),
            From::Project => path.in_project.as_deref(),
            From::Anywhere => path.resolved.as_deref().or(Some(path.text.as_str())),
        }
    }

    fn matches(&self, path: &PathFact) -> bool {
        self.form(path).is_some_and(|form| self.matcher.is_match(form))
    }

    /// A pattern or an unknown part may stand for a path that matches.
    fn may_match(&self, path: &PathFact) -> bool {
        (path.pattern || path.dynamic) && self.form(path).is_some_and(|form| overlap(&self.text, form))
    }
}

/// By our own hand: the glob library does not take `{,e}grep`, and overlaps are found without braces.
fn alternatives(text: &str) -> Result<Vec<String>, String> {
    expand_braces(text).ok_or_else(|| format!("`{text}` has too many alternatives"))
}

/// The last part of a glob that is long enough to be looked for.
fn trace(glob: &str) -> Option<&str> {
    let runs = glob.rsplit('/').map(|part| part.split(['*', '?', '[', ']']).max_by_key(|run| run.len()));
    runs.flatten().find(|run| run.len() >= 3)
}

fn listed(texts: &[String]) -> String {
    const SHOWN: usize = 6;
    let shown: Vec<_> = texts.iter().take(SHOWN).map(|text| format!("`{text}`")).collect();
    let more = texts.len().saturating_sub(SHOWN);
    let shown = shown.join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
