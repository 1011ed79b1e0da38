// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines the input, mode and result of a condition check.

use tenterhook_event::Event;
use tenterhook_facts::{Certainty, Facts, PathFact};

use super::glob::{GlobGuard, NameGlobs, PathGlobs};
use crate::state::SessionState;

/// What matched, or which condition failed.
pub(super) type Check = Result<Matched, MatchFailure>;

/// Which condition failed; empty unless the caller wants an explanation.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct MatchFailure(pub(crate) String);

/// Whether the caller wants to know which condition failed. Formatting this explanation for every condition of every
/// rule takes longer than the evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Explain {
    Reason,
    Nothing,
}

/// How much of a call has to satisfy a condition. One command is enough to deny a whole line. To allow the line, all
/// of its commands have to be known and allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchMode {
    /// At least one part of the call satisfies or may satisfy the condition.
    Any,
    /// Every part of the call satisfies the condition for certain.
    All,
}

/// Result of a check in which all conditions are true.
#[derive(Debug)]
pub(crate) struct Matched {
    /// What satisfies the conditions, for explanations.
    pub(crate) why: String,
    /// Whether the conditions are certainly true.
    pub(crate) certain: bool,
    /// If not certain: what would have to be the case for the conditions to be true.
    pub(crate) doubt: &'static str,
}

/// Doubt: a word that is known only at run time may be an option.
pub(super) const OPEN_OPTION: &str = "a word that is known only at run time is an option";
/// Doubt: a glob pattern in the call may match a guarded path.
pub(super) const OPEN_PATTERN: &str = "the pattern matches a guarded path";

/// Doubt: the joined name of an MCP tool may belong to another server.
pub(super) const OPEN_NAME: &str = "the joined name refers to that server";

/// The event, facts and state that conditions are checked against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MatchInput<'a> {
    pub(crate) event: &'a Event,
    pub(crate) facts: &'a Facts,
    pub(crate) state: &'a SessionState,
}

// === impl Explain ===

impl Explain {
    pub(super) fn text(self, why: impl FnOnce() -> String) -> String {
        if self == Self::Reason { why() } else { String::new() }
    }

    pub(super) fn failure(self, why: impl FnOnce() -> String) -> MatchFailure {
        MatchFailure(self.text(why))
    }
}

// === impl MatchMode ===

impl MatchMode {
    /// Returns the mode in which the exceptions of a condition are checked.
    pub(super) fn inverse(self) -> Self {
        match self {
            Self::Any => Self::All,
            Self::All => Self::Any,
        }
    }

    /// Returns the first item that satisfies `fits`, if enough items do: one or all, depending on the mode.
    pub(super) fn pick<T>(self, mut items: impl Iterator<Item = T>, fits: impl Fn(&T) -> bool) -> Option<T> {
        match self {
            Self::Any => items.find(fits),
            Self::All => {
                let first = items.next()?;
                (fits(&first) && items.all(|item| fits(&item))).then_some(first)
            }
        }
    }

    /// Whether a path is checked in this mode. An alias is a second name for a path that is listed as well,
    /// so a rule that allows the path does not have to allow the alias too.
    pub(super) fn considers(self, path: &PathFact) -> bool {
        self == Self::Any || !path.is_alias
    }

    /// Returns the glob that a path matches, and whether the match is certain.
    pub(super) fn glob<'a>(self, globs: &'a PathGlobs, path: &PathFact) -> Option<GlobGuard<'a>> {
        match self {
            Self::Any => globs.find_guard(path),
            Self::All => {
                globs.find_certain(path).map(|glob| GlobGuard { glob, certainty: Certainty::Certain })
            }
        }
    }

    /// Returns the matching path and its glob. A certain match takes precedence over a possible one.
    pub(super) fn path<'a>(
        self,
        globs: &PathGlobs,
        paths: impl Iterator<Item = &'a PathFact>,
    ) -> Option<Matched> {
        let mut paths = paths.filter(|path| self.considers(path));
        let guarded = |path: &'a PathFact| Some((path, self.glob(globs, path)?));
        let (path, guard) = match self {
            Self::Any => {
                let mut possible = None;
                let certain = paths.filter_map(guarded).find(|found| {
                    possible.get_or_insert(*found);
                    found.1.certainty.is_certain()
                });
                certain.or(possible)?
            }
            Self::All => {
                let first = paths.next().and_then(guarded)?;
                paths.all(|path| guarded(path).is_some()).then_some(first)?
            }
        };
        let why = format!("`{}` (`{}`)", path.text, guard.glob);
        Some(Matched { why, certain: guard.certainty.is_certain(), doubt: OPEN_PATTERN })
    }
}

// === impl Matched ===

impl Matched {
    pub(super) fn certain(why: String) -> Self {
        Self { why, certain: true, doubt: OPEN_OPTION }
    }
}

/// Checks that one of the given names matches, if names are required.
pub(super) fn check_names<'a>(
    names: Option<&NameGlobs>,
    given: impl IntoIterator<Item = &'a str>,
    what: &str,
    explain: Explain,
) -> Result<(), MatchFailure> {
    match names {
        Some(names) if !given.into_iter().any(|name| names.matches(name)) => {
            let is = if what.starts_with("no ") { "is" } else { "is not" };
            Err(explain.failure(|| format!("{what} {is} one of {}", names.display_list())))
        }
        _ => Ok(()),
    }
}
