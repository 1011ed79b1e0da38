// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `case` commands.

use super::keyword::{Keyword, ListEnds};
use super::word::WordRules;
use super::{ParseResult, ShellParser};
use crate::ast::{CaseCommand, CaseItem, CaseTerminator, Compound};

impl ShellParser<'_> {
    pub(super) fn parse_case_command(&mut self, end: usize) -> ParseResult<Compound> {
        self.pass_token(end);
        self.skip_blanks();
        let subject = self.parse_required_word(WordRules::SINGLE)?;
        self.skip_gap()?;
        let is_braced = self.is_zsh() && self.take_keyword(Keyword::OpenBrace);
        if !is_braced {
            self.expect_keyword(Keyword::In, "`case`")?;
        }
        let closer = if is_braced { Keyword::CloseBrace } else { Keyword::Esac };
        let ends = if is_braced { ListEnds::ESAC.or(ListEnds::BRACE) } else { ListEnds::ESAC };
        let mut items = Vec::new();
        loop {
            self.skip_gap()?;
            if self.take_keyword(closer) {
                return Ok(Compound::Case(CaseCommand { subject, items }));
            }
            if self.peek().is_none() {
                return Err(self.unclosed("`case`"));
            }
            items.push(self.parse_case_item(ends)?);
        }
    }

    fn parse_case_item(&mut self, ends: ListEnds) -> ParseResult<CaseItem> {
        self.count_node()?;
        if self.take(b'(') {
            self.skip_blanks();
        }
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            patterns.push(self.parse_required_word(WordRules::PATTERN)?);
            self.skip_blanks();
            if !self.take(b'|') {
                break;
            }
        }
        self.expect(b')', "`case`")?;
        let body = self.parse_script(ends)?;
        self.skip_blanks();
        let terminator = if self.take_pair(b';', b';') {
            if self.take(b'&') { CaseTerminator::Continue } else { CaseTerminator::Break }
        } else if self.take_pair(b';', b'&') {
            CaseTerminator::FallThrough
        } else if self.take_pair(b';', b'|') {
            CaseTerminator::Continue
        } else {
            CaseTerminator::Break
        };
        Ok(CaseItem { patterns, body, terminator })
    }
}
