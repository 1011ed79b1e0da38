// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What conditions are checked on, how, and what comes of it.

use tenterhook_event::Event;
use tenterhook_facts::{Facts, PathFact};

use super::glob::{NameGlobs, PathGlobs};
use crate::state::SessionState;

/// What was found, or which condition failed.
pub(super) type Check = Result<Matched, String>;

/// Whether the caller wants to know which condition failed. Putting it in words for every condition of
/// every rule costs more than the evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Explain {
    Reason,
    Nothing,
}

/// How much of a call has to satisfy a condition. One command of a line is enough to deny it; to allow the line,
/// all of them have to be known and allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchMode {
    /// Some one thing satisfies them, or may.
    Any,
    /// Everything there is satisfies them, for certain.
    All,
}

/// All conditions hold.
#[derive(Debug)]
pub(crate) struct Matched {
    /// By what.
    pub(crate) why: String,
    /// Whether they do for certain.
    pub(crate) certain: bool,
    /// Where they do not, what would have to be true.
    pub(crate) doubt: &'static str,
}

/// An unknown word may turn out to be an option.
pub(super) const OPEN_OPTION: &str = "an unknown word is an option";
/// A pattern may stand for a guarded path.
pub(super) const OPEN_PATTERN: &str = "the pattern matches it";

/// The joined name of an MCP tool may be that of another server.
pub(super) const OPEN_NAME: &str = "the name is read that way";

/// What conditions are checked on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MatchInput<'a> {
    pub(crate) event: &'a Event,
    pub(crate) facts: &'a Facts,
    pub(crate) state: &'a SessionState,
    /// Whether the rule is locked: no setting of the user turns it off, so it must not deny by mistake.
    pub(crate) locked: bool,
}

// === impl Explain ===

impl Explain {
    pub(super) fn with(self, why: impl FnOnce() -> String) -> String {
        if self == Self::Reason { why() } else { String::new() }
    }
}

// === impl MatchMode ===

impl MatchMode {
    /// The mode in which exceptions to a condition are checked.
    pub(super) fn other(self) -> Self {
        match self {
            Self::Any => Self::All,
            Self::All => Self::Any,
        }
    }

    /// The first that fits, if there are enough that do: one, or all.
    pub(super) fn pick<T>(self, mut items: impl Iterator<Item = T>, fits: impl Fn(&T) -> bool) -> Option<T> {
        match self {
            Self::Any => items.find(fits),
            Self::All => {
                let first = items.next()?;
                (fits(&first) && items.all(|item| fits(&item))).then_some(first)
            }
        }
    }

    /// Whether a path counts by itself: a rule that allows a place does not have to name it twice.
    pub(super) fn looks_at(self, path: &PathFact) -> bool {
        self == Self::Any || !path.again
    }

    /// The glob a path matches.
    pub(super) fn glob<'a>(self, globs: &'a PathGlobs, path: &PathFact) -> Option<&'a str> {
        match self {
            Self::Any => globs.matching(path),
            Self::All => globs.surely(path),
        }
    }

    /// The path that matches and its glob, in words.
    pub(super) fn path<'a>(
        self,
        globs: &PathGlobs,
        paths: impl Iterator<Item = &'a PathFact>,
    ) -> Option<String> {
        let paths = paths.filter(|path| self.looks_at(path));
        let path = self.pick(paths, |path| self.glob(globs, path).is_some())?;
        self.glob(globs, path).map(|glob| format!("`{}` (`{glob}`)", path.text))
    }
}

// === impl Matched ===

impl Matched {
    pub(super) fn certainly(why: String) -> Self {
        Self { why, certain: true, doubt: OPEN_OPTION }
    }
}

/// Whether one of these names is given, where names are asked for.
pub(super) fn one_of<'a>(
    names: Option<&NameGlobs>,
    given: impl IntoIterator<Item = &'a str>,
    what: &str,
    explain: Explain,
) -> Result<(), String> {
    match names {
        Some(names) if !given.into_iter().any(|name| names.matches(name)) => {
            let is = if what.starts_with("no ") { "is" } else { "is not" };
            Err(explain.with(|| format!("{what} {is} one of {}", names.list())))
        }
        _ => Ok(()),
    }
}
