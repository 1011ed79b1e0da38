// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Provides known variables for the expansion of words.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::{CommandSubstitution, Dialect};

/// The known state of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellVariable<'e> {
    /// The variable is certainly not set.
    Unset,
    /// The variable has this value.
    Value(Cow<'e, str>),
    /// The variable is an array with these elements, numbered without gaps.
    Array(Cow<'e, [String]>),
    /// The variable is an associative array with these elements.
    Keyed(Cow<'e, BTreeMap<String, String>>),
    /// The variable has one of these values.
    OneOf(Cow<'e, [String]>),
    /// The value is unknown.
    Unknown,
}

/// Source of variables and other state for an expansion.
pub trait Environment {
    /// Returns the shell that expands the words.
    fn dialect(&self) -> Dialect {
        Dialect::Bash
    }

    /// Looks up a variable by name.
    fn variable(&self, name: &str) -> ShellVariable<'_>;

    /// Returns the positional parameters from `$1` on; `None` if they are unknown.
    fn arguments(&self) -> Option<&[String]> {
        None
    }

    /// Returns the home directory that `~user` names; `user` is empty for the current user.
    fn home(&self, _user: &str) -> Option<Cow<'_, str>> {
        None
    }

    /// Returns the output of a command substitution, if it is known without running it.
    fn output(&self, _substitution: &CommandSubstitution) -> Option<String> {
        None
    }
}

/// An environment backed by a table of variables.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    /// The shell that expands the words.
    pub dialect: Dialect,
    /// The variables. Missing names are unset if [`closed`](Self::closed), and unknown otherwise.
    pub values: BTreeMap<String, ShellVariable<'static>>,
    /// Whether the table is complete, apart from variables that the shell itself sets.
    pub closed: bool,
    /// The positional parameters.
    pub arguments: Option<Vec<String>>,
    /// Home directory of the current user.
    pub home: Option<String>,
}

impl Variables {
    /// Sets a variable to a value.
    pub fn set(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), ShellVariable::Value(Cow::Owned(value.to_owned())));
    }
}

impl Environment for Variables {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn variable(&self, name: &str) -> ShellVariable<'_> {
        match self.values.get(name) {
            Some(ShellVariable::Unset) => ShellVariable::Unset,
            Some(ShellVariable::Value(value)) => ShellVariable::Value(Cow::Borrowed(value)),
            Some(ShellVariable::Array(all)) => ShellVariable::Array(Cow::Borrowed(all)),
            Some(ShellVariable::Keyed(all)) => ShellVariable::Keyed(Cow::Borrowed(all)),
            Some(ShellVariable::OneOf(all)) => ShellVariable::OneOf(Cow::Borrowed(all)),
            None if self.closed && !is_set_by_shell(name) => ShellVariable::Unset,
            Some(ShellVariable::Unknown) | None => ShellVariable::Unknown,
        }
    }

    fn arguments(&self) -> Option<&[String]> {
        self.arguments.as_deref()
    }

    fn home(&self, user: &str) -> Option<Cow<'_, str>> {
        if user.is_empty() { self.home.as_deref().map(Cow::Borrowed) } else { None }
    }
}

/// Whether the shell itself may set a variable of this name.
fn is_set_by_shell(name: &str) -> bool {
    matches!(
        name,
        "?" | "$"
            | "!"
            | "-"
            | "_"
            | "0"
            | "IFS"
            | "PATH"
            | "PWD"
            | "OLDPWD"
            | "HOME"
            | "UID"
            | "EUID"
            | "PPID"
            | "SHLVL"
            | "RANDOM"
            | "SRANDOM"
            | "SECONDS"
            | "LINENO"
            | "HOSTNAME"
            | "HOSTTYPE"
            | "MACHTYPE"
            | "OSTYPE"
            | "OPTIND"
            | "OPTERR"
            | "OPTARG"
            | "PS4"
            | "TERM"
            | "SHELLOPTS"
            | "BASHOPTS"
            | "GROUPS"
            | "FUNCNAME"
            | "DIRSTACK"
            | "PIPESTATUS"
            | "REPLY"
            | "EPOCHSECONDS"
            | "EPOCHREALTIME"
            | "COMP_WORDBREAKS"
    ) || name.starts_with("BASH")
}
