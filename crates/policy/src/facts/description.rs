// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The descriptions of programs, applied to the words of a command.

use std::sync::LazyLock;

use tenterhook_programs::{CommandWord, Parsed, Program, Programs, WordPart};

use super::Word;

static BUILTIN: LazyLock<Programs> = LazyLock::new(Programs::builtin);

/// The description of a program; `None` if there is none.
pub(super) fn describe(program: &str) -> Option<Program<'static>> {
    BUILTIN.find(program)
}

/// The words of a command, read by the description of the program.
pub(super) fn parse<'w>(program: &str, words: &'w [Word]) -> Option<Parsed<'w, 'static>> {
    describe(program).map(|described| described.parse(words))
}

/// The names of every described program, in order.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    BUILTIN.names()
}

/// The word, or the part of one, that an option or operand is.
pub(super) fn word_of(words: &[Word], part: WordPart<'_>) -> Word {
    let Some(word) = words.get(part.word) else { return Word::default() };
    if part.offset == 0 { word.clone() } else { word.tail(part.offset) }
}

impl CommandWord for Word {
    fn text(&self) -> &str {
        &self.text
    }

    fn certain_text(&self) -> &str {
        if !self.dynamic {
            return &self.text;
        }
        let same = self.text.bytes().zip(self.shape.bytes()).take_while(|(one, other)| one == other);
        self.text.get(..same.count()).unwrap_or_default()
    }

    fn may_be_option(&self) -> bool {
        self.opens
    }
}

#[cfg(test)]
mod tests;
