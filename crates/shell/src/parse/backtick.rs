// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses backticks. The shell first finds the closing backtick, then removes one level of backslashes and parses the
//! commands. Their text is therefore parsed separately.

use super::{ParseResult, ShellParser};
use crate::ast::{CommandSubstitution, Script, WordPart};

impl ShellParser<'_> {
    /// Parses a command substitution in backticks.
    pub(super) fn parse_backticks(&mut self, in_double_quotes: bool) -> ParseResult<WordPart> {
        let start = self.at;
        let end = self.end_of_quote(start, b'`').ok_or_else(|| self.unclosed("backtick"))?;
        self.count_node()?;
        self.count_reread(end - start)?;
        let escapes = |byte: u8| matches!(byte, b'$' | b'`' | b'\\') || (in_double_quotes && byte == b'"');
        let text = self.slice(start + 1, end);
        let has_escapes = text.as_bytes().windows(2).any(|pair| match pair {
            [b'\\', next] => escapes(*next),
            _ => false,
        });
        let script = self.with_depth(|parser| {
            if has_escapes {
                return Ok(parser.parse_unescaped_script(text, start + 1, escapes));
            }
            parser.at = start + 1;
            Ok(parser.with_end(end, Self::parse_text))
        })?;
        self.at = end + 1;
        self.token_end = self.at;
        let span = self.span(start, self.at);
        Ok(WordPart::Command(Box::new(CommandSubstitution { script, is_backticks: true, span })))
    }

    /// Parses a copy of `text` without one level of backslashes. Spans still point into the original text.
    fn parse_unescaped_script(&mut self, text: &str, start: usize, escapes: impl Fn(u8) -> bool) -> Script {
        let mut copy = String::with_capacity(text.len());
        let mut origins = vec![(0, self.original(start))];
        let mut letters = text.char_indices().peekable();
        while let Some((_, letter)) = letters.next() {
            let next = letters.peek().copied();
            match next.filter(|(_, next)| letter == '\\' && next.is_ascii()) {
                Some((at, next)) if u8::try_from(next).is_ok_and(&escapes) => {
                    origins.push((copy.len(), self.original(start + at)));
                    copy.push(next);
                    letters.next();
                }
                _ => copy.push(letter),
            }
        }
        let mut inner = ShellParser::new(&copy, self.options);
        inner.origins = &origins;
        inner.depth = self.depth;
        inner.nodes = self.nodes;
        inner.rereads = self.rereads;
        let script = inner.parse_text();
        self.nodes = inner.nodes;
        self.rereads = inner.rereads;
        self.gave_up |= inner.gave_up;
        self.comments.append(&mut inner.comments);
        script
    }
}
