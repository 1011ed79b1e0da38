// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Matches names and paths with globs, and returns the paths of a tool call.

use std::borrow::Cow;

use fast_glob::glob_match;
use tenterhook_event::{Event, ToolCall};

/// Why a glob cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GlobSyntaxError {
    /// The name is empty.
    #[error("a name is missing")]
    NameMissing,
    /// The glob ends with a backslash.
    #[error("`{0}` ends with a backslash")]
    TrailingBackslash(String),
    /// A character set is not closed.
    #[error("`{0}` has a `[` without its `]`")]
    UnclosedSet(String),
    /// A list of alternatives is not closed.
    #[error("`{0}` has a `{{` without its `}}`")]
    UnclosedAlternatives(String),
    /// A list of alternatives is closed but was not opened.
    #[error("`{0}` has a `}}` without its `{{`")]
    UnopenedAlternatives(String),
    /// The glob has more alternatives than the glob library supports.
    #[error("`{0}` has too many alternatives")]
    TooManyAlternatives(String),
}

/// A glob for a whole name, in which `/` is an ordinary character.
#[derive(Debug, Clone)]
pub(super) struct NameGlob(String);

impl NameGlob {
    pub(super) fn new(text: &str) -> Result<Self, GlobSyntaxError> {
        if text.is_empty() {
            return Err(GlobSyntaxError::NameMissing);
        }
        check_glob(text)?;
        Ok(Self(replace_slashes(text).into_owned()))
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        glob_match(self.0.as_str(), replace_slashes(name).as_ref())
    }
}

fn replace_slashes(name: &str) -> Cow<'_, str> {
    if name.contains('/') { Cow::Owned(name.replace('/', "\u{1}")) } else { Cow::Borrowed(name) }
}

/// Validates a glob. The library would treat an invalid glob as one that matches nothing.
pub(super) fn check_glob(glob: &str) -> Result<(), GlobSyntaxError> {
    let mut letters = glob.chars();
    let mut braces = 0_usize;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next().is_none() => {
                return Err(GlobSyntaxError::TrailingBackslash(glob.to_owned()));
            }
            '[' => {
                // A `]` right after the opening bracket is a member of the set.
                let set = letters.as_str().trim_start_matches(['!', '^']);
                let inner = set.strip_prefix(']').unwrap_or(set);
                let Some((_, rest)) = inner.split_once(']') else {
                    return Err(GlobSyntaxError::UnclosedSet(glob.to_owned()));
                };
                letters = rest.chars();
            }
            '{' => braces += 1,
            '}' if braces == 0 => return Err(GlobSyntaxError::UnopenedAlternatives(glob.to_owned())),
            '}' => braces -= 1,
            _ => {}
        }
    }
    // With more than ten `{…}` groups, the library silently gives up.
    match braces {
        0 if glob.matches('{').count() <= 10 => Ok(()),
        0 => Err(GlobSyntaxError::TooManyAlternatives(glob.to_owned())),
        _ => Err(GlobSyntaxError::UnclosedAlternatives(glob.to_owned())),
    }
}

/// Returns whether the glob matches the path or one of its parent directories.
pub(super) fn covers(glob: &str, path: &str) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
    ends.chain([path.len()]).filter_map(|end| path.get(..end)).any(|part| glob_match(glob, part))
}

/// Returns all paths of a call, including paths in a patch.
pub(super) fn paths(tool: &ToolCall) -> Vec<&str> {
    const HEADS: &[&str] =
        &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- "];
    let mut paths = tool.paths();
    for line in tool.patches().into_iter().flat_map(str::lines) {
        let named = HEADS.iter().find_map(|head| line.strip_prefix(head)).map(str::trim);
        paths.extend(named.map(|path| path.strip_prefix("a/").or(path.strip_prefix("b/")).unwrap_or(path)));
    }
    paths
}

/// Returns the path without `.`, `..` and repeated slashes. A relative path stays relative.
pub(super) fn normalize(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match (part, parts.last()) {
            ("..", Some(last)) if *last != ".." => drop(parts.pop()),
            ("..", None) if path.starts_with('/') => {}
            _ => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Returns the absolute path, if the event contains the working directory.
pub(super) fn absolute(path: &str, event: &Event) -> String {
    match event.cwd.as_deref() {
        Some(cwd) if !path.starts_with(['/', '~']) => normalize(&format!("{cwd}/{path}")),
        _ => normalize(path),
    }
}

/// Returns the path relative to `dir`; `None` if the path is outside it.
pub(super) fn relative_to<'a>(path: &'a str, dir: Option<&str>) -> Option<&'a str> {
    path.strip_prefix(dir?.trim_end_matches('/'))?.strip_prefix('/')
}
