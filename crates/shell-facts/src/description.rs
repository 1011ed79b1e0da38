// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The descriptions of programs, applied to the words of a command.

use std::sync::LazyLock;

use tenterhook_programs::{CommandWord, Program, Programs, WordPart};

use super::Word;

static BUILTIN: LazyLock<Programs> = LazyLock::new(Programs::builtin);

/// The description by which the words of a command were read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DescriptionSource {
    /// What is known of the program: the built-in description, or one that replaces it. A program without
    /// either is read by custom.
    #[default]
    Known,
    /// A description that a layer of the policy adds.
    Added(usize),
}

/// The descriptions where no policy adds any.
pub fn builtin_programs() -> &'static Programs {
    &BUILTIN
}

/// The built-in description of a program; `None` if there is none.
pub(super) fn describe(program: &str) -> Option<Program<'static>> {
    BUILTIN.find(program)
}

/// The description of a program by which a command was read.
pub fn describe_as<'p>(
    programs: &'p Programs,
    program: &str,
    source: DescriptionSource,
) -> Option<Program<'p>> {
    match source {
        DescriptionSource::Known => programs.find(program),
        DescriptionSource::Added(layer) => programs.find_addition(layer, program),
    }
}

/// The names of every program that has a built-in description, in order.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    BUILTIN.names()
}

/// The word, or the part of one, that an option or operand is.
pub fn word_of(words: &[Word], part: WordPart<'_>) -> Word {
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
