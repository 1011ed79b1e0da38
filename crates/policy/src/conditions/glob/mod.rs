// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Globs on names, hosts and paths. They are validated when the rule file is parsed, so that a mistake is reported at
//! its position in the file.

mod names;
mod open_form;
mod paths;

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, Error};
use tenterhook_shell_facts::expand_braces;

use super::one_or_more::OneOrMore;
pub(crate) use names::{HostGlobs, McpNameGlobs, NameGlobs, WordGlobs};
pub(crate) use paths::{GlobBase, GlobGuard, PathGlobs};

/// Why a string cannot be used as a glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GlobError {
    #[error("`{0}` ends in a backslash")]
    TrailingBackslash(String),
    #[error("`{0}` has a `[` without its `]`")]
    UnclosedSet(String),
    #[error("`{0}` has too many alternatives")]
    TooManyAlternatives(String),
    #[error("the list of {0} has only exclusions; add at least one entry without `!`")]
    OnlyExclusions(&'static str),
    #[error("`{text}` is an address, not a host; use `{host}`")]
    AddressAsHost { text: String, host: String },
    #[error("`{0}` cannot be a host name")]
    NotAHost(String),
    #[error("`{text}` has a port; use `url: {{host: {host}, port: {port}}}`")]
    HostWithPort { text: String, host: String, port: String },
}

fn is_pattern(glob: &str) -> bool {
    glob.contains(['*', '?', '[', '\\'])
}

/// Expands braces, because the overlap of two globs is computed on globs without braces.
fn expand_alternatives(text: &str) -> Result<Vec<String>, GlobError> {
    check_glob(text)?;
    expand_braces(text).ok_or_else(|| GlobError::TooManyAlternatives(text.to_owned()))
}

/// Refuses a malformed glob. The glob library would treat it as a glob that matches nothing, and a rule that never
/// matches would appear to be active.
pub(crate) fn check_glob(glob: &str) -> Result<(), GlobError> {
    if !glob.contains(['\\', '[']) {
        return Ok(());
    }
    let mut letters = glob.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next().is_none() => return Err(GlobError::TrailingBackslash(glob.to_owned())),
            '[' => {
                // A `]` directly after the opening bracket belongs to the set.
                let set = letters.as_str().trim_start_matches(['!', '^']);
                let inner = set.strip_prefix(']').unwrap_or(set);
                let Some((_, rest)) = inner.split_once(']') else {
                    return Err(GlobError::UnclosedSet(glob.to_owned()));
                };
                letters = rest.chars();
            }
            _ => {}
        }
    }
    Ok(())
}

/// Replaces `/` in a name, so that `*` in a name glob also matches the slash.
pub(crate) fn flatten_slashes(name: &str) -> Cow<'_, str> {
    if name.contains('/') { Cow::Owned(name.replace('/', "\u{1}")) } else { Cow::Borrowed(name) }
}

/// Folds a glob on the name of an MCP server or tool as [`fold_mcp_name`](tenterhook_event::fold_mcp_name) folds the
/// names. Character sets in brackets are kept.
fn fold_mcp_glob(glob: &str) -> String {
    let mut folded = String::with_capacity(glob.len());
    let mut in_set = false;
    for letter in glob.chars() {
        match letter {
            '[' => in_set = true,
            ']' => in_set = false,
            _ => {}
        }
        if in_set || matches!(letter, '*' | '?' | ']') || letter.is_alphanumeric() {
            folded.extend(letter.to_lowercase());
        } else if !folded.ends_with('_') {
            folded.push('_');
        }
    }
    folded
}

pub(crate) fn flatten_owned(name: String) -> String {
    if name.contains('/') { flatten_slashes(&name).into_owned() } else { name }
}

/// Returns the longest literal run of each part of a glob. Every matching text contains all of these runs.
fn literal_parts(glob: &str) -> impl Iterator<Item = &str> {
    let runs =
        glob.split('/').filter_map(|part| part.split(['*', '?', '[', ']']).max_by_key(|run| run.len()));
    runs.filter(|run| run.len() >= 3)
}

/// Joins the first few strings for a message.
fn list_for_display<'a>(texts: impl IntoIterator<Item = &'a String>) -> String {
    const MAX_SHOWN_GLOBS: usize = 6;
    let mut texts = texts.into_iter();
    let shown: Vec<_> = texts.by_ref().take(MAX_SHOWN_GLOBS).map(|text| format!("`{text}`")).collect();
    let more = texts.count();
    let shown = shown.join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// A well-formed glob.
struct ValidGlob(String);

impl<'de> Deserialize<'de> for ValidGlob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        check_glob(&text).map_err(Error::custom)?;
        Ok(Self(text))
    }
}

/// Reads one glob or a list of globs from a rule file.
fn read_globs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(OneOrMore::<ValidGlob>::deserialize(deserializer)?.0.into_iter().map(|glob| glob.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_that_could_never_match_is_refused() {
        for glob in ["a[b", "a[]", "a\\", "[!"] {
            assert!(NameGlobs::new(&[glob.to_owned()]).is_err(), "{glob}");
        }
        for glob in ["a[b]", "[]]x", "[!a-z]", "a\\[", "{,e}grep"] {
            assert!(NameGlobs::new(&[glob.to_owned()]).is_ok(), "{glob}");
        }
    }

    #[test]
    fn names_of_servers_match_however_harnesses_spell_them() {
        let names = |globs: &[&str]| {
            let globs: Vec<_> = globs.iter().map(|glob| (*glob).to_owned()).collect();
            NameGlobs::new(&globs).unwrap().fold_mcp()
        };
        assert!(names(&["brave-search"]).matches("brave_search"));
        assert!(names(&["Brave.*"]).matches("brave_search") && !names(&["brave-*"]).matches("brave"));
        assert!(names(&["rec[a-z]rds__*"]).matches("records_x"));
        assert!(!names(&["*", "!git-hub"]).matches("git_hub"));
        assert!(names(&["a-b"]).lists_literally("a_b") && !names(&["a*"]).lists_literally("a_b"));
    }

    #[test]
    fn names_match_as_wholes_whatever_letters_are_in_them() {
        let names = |glob: &str| NameGlobs::new(&[glob.to_owned()]).unwrap();
        assert!(names("mcp*").matches("mcptest/echo"));
        assert!(names("python[0-9]*").matches("python3.11"));
        assert!(names("{,e,f}grep").matches("grep") && names("{,e,f}grep").matches("egrep"));
        assert!(!names("rm").matches("rmdir"));
    }
}
