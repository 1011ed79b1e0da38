// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses redirections and their descriptors.

use super::scan::{is_name_byte, is_name_start};
use super::word::WordRules;
use super::{ParseResult, ShellParser};
use crate::ast::{Descriptor, Redirect, RedirectOperator, RedirectTarget};

impl ShellParser<'_> {
    /// Parses a redirection with its descriptor, if there is one.
    pub(super) fn parse_redirect(&mut self) -> ParseResult<Option<Redirect>> {
        let start = self.at;
        let Some((descriptor, at)) = self.parse_descriptor() else { return Ok(None) };
        // `<(…)` is a word.
        if self.is_extended() && descriptor.is_none() && self.byte(at + 1) == Some(b'(') {
            return Ok(None);
        }
        self.at = at;
        let Some(operator) = self.parse_redirect_operator() else {
            self.at = start;
            return Ok(None);
        };
        if self.is_zsh() && operator == RedirectOperator::Read && self.at_numeric_range() {
            self.at = start;
            return Ok(None);
        }
        self.count_node()?;
        self.skip_blanks();
        let target = match operator {
            RedirectOperator::HereDocument | RedirectOperator::HereDocumentWithoutTabs => {
                let strips = operator == RedirectOperator::HereDocumentWithoutTabs;
                RedirectTarget::HereDocument(self.parse_here_document(strips)?)
            }
            RedirectOperator::HereString => {
                RedirectTarget::Word(self.parse_required_word(WordRules::SINGLE)?)
            }
            _ => RedirectTarget::Word(self.parse_required_word(WordRules::ARGUMENT)?),
        };
        self.token_end = self.at;
        Ok(Some(Redirect { descriptor, operator, target, span: self.span(start, self.at) }))
    }

    /// Returns the descriptor at this position and the offset after it; `None` if there is no redirection.
    fn parse_descriptor(&self) -> Option<(Option<Descriptor>, usize)> {
        let start = self.at;
        match self.peek()? {
            b'<' | b'>' | b'&' => Some((None, start)),
            b'{' if self.is_extended() && self.byte(start + 1).is_some_and(is_name_start) => {
                let end = start + 1 + self.count_while(start + 1, is_name_byte);
                let opens = self.byte(end) == Some(b'}') && matches!(self.byte(end + 1), Some(b'<' | b'>'));
                let name = self.slice(start + 1, end);
                opens.then(|| (Some(Descriptor::Variable(name.into())), end + 1))
            }
            b'0'..=b'9' => {
                let end = start + self.count_while(start, |byte| byte.is_ascii_digit());
                let after = self.skip_joined(end);
                if !matches!(self.byte(after), Some(b'<' | b'>')) {
                    return None;
                }
                // A number that is too large is a word, not a descriptor.
                let number = self.slice(start, end).parse().ok()?;
                Some((Some(Descriptor::Number(number)), after))
            }
            _ => None,
        }
    }

    fn parse_redirect_operator(&mut self) -> Option<RedirectOperator> {
        let extended = self.is_extended();
        let pair = (self.peek()?, self.peek_next().unwrap_or_default());
        let operator = match pair {
            (b'&', b'>') if extended => RedirectOperator::WriteBoth,
            (b'>', b'>') => RedirectOperator::Append,
            (b'>', b'&') => RedirectOperator::DuplicateOutput,
            (b'>', b'|') => RedirectOperator::Overwrite,
            (b'>', b'!') if self.is_zsh() => RedirectOperator::Overwrite,
            (b'<', b'<') => RedirectOperator::HereDocument,
            (b'<', b'&') => RedirectOperator::DuplicateInput,
            (b'<', b'>') => RedirectOperator::ReadWrite,
            (b'<', _) => RedirectOperator::Read,
            (b'>', _) => RedirectOperator::Write,
            _ => return None,
        };
        if matches!(operator, RedirectOperator::Read | RedirectOperator::Write) {
            self.at += 1;
            return Some(operator);
        }
        self.at = self.skip_joined(self.at + 1) + 1;
        let third = self.skip_joined(self.at);
        let longer = match (operator, self.byte(third)) {
            (RedirectOperator::WriteBoth, Some(b'>')) => RedirectOperator::AppendBoth,
            (RedirectOperator::HereDocument, Some(b'<')) if extended => RedirectOperator::HereString,
            (RedirectOperator::HereDocument, Some(b'-')) => RedirectOperator::HereDocumentWithoutTabs,
            // `>>|`, `>>!`, `&>|`, `>&|` of zsh
            (_, Some(b'|' | b'!')) if self.is_zsh() && operator.writes() => operator,
            _ => return Some(operator),
        };
        self.at = third + 1;
        Some(longer)
    }

    /// Whether a zsh numeric range such as `<1-9>` follows the `<`.
    fn at_numeric_range(&self) -> bool {
        let length = self.count_while(self.at, |byte| byte.is_ascii_digit() || byte == b'-');
        length > 0 && self.byte(self.at + length) == Some(b'>')
    }

    /// Parses all redirections at this position.
    pub(super) fn parse_redirects(&mut self) -> ParseResult<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.parse_redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }
}
