// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `case`

use super::keyword::{Ends, Keyword};
use super::word::WordRules;
use super::{Outcome, Parser};
use crate::ast::{CaseCommand, CaseItem, CaseTerminator, Compound};

impl Parser<'_> {
    pub(super) fn case_command(&mut self, end: usize) -> Outcome<Compound> {
        self.pass_token(end);
        self.blanks();
        let subject = self.required_word(WordRules::SINGLE)?;
        self.gap()?;
        let is_braced = self.is_zsh() && self.take_keyword(Keyword::OpenBrace);
        if !is_braced {
            self.close(Keyword::In, "`case`")?;
        }
        let closer = if is_braced { Keyword::CloseBrace } else { Keyword::Esac };
        let ends = if is_braced { Ends::ESAC.or(Ends::BRACE) } else { Ends::ESAC };
        let mut items = Vec::new();
        loop {
            self.gap()?;
            if self.take_keyword(closer) {
                return Ok(Compound::Case(CaseCommand { subject, items }));
            }
            if self.peek().is_none() {
                return Err(self.unclosed("`case`"));
            }
            items.push(self.case_item(ends)?);
        }
    }

    fn case_item(&mut self, ends: Ends) -> Outcome<CaseItem> {
        self.node()?;
        if self.take(b'(') {
            self.blanks();
        }
        let mut patterns = Vec::new();
        loop {
            self.blanks();
            patterns.push(self.required_word(WordRules::PATTERN)?);
            self.blanks();
            if !self.take(b'|') {
                break;
            }
        }
        self.expect(b')', "`case`")?;
        let body = self.script(ends)?;
        self.blanks();
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
