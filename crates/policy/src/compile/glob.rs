// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Globs on names and on paths.

use std::borrow::Cow;

use fast_glob::glob_match;

use crate::facts::overlap::overlap;
use crate::facts::{PathFact, expand_braces};

/// Globs on names.
#[derive(Debug)]
pub(crate) struct Names {
    texts: Vec<String>,
    globs: Vec<String>,
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
        let mut globs = Vec::with_capacity(texts.len());
        for text in texts {
            globs.extend(alternatives(text)?.iter().map(|glob| flat(glob).into_owned()));
        }
        Ok(Self { texts: texts.to_vec(), globs })
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        let name = flat(name);
        self.globs.iter().any(|glob| glob_match(glob, name.as_ref()))
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
                list.push(PathGlob::new(&text));
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
    fn new(text: &str) -> Self {
        let from = match text {
            "~" => From::Home,
            text if text.starts_with("~/") => From::Home,
            text if text.starts_with('/') => From::Root,
            text if text.starts_with("**/") => From::Anywhere,
            _ => From::Project,
        };
        Self { text: text.to_owned(), from }
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
        self.form(path).is_some_and(|form| glob_match(&self.text, form))
    }

    /// A pattern or an unknown part may stand for a path that matches.
    fn may_match(&self, path: &PathFact) -> bool {
        (path.pattern || path.dynamic) && self.form(path).is_some_and(|form| overlap(&self.text, form))
    }
}

/// Braces are opened here because overlaps are found without them.
fn alternatives(text: &str) -> Result<Vec<String>, String> {
    well_formed(text)?;
    expand_braces(text).ok_or_else(|| format!("`{text}` has too many alternatives"))
}

/// The glob library takes a broken glob for one that matches nothing: a rule that never matches
/// would look like one that is in force.
fn well_formed(glob: &str) -> Result<(), String> {
    let mut letters = glob.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next().is_none() => return Err(format!("`{glob}` ends in a backslash")),
            '[' => {
                // A `]` right after the opening is a letter of the set.
                let set = letters.as_str().trim_start_matches(['!', '^']);
                let inner = set.strip_prefix(']').unwrap_or(set);
                let Some((_, rest)) = inner.split_once(']') else {
                    return Err(format!("`{glob}` has a `[` without its `]`"));
                };
                letters = rest.chars();
            }
            _ => {}
        }
    }
    Ok(())
}

/// A `/` in a name is a letter like any other.
fn flat(name: &str) -> Cow<'_, str> {
    if name.contains('/') { Cow::Owned(name.replace('/', "\u{1}")) } else { Cow::Borrowed(name) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_that_could_never_match_is_refused() {
        for glob in ["a[b", "a[]", "a\\", "[!"] {
            assert!(Names::new(&[glob.to_owned()]).is_err(), "{glob}");
        }
        for glob in ["a[b]", "[]]x", "[!a-z]", "a\\[", "{,e}grep"] {
            assert!(Names::new(&[glob.to_owned()]).is_ok(), "{glob}");
        }
    }

    #[test]
    fn names_match_as_wholes_whatever_letters_are_in_them() {
        let names = |glob: &str| Names::new(&[glob.to_owned()]).unwrap();
        assert!(names("mcp*").matches("mcptest/echo"));
        assert!(names("python[0-9]*").matches("python3.11"));
        assert!(names("{,e,f}grep").matches("grep") && names("{,e,f}grep").matches("egrep"));
        assert!(!names("rm").matches("rmdir"));
    }
}
