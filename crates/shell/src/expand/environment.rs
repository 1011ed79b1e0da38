// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What is known when a word is expanded.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::{CommandSubstitution, Dialect};

/// What is known about a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variable<'e> {
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
    /// Nothing is known.
    Unknown,
}

/// Answers the questions of an expansion.
pub trait Environment {
    /// The shell that expands.
    fn dialect(&self) -> Dialect {
        Dialect::Bash
    }

    /// A variable, by its name.
    fn variable(&self, name: &str) -> Variable<'_>;

    /// The positional parameters from `$1` on; `None` if they are unknown.
    fn arguments(&self) -> Option<&[String]> {
        None
    }

    /// The directory that `~user` stands for; `user` is empty for the own home directory.
    fn home(&self, _user: &str) -> Option<Cow<'_, str>> {
        None
    }

    /// The output of a command substitution, if it is known without running it.
    fn output(&self, _substitution: &CommandSubstitution) -> Option<String> {
        None
    }
}

/// An environment made of a table of variables.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    /// The shell that expands.
    pub dialect: Dialect,
    /// The variables. Names that are missing are unset if [`closed`](Self::closed), unknown otherwise.
    pub values: BTreeMap<String, Variable<'static>>,
    /// Whether there are no other variables, apart from those that the shell sets itself.
    pub closed: bool,
    /// The positional parameters.
    pub arguments: Option<Vec<String>>,
    /// The own home directory.
    pub home: Option<String>,
}

impl Variables {
    /// Sets a variable to a value.
    pub fn set(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), Variable::Value(Cow::Owned(value.to_owned())));
    }
}

impl Environment for Variables {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn variable(&self, name: &str) -> Variable<'_> {
        match self.values.get(name) {
            Some(Variable::Unset) => Variable::Unset,
            Some(Variable::Value(value)) => Variable::Value(Cow::Borrowed(value)),
            Some(Variable::Array(all)) => Variable::Array(Cow::Borrowed(all)),
            Some(Variable::Keyed(all)) => Variable::Keyed(Cow::Borrowed(all)),
            Some(Variable::OneOf(all)) => Variable::OneOf(Cow::Borrowed(all)),
            None if self.closed && !is_set_by_shell(name) => Variable::Unset,
            Some(Variable::Unknown) | None => Variable::Unknown,
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
