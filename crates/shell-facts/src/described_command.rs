// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A command of a described program. Its words are read once, for every fact that depends on them.

use tenterhook_programs::{Location, Parsed, Program, Role, WordPart};

use super::Word;
use super::description::word_of;
use super::effect::within;

/// The words of a command and what they mean to its program.
pub(super) struct DescribedCommand<'a> {
    pub(super) program: Program<'a>,
    /// The words behind the program.
    pub(super) words: &'a [Word],
    pub(super) parsed: Parsed<'a, 'a>,
}

impl<'a> DescribedCommand<'a> {
    /// Reads the words behind a program.
    pub(super) fn new(program: Program<'a>, words: &'a [Word]) -> Self {
        let parsed = program.parse(words);
        Self { program, words, parsed }
    }

    /// Whether an option with this role is given, or the program always acts as if it were.
    pub(super) fn has(&self, role: Role) -> bool {
        self.parsed.has_role(role)
    }

    /// Whether an option with this role is given that takes no value.
    pub(super) fn has_flag(&self, role: Role) -> bool {
        let mut options = self.parsed.options.iter();
        options.any(|option| option.role == role && option.value.is_none() && !option.off)
    }

    /// The word, or the part of one, that an option or operand is.
    pub(super) fn word(&self, part: WordPart<'_>) -> Word {
        word_of(self.words, part)
    }

    /// The values of options with this role.
    pub(super) fn values(&self, role: Role) -> impl DoubleEndedIterator<Item = (Word, bool)> {
        let options = self.parsed.options.iter().filter(move |option| option.role == role && !option.off);
        options.filter_map(|option| option.value).map(|part| (self.word(part), part.offset > 0))
    }

    /// The operands with this role.
    pub(super) fn operands(&self, role: Role) -> impl DoubleEndedIterator<Item = Word> {
        let operands = self.parsed.operands.iter().filter(move |operand| operand.role == role);
        operands.map(|operand| self.word(operand.part))
    }

    /// The directory that the program has changed to when it reads a word, by its options before that.
    pub(super) fn directory_at(&self, word: usize) -> Option<Word> {
        let options = self.parsed.options.iter().take_while(|option| option.written.word < word);
        let values =
            options.filter(|option| option.role == Role::Directory).filter_map(|option| option.value);
        values.map(|part| self.word(part)).fold(None, |at, to| Some(within(at.as_ref(), &to)))
    }

    /// Whether the other side of a transfer is a machine, not a store or a container.
    pub(super) fn reaches_machines(&self) -> bool {
        self.parsed.location != Location::Container && !self.has(Role::Store)
    }
}
