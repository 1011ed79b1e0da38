// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Looks up program descriptions and applies them to the words of a command.

use std::sync::LazyLock;

use tenterhook_programs::{CommandWord, Program, Programs, WordSlice};

use super::ShellWord;

static BUILTIN: LazyLock<Programs> = LazyLock::new(Programs::builtin);

/// The description that was used to parse the words of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DescriptionSource {
    /// The built-in description of the program, or one that replaces it. Without either, the words are parsed by
    /// common conventions.
    #[default]
    Known,
    /// A description that a layer of the policy adds, by the index of the layer.
    Added(usize),
}

/// Returns the built-in descriptions, for callers without a policy.
pub fn builtin_programs() -> &'static Programs {
    &BUILTIN
}

/// Returns the built-in description of a program.
pub(super) fn describe(program: &str) -> Option<Program<'static>> {
    BUILTIN.find(program)
}

/// Returns the description that was used to parse a command of this program.
pub fn find_description<'p>(
    programs: &'p Programs,
    program: &str,
    source: DescriptionSource,
) -> Option<Program<'p>> {
    match source {
        DescriptionSource::Known => programs.find(program),
        DescriptionSource::Added(layer) => programs.find_addition(layer, program),
    }
}

/// Returns the names of all programs with a built-in description, in order.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    BUILTIN.names()
}

/// Returns the word of an option or operand, or the part of a word.
pub fn extract_word(words: &[ShellWord], part: WordSlice<'_>) -> ShellWord {
    let Some(word) = words.get(part.word) else { return ShellWord::default() };
    if part.offset == 0 { word.clone() } else { word.skip_bytes(part.offset) }
}

impl CommandWord for ShellWord {
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
        self.may_be_option
    }
}
