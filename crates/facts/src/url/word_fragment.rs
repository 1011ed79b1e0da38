// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Represents fragments of a command's words.

use tenterhook_shell_facts::ShellWord;

/// A word, or the part of it that is a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordFragment<'a> {
    pub(super) text: &'a str,
    /// The text with `*` for unknown parts.
    pub(super) shape: &'a str,
    pub(super) dynamic: bool,
}

// === impl WordFragment ===

impl<'a> From<&'a ShellWord> for WordFragment<'a> {
    fn from(word: &'a ShellWord) -> Self {
        Self { text: &word.text, shape: &word.shape, dynamic: word.dynamic }
    }
}

impl WordFragment<'_> {
    /// Returns the fragment without its first bytes.
    pub(super) fn skip_bytes(self, bytes: usize) -> Self {
        let text = self.text.get(bytes..).unwrap_or_default();
        // Up to the first unknown part, text and shape are equal.
        let same = self.shape.get(..bytes) == self.text.get(..bytes);
        let shape = if same { self.shape.get(bytes..).unwrap_or_default() } else { "*" };
        Self { text, shape, dynamic: self.dynamic }
    }

    /// Returns the part after the first `=`.
    pub(super) fn assigned_value(self) -> Option<Self> {
        Some(self.skip_bytes(self.text.find('=')? + 1))
    }
}
