// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses the reserved words of the shell.

use super::scan::{ByteClass, class};
use super::{ParseResult, ShellParser};

/// A reserved word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    If,
    Then,
    Elif,
    Else,
    Fi,
    For,
    Select,
    While,
    Until,
    Do,
    Done,
    Case,
    Esac,
    In,
    Function,
    Time,
    Coproc,
    OpenBrace,
    CloseBrace,
    Bang,
    OpenTest,
    Repeat,
    Foreach,
    End,
}

/// Length of the longest reserved word.
const MAX_KEYWORD_BYTES: usize = 8;

/// The set of tokens that end a list of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListEnds(u16);

impl ListEnds {
    pub(super) const TEXT: Self = Self(0);
    pub(super) const THEN: Self = Self(1);
    pub(super) const FI: Self = Self(2);
    pub(super) const DO: Self = Self(4);
    pub(super) const DONE: Self = Self(8);
    pub(super) const ESAC: Self = Self(16);
    pub(super) const BRACE: Self = Self(32);
    pub(super) const PAREN: Self = Self(64);
    pub(super) const END: Self = Self(128);
    /// In zsh the body may directly follow a compound command: `if [[ a ]] { b }`.
    pub(super) const SHORT_BODY: Self = Self(256);

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn of(keyword: Keyword) -> Option<Self> {
        Some(match keyword {
            Keyword::Then => Self::THEN,
            Keyword::Elif | Keyword::Else | Keyword::Fi => Self::FI,
            Keyword::Do => Self::DO,
            Keyword::Done => Self::DONE,
            Keyword::Esac => Self::ESAC,
            Keyword::CloseBrace => Self::BRACE,
            Keyword::End => Self::END,
            _ => return None,
        })
    }
}

impl ShellParser<'_> {
    /// Returns the reserved word at this position and the offset after it.
    pub(super) fn peek_keyword(&self) -> Option<(Keyword, usize)> {
        if !matches!(self.peek()?, b'a'..=b'w' | b'{' | b'}' | b'!' | b'[') {
            return None;
        }
        let mut at = self.at;
        let mut joined = false;
        let mut letters = [0; MAX_KEYWORD_BYTES];
        let mut count = 0;
        loop {
            match self.byte(at) {
                Some(b'\\') if self.byte(at + 1) == Some(b'\n') => {
                    joined = true;
                    at += 2;
                    continue;
                }
                Some(byte) if class(byte) != ByteClass::Ends => {
                    *letters.get_mut(count)? = byte;
                    count += 1;
                }
                _ => break,
            }
            at += 1;
        }
        let word = if joined { letters.get(..count)? } else { self.bytes.get(self.at..at)? };
        let keyword = match word {
            b"if" => Keyword::If,
            b"then" => Keyword::Then,
            b"elif" => Keyword::Elif,
            b"else" => Keyword::Else,
            b"fi" => Keyword::Fi,
            b"for" => Keyword::For,
            b"while" => Keyword::While,
            b"until" => Keyword::Until,
            b"do" => Keyword::Do,
            b"done" => Keyword::Done,
            b"case" => Keyword::Case,
            b"esac" => Keyword::Esac,
            b"in" => Keyword::In,
            b"{" => Keyword::OpenBrace,
            b"}" => Keyword::CloseBrace,
            b"!" => Keyword::Bang,
            b"select" if self.is_extended() => Keyword::Select,
            b"function" if self.is_extended() => Keyword::Function,
            b"time" if self.is_extended() && !self.is_program_option(at) => Keyword::Time,
            b"coproc" if self.is_extended() => Keyword::Coproc,
            b"[[" if self.is_extended() => Keyword::OpenTest,
            b"repeat" if self.is_zsh() => Keyword::Repeat,
            b"foreach" if self.is_zsh() => Keyword::Foreach,
            b"end" if self.is_zsh() => Keyword::End,
            _ => return None,
        };
        Some((keyword, at))
    }

    /// Whether an option other than `-p` follows `time`, as in `time -f %e make`. Then `time` is a program. Shells
    /// without the reserved word run the program, and so does bash in POSIX mode.
    fn is_program_option(&self, end: usize) -> bool {
        let mut at = end;
        while matches!(self.byte(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        let is_of_keyword = matches!(self.byte(at + 1), Some(b'p' | b'-'))
            && self.byte(at + 2).is_none_or(|byte| byte.is_ascii_whitespace());
        at > end && self.byte(at) == Some(b'-') && !is_of_keyword
    }

    /// Consumes this reserved word, if it is next.
    pub(super) fn take_keyword(&mut self, wanted: Keyword) -> bool {
        match self.peek_keyword() {
            Some((keyword, end)) if keyword == wanted => {
                self.pass_token(end);
                true
            }
            _ => false,
        }
    }

    /// Consumes the reserved word that closes `what`.
    pub(super) fn expect_keyword(&mut self, wanted: Keyword, what: &'static str) -> ParseResult {
        if self.take_keyword(wanted) {
            Ok(())
        } else if self.peek().is_none() {
            Err(self.unclosed(what))
        } else {
            Err(self.unexpected("token"))
        }
    }

    pub(super) fn pass_token(&mut self, end: usize) {
        self.at = end;
        self.token_end = end;
    }

    /// Whether a list ends here. A reserved word that ends a different kind of list is an error.
    pub(super) fn ends_list(&self, ends: ListEnds) -> ParseResult<bool> {
        match self.peek() {
            None => return Ok(true),
            Some(b')') if ends.has(ListEnds::PAREN) => return Ok(true),
            Some(b')') => return Err(self.unexpected("`)`")),
            Some(b';') if ends.has(ListEnds::ESAC) && self.at_case_terminator() => return Ok(true),
            _ => {}
        }
        match self.peek_keyword().and_then(|(keyword, _)| ListEnds::of(keyword)) {
            None => Ok(false),
            Some(end) if ends.has(end) => Ok(true),
            Some(_) => Err(self.unexpected("reserved word")),
        }
    }

    /// Whether `;;`, `;&` or `;|` is next.
    pub(super) fn at_case_terminator(&self) -> bool {
        self.peek() == Some(b';')
            && match self.peek_next() {
                Some(b';' | b'&') => true,
                Some(b'|') => self.is_zsh(),
                _ => false,
            }
    }
}
