// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parts of the words of a command.

use crate::facts::Word;

/// A word, or the part of one that is a value.
#[derive(Debug, Clone, Copy)]
pub(in crate::facts) struct Piece<'a> {
    pub(in crate::facts) text: &'a str,
    /// With `*` for whatever is not known.
    pub(in crate::facts) shape: &'a str,
    pub(in crate::facts) dynamic: bool,
}

// === impl Piece ===

impl<'a> From<&'a Word> for Piece<'a> {
    fn from(word: &'a Word) -> Self {
        Self { text: &word.text, shape: &word.shape, dynamic: word.dynamic }
    }
}

impl Piece<'_> {
    /// What is left after so many bytes.
    pub(in crate::facts) fn after(self, bytes: usize) -> Self {
        let text = self.text.get(bytes..).unwrap_or_default();
        // Up to the first unknown part both are the same.
        let same = self.shape.get(..bytes) == self.text.get(..bytes);
        let shape = if same { self.shape.get(bytes..).unwrap_or_default() } else { "*" };
        Self { text, shape, dynamic: self.dynamic }
    }

    /// What follows the first `=`.
    pub(in crate::facts) fn value(self) -> Option<Self> {
        Some(self.after(self.text.find('=')? + 1))
    }
}
