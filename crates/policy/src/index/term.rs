// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines index terms: properties that an event has or lacks, encoded as keys.

use std::borrow::Cow;

use tenterhook_event::ToolClass;
use tenterhook_facts::FileOp;

use crate::conditions::glob::GlobBase;

/// A property that an event has or lacks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum IndexTerm<'a> {
    Program(&'a str),
    Begins(&'a str),
    /// A word after a program.
    Argument(&'a str),
    /// A program together with a word after it.
    ProgramArgument(&'a str, &'a str),
    /// A program that receives the output of another.
    Fed(&'a str),
    Act(&'a str),
    Tool(&'a str),
    Class(ToolClass),
    Does(FileOp),
    Server(&'a str),
    Package(&'a str),
    /// A path whose components are not all known.
    SomeOpenPath,
    SomeCommand,
    SomeVariable,
    SomeEffect,
    SomeUrl,
    SomeMcp,
    SomePackage,
    SomeSecret,
}

impl<'a> IndexTerm<'a> {
    pub(super) fn key(self) -> String {
        let (tag, text) = self.tag_and_text();
        tagged_key(tag, &text)
    }

    /// Returns the tag and text of the key.
    pub(super) fn tag_and_text(self) -> (char, Cow<'a, str>) {
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
            Self::SomeOpenPath => ('*', "open path"),
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

/// Tags of keys that are path prefixes.
pub(super) const PATH_START_TAGS: [char; 4] = ['R', 'H', 'P', 'A'];
/// Tag of keys that are prefixes of program names.
pub(super) const PROGRAM_START_TAG: char = 'q';
/// Tag of keys that consist of a program and a word after it, and the separator between them.
pub(super) const PROGRAM_ARGUMENT_TAG: char = 'x';
pub(super) const PROGRAM_END: &str = "\n";
/// Tag of keys that are the last component of a path, and of keys that it begins or ends with. The ends are stored
/// backwards, so that they are prefixes too.
pub(super) const NAME_TAG: char = 'n';
pub(super) const NAME_START_TAG: char = 'b';
pub(super) const NAME_END_TAG: char = 'e';
/// Tag of keys that are any component of a path.
pub(super) const COMPONENT_TAG: char = 'o';
/// Tags of keys that are components of a path, or parts of one.
pub(super) const COMPONENT_TAGS: [char; 4] = [NAME_TAG, NAME_START_TAG, NAME_END_TAG, COMPONENT_TAG];
pub(super) const HOST_TAG: char = 'h';

pub(super) fn tagged_key(tag: char, text: &str) -> String {
    let mut key = String::with_capacity(text.len() + 1);
    key.push(tag);
    key.push_str(text);
    key
}

/// Returns the key for a path prefix.
pub(super) fn path_start_key(from: GlobBase, start: &str) -> String {
    tagged_key(path_start_tag(from), start)
}

/// Returns the tag of a path prefix, which depends on what the glob is relative to.
pub(super) fn path_start_tag(from: GlobBase) -> char {
    match from {
        GlobBase::Root => 'R',
        GlobBase::Home => 'H',
        GlobBase::Project => 'P',
        GlobBase::Anywhere => 'A',
    }
}
