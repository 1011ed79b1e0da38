// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The package managers, and how they are asked.

use super::From;
use super::name::Style;
use super::table::MANAGERS;
use crate::facts::known::known;

/// What a verb does with the names after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Installs every one.
    Installs,
    /// Fetches and runs the first.
    Runs,
    /// Runs `create-` and the first.
    Creates,
    /// Adds a place to install from, whatever it is called.
    Adds(From),
}

/// One way of asking.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verb {
    /// The words the command begins with; `|` between those that mean the same.
    pub(super) words: &'static [&'static str],
    /// One of these options is needed.
    pub(super) needs: &'static [&'static str],
    /// Operands that come first and are no package.
    pub(super) skips: usize,
    pub(super) kind: Kind,
}

/// One package manager.
#[derive(Debug)]
pub(super) struct Manager {
    pub(super) programs: &'static [&'static str],
    pub(super) called: &'static str,
    pub(super) style: Style,
    pub(super) verbs: &'static [Verb],
    /// Letters and names of options that take a value.
    pub(super) letters: &'static str,
    pub(super) values: &'static str,
    /// Options that name another registry.
    pub(super) indexes: &'static [&'static str],
    /// Options that name a repository.
    pub(super) gits: &'static [&'static str],
    /// Options that name a directory.
    pub(super) paths: &'static [&'static str],
    /// Options whose value is a package.
    pub(super) specs: &'static [&'static str],
    /// Options whose value is a file that says what to install, or a directory to install.
    pub(super) files: &'static [&'static str],
    /// Whether running a file of one's own is its daily work.
    pub(super) runs_files: bool,
}

/// The rows of a program.
pub(super) fn managers_of(program: &str) -> impl Iterator<Item = &'static Manager> {
    let managers = if known!(MANAGERS, programs).may_have(program) { MANAGERS } else { &[] };
    managers.iter().filter(move |manager| manager.programs.contains(&program))
}
