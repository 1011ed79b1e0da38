// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The words of a command as the description of its program reads them.

use tenterhook_programs::{Location, Parsed, Program, Role, WordPart};

use super::super::{Word, description};
use super::{Does, Side, within};

/// Something a program does to a path it names.
#[derive(Debug, Clone)]
pub(crate) struct Touch {
    pub(crate) does: Does,
    pub(crate) path: Word,
    /// Whether everything below it, too.
    pub(crate) deep: bool,
    /// Whether it is only a part of a word (`of=~/x`): no shell has looked for a `~` in it.
    pub(crate) inner: bool,
    /// Where, if not where the program runs.
    pub(crate) on: Option<Side>,
}

/// The words of a command and what they mean.
pub(super) struct Given<'a> {
    pub(super) words: &'a [Word],
    pub(super) parsed: Parsed<'a, 'a>,
}

// === impl Touch ===

impl Touch {
    pub(crate) fn new(does: Does, path: &Word) -> Self {
        Self { does, path: path.clone(), deep: false, inner: false, on: None }
    }

    pub(crate) fn deep(self, deep: bool) -> Self {
        Self { deep, ..self }
    }

    pub(super) fn inner(self, inner: bool) -> Self {
        Self { inner, ..self }
    }
}

// === impl Given ===

impl<'a> Given<'a> {
    /// Reads the words of a program.
    pub(super) fn new(program: &Program<'a>, words: &'a [Word]) -> Self {
        Self { words, parsed: program.parse(words) }
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
        description::word_of(self.words, part)
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
