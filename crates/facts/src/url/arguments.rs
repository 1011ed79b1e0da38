// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parts of the words of a command.

use tenterhook_shell_facts::Word;

/// A word, or the part of one that is a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    /// With `*` for whatever is not known.
    pub(super) shape: &'a str,
    pub(super) dynamic: bool,
}

// === impl Piece ===

impl<'a> From<&'a Word> for Piece<'a> {
    fn from(word: &'a Word) -> Self {
        Self { text: &word.text, shape: &word.shape, dynamic: word.dynamic }
    }
}

impl Piece<'_> {
    /// What is left after so many bytes.
    pub(super) fn after(self, bytes: usize) -> Self {
        let text = self.text.get(bytes..).unwrap_or_default();
        // Up to the first unknown part both are the same.
        let same = self.shape.get(..bytes) == self.text.get(..bytes);
        let shape = if same { self.shape.get(bytes..).unwrap_or_default() } else { "*" };
        Self { text, shape, dynamic: self.dynamic }
    }

    /// What follows the first `=`.
    pub(super) fn value(self) -> Option<Self> {
        Some(self.after(self.text.find('=')? + 1))
    }
}
