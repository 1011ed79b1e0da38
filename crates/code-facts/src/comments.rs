// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Skips whitespace, comments, and text outside the tags around embedded code.

use super::language::lexical::starts_with;
use super::lex::Lexer;
use super::quote;

impl Lexer<'_> {
    /// Skips whitespace and comments; returns false if there are none.
    pub(super) fn blank(&mut self) -> bool {
        let from = self.at;
        loop {
            match self.byte(0) {
                b' ' | b'\t' | b'\r' | 0x0c => self.at += 1,
                b'\\' if self.byte(1) == b'\n' => self.at += 2,
                b'\\' if self.byte(1) == b'\r' && self.byte(2) == b'\n' => self.at += 3,
                // The `#!` line.
                b'#' if self.at == 0 => self.skip_line(),
                byte if byte.is_ascii_punctuation() && self.skip_comment() => {}
                _ => break,
            }
        }
        self.at > from
    }

    /// Skips a comment, or text outside the code, if one begins here.
    fn skip_comment(&mut self) -> bool {
        let rest = self.rest();
        let rules = self.rules;
        for comment in &rules.block_comments {
            if starts_with(rest, comment.open) && (!comment.at_line_start || self.begins_line(comment.open)) {
                self.skip_past(comment.close);
                return true;
            }
        }
        if let Some(sign) = rules.line_comments.iter().find(|sign| starts_with(rest, sign)) {
            if rules.not_comments.iter().any(|sign| starts_with(rest, sign)) {
                return false;
            }
            self.skip_line_comment(sign.len());
            return true;
        }
        if rules.code_tags.as_ref().is_some_and(|tags| starts_with(rest, tags.close)) {
            self.skip_to_code();
            return true;
        }
        false
    }

    /// Whether this is the start of a line, and `open` ends with or is followed by a letter.
    fn begins_line(&self, open: &str) -> bool {
        let line_start = self.at == 0 || self.text.as_bytes().get(self.at - 1) == Some(&b'\n');
        line_start
            && (open.ends_with(|c: char| c.is_ascii_alphabetic())
                || self.byte(open.len()).is_ascii_alphabetic())
    }

    fn skip_line(&mut self) {
        self.at = self.rest().find('\n').map_or(self.text.len(), |end| self.at + end);
    }

    fn skip_past(&mut self, end: &str) {
        self.at = self.rest().find(end).map_or(self.text.len(), |found| self.at + found + end.len());
    }

    fn skip_line_comment(&mut self, sign: usize) {
        self.at += sign;
        match quote::long_bracket(self.rest()).filter(|_| self.rules.long_brackets) {
            Some(level) => self.skip_past(&format!("]{}]", "=".repeat(level))),
            None => self.skip_line(),
        }
    }

    /// Skips text outside the code, and the tag that begins the code.
    pub(super) fn skip_to_code(&mut self) {
        let Some(tags) = &self.rules.code_tags else { return };
        self.skip_past(tags.open);
        for name in &tags.names {
            if self.rest().starts_with(name) {
                self.at += name.len();
                break;
            }
        }
    }
}
