// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads characters, blanks and comments.

use crate::MAX_NESTING;

/// Reads a script from front to back. A position is never read more than a few times.
pub(crate) struct ScriptParser<'a> {
    text: &'a str,
    /// Position of the next character, in bytes.
    pub(crate) at: usize,
    depth: usize,
}

impl<'a> ScriptParser<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// Returns the text that is not read yet.
    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns a part of the text.
    pub(crate) fn text_between(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the character after the next one.
    pub(crate) fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub(crate) fn next_char(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    /// Skips this text if it comes next.
    pub(crate) fn skip_text(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Reads characters while a condition holds.
    pub(crate) fn take_while(&mut self, mut holds: impl FnMut(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !holds(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// Skips spaces, line continuations and block comments, but not line ends.
    pub(crate) fn skip_spaces(&mut self) {
        loop {
            self.take_while(|c| c.is_whitespace() && !is_line_end(c));
            if self.rest().starts_with("`\n") || self.rest().starts_with("`\r") {
                self.at += 1;
                self.take_while(is_line_end);
            } else if self.rest().starts_with("<#") {
                let end = self.rest().find("#>").map_or(self.rest().len(), |end| end + 2);
                self.at += end;
            } else {
                return;
            }
        }
    }

    /// Skips spaces, line ends and comments.
    pub(crate) fn skip_blanks(&mut self) {
        loop {
            self.skip_spaces();
            match self.peek() {
                Some(letter) if is_line_end(letter) => _ = self.next_char(),
                Some('#') => self.skip_line(),
                _ => return,
            }
        }
    }

    pub(crate) fn skip_line(&mut self) {
        self.take_while(|c| !is_line_end(c));
    }

    /// Enters a nesting level; returns false if the limit is reached.
    pub(crate) fn enter(&mut self) -> bool {
        let may_enter = self.depth < MAX_NESTING;
        self.depth += usize::from(may_enter);
        may_enter
    }

    pub(crate) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Reads the rest of the text, because it is nested too deeply.
    pub(crate) fn take_rest(&mut self) -> String {
        let rest = self.rest();
        self.at = self.text.len();
        rest.to_owned()
    }
}

pub(crate) fn is_line_end(letter: char) -> bool {
    matches!(letter, '\n' | '\r')
}

/// Whether a character starts a parameter. PowerShell accepts typographic dashes too.
pub(crate) fn is_dash(letter: char) -> bool {
    matches!(letter, '-' | '\u{2013}' | '\u{2014}' | '\u{2015}')
}

pub(crate) fn is_single_quote(letter: char) -> bool {
    matches!(letter, '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}')
}

pub(crate) fn is_double_quote(letter: char) -> bool {
    matches!(letter, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}')
}

/// Whether a character belongs to the name of a variable, keyword or member.
pub(crate) fn is_name_char(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
