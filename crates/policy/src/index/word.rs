// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What an event has or has not, as a key.

use std::borrow::Cow;

use tenterhook_event::ToolClass;
use tenterhook_facts::Does;

use crate::conditions::glob::GlobBase;

/// Something that is in an event or is not.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Word<'a> {
    Program(&'a str),
    Begins(&'a str),
    /// A word behind a program.
    Argument(&'a str),
    /// A program together with a word behind it.
    ProgramArgument(&'a str, &'a str),
    /// A program that gets what another prints.
    Fed(&'a str),
    Act(&'a str),
    Tool(&'a str),
    Class(ToolClass),
    Does(Does),
    Server(&'a str),
    Package(&'a str),
    SomeCommand,
    SomeVariable,
    SomeEffect,
    SomeUrl,
    SomeMcp,
    SomePackage,
    SomeSecret,
}

impl<'a> Word<'a> {
    pub(super) fn key(self) -> String {
        let (tag, text) = self.parts();
        tagged(tag, &text)
    }

    /// First letter and rest of the key.
    pub(super) fn parts(self) -> (char, Cow<'a, str>) {
        let (tag, text): (char, &'a str) = match self {
            Self::Program(name) => ('p', name),
            Self::Begins(name) => (PROGRAM_START_TAG, name),
            Self::Argument(word) => ('w', word),
            Self::ProgramArgument(program, word) => {
                return (PROGRAM_ARGUMENT_TAG, Cow::Owned([program, PROGRAM_END, word].concat()));
            }
            Self::Fed(name) => ('f', name),
            Self::Act(name) => ('a', name),
            Self::Tool(name) => ('t', name),
            Self::Class(class) => ('c', class.name()),
            Self::Does(does) => return ('d', Cow::Owned(format!("{does:?}"))),
            Self::Server(name) => ('s', name),
            Self::Package(name) => ('k', name),
            Self::SomeCommand => ('*', "command"),
            Self::SomeVariable => ('*', "variable"),
            Self::SomeEffect => ('*', "effect"),
            Self::SomeUrl => ('*', "url"),
            Self::SomeMcp => ('*', "mcp"),
            Self::SomePackage => ('*', "package"),
            Self::SomeSecret => ('*', "secret"),
        };
        (tag, Cow::Borrowed(text))
    }
}

/// What the keys of starts begin with.
pub(super) const PATH_START_TAGS: [char; 4] = ['R', 'H', 'P', 'A'];
/// What the keys of beginnings of programs begin with.
pub(super) const PROGRAM_START_TAG: char = 'q';
/// What the keys of programs with a word behind them begin with, and what ends the program in them.
pub(super) const PROGRAM_ARGUMENT_TAG: char = 'x';
pub(super) const PROGRAM_END: &str = "\n";
pub(super) const NAME_TAG: char = 'n';
pub(super) const HOST_TAG: char = 'h';

pub(super) fn tagged(tag: char, text: &str) -> String {
    let mut key = String::with_capacity(text.len() + 1);
    key.push(tag);
    key.push_str(text);
    key
}

/// Where the globs of a path begin, by their first directories.
pub(super) fn start_key(from: GlobBase, start: &str) -> String {
    tagged(start_tag(from), start)
}

/// First letter of such a key.
pub(super) fn start_tag(from: GlobBase) -> char {
    match from {
        GlobBase::Root => 'R',
        GlobBase::Home => 'H',
        GlobBase::Project => 'P',
        GlobBase::Anywhere => 'A',
    }
}
