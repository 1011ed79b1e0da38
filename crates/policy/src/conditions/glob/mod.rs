// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Globs on names, on hosts and on paths. They are checked where they are read, so that a mistake is reported
//! at its own place in the rule file.

mod names;
mod paths;

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, Error};
use tenterhook_shell_facts::expand_braces;

use super::one_or_more::OneOrMore;
pub(crate) use names::{HostGlobs, McpNameGlobs, NameGlobs, WordGlobs};
pub(crate) use paths::{GlobBase, PathGlobs};

fn is_pattern(glob: &str) -> bool {
    glob.contains(['*', '?', '[', '\\'])
}

/// Braces are opened here because overlaps are found without them.
fn alternatives(text: &str) -> Result<Vec<String>, String> {
    well_formed(text)?;
    expand_braces(text).ok_or_else(|| format!("`{text}` has too many alternatives"))
}

/// The glob library takes a broken glob for one that matches nothing: a rule that never matches
/// would look like one that is in force.
pub(crate) fn well_formed(glob: &str) -> Result<(), String> {
    if !glob.contains(['\\', '[']) {
        return Ok(());
    }
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
pub(crate) fn flat(name: &str) -> Cow<'_, str> {
    if name.contains('/') { Cow::Owned(name.replace('/', "\u{1}")) } else { Cow::Borrowed(name) }
}

/// A glob on the name of an MCP server or tool, for names that were folded by
/// [`fold_mcp_name`](tenterhook_event::fold_mcp_name). Sets of letters stay as they are.
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

pub(crate) fn flattened(name: String) -> String {
    if name.contains('/') { flat(&name).into_owned() } else { name }
}

/// The letters of a glob that anything which matches it would contain, part by part.
fn literal_parts(glob: &str) -> impl Iterator<Item = &str> {
    let runs =
        glob.split('/').filter_map(|part| part.split(['*', '?', '[', ']']).max_by_key(|run| run.len()));
    runs.filter(|run| run.len() >= 3)
}

/// The first of some texts, for messages.
fn list_for_display<'a>(texts: impl IntoIterator<Item = &'a String>) -> String {
    const SHOWN: usize = 6;
    let mut texts = texts.into_iter();
    let shown: Vec<_> = texts.by_ref().take(SHOWN).map(|text| format!("`{text}`")).collect();
    let more = texts.count();
    let shown = shown.join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// A glob that could match something.
struct Glob(String);

impl<'de> Deserialize<'de> for Glob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        well_formed(&text).map_err(Error::custom)?;
        Ok(Self(text))
    }
}

/// One glob or a list of them, as rule files have them.
fn read_globs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(OneOrMore::<Glob>::deserialize(deserializer)?.0.into_iter().map(|glob| glob.0).collect())
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
        assert!(names(&["a-b"]).spell_out("a_b") && !names(&["a*"]).spell_out("a_b"));
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
