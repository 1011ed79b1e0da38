// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `${…}`

use super::keyword::{Ends, Keyword};
use super::scan::{is_name_byte, is_name_start};
use super::word::WordBuilder;
use super::{Outcome, Parser};
use crate::OneOrMany;
use crate::ast::{
    ArithmeticText, CaseChange, CommandSubstitution, DefaultAction, Parameter, ParameterOperator,
    ReplaceScope, TransformedParameter, Word, WordPart,
};

/// How the word after an operator is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OperandRules {
    /// Whether the expansion is in double quotes.
    quoted: bool,
    /// Whether the operand is a pattern: single quotes then quote, even in double quotes.
    pattern: bool,
    /// Whether `/` ends the operand.
    stops_at_slash: bool,
}

impl Parser<'_> {
    /// `${…}`; `open` is the offset of the brace.
    pub(super) fn braced_parameter(&mut self, start: usize, open: usize, quoted: bool) -> Outcome<WordPart> {
        self.deeper(|parser| {
            parser.at = open + 1;
            // `${ list; }` and `${| list; }` of bash 5.3 run commands; older ones refuse them.
            if matches!(parser.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) && parser.is_extended() {
                parser.at += 1;
                let script = parser.script(Ends::BRACE)?;
                parser.close(Keyword::CloseBrace, "`${`")?;
                let span = parser.span(start, parser.at);
                let command = CommandSubstitution { script, is_backticks: false, span };
                return Ok(WordPart::Command(Box::new(command)));
            }
            let parameter = parser.parameter_name(quoted)?;
            let operator = parser.parameter_operator(&parameter, quoted)?;
            if !parser.take(b'}') {
                return Err(parser.unclosed("`${`"));
            }
            let span = parser.span(start, parser.at);
            Ok(WordPart::Parameter(Box::new(Parameter { parameter, operator, braced: true, span })))
        })
    }

    /// Prefixes, name and subscript.
    fn parameter_name(&mut self, quoted: bool) -> Outcome<TransformedParameter> {
        let mut parameter = TransformedParameter::default();
        if self.is_zsh() {
            self.zsh_flags(&mut parameter)?;
        }
        let next = self.byte(self.at + 1);
        let names = next.is_some_and(|byte| is_name_byte(byte) || matches!(byte, b'@' | b'*'));
        let closes = self.byte(self.at + 2) == Some(b'}');
        let is_special = next.is_some_and(|byte| matches!(byte, b'?' | b'-' | b'$' | b'!' | b'#'));
        match self.peek() {
            Some(b'#') if names || (is_special && closes) || (self.is_zsh() && next == Some(b'$')) => {
                parameter.is_length = true;
                self.at += 1;
            }
            Some(b'!') if names || (next == Some(b'#') && closes) => {
                parameter.is_indirect = true;
                self.at += 1;
            }
            _ => {}
        }
        let start = self.at;
        match self.peek() {
            Some(byte) if is_name_start(byte) => self.at += self.count_while(start, is_name_byte),
            Some(byte) if byte.is_ascii_digit() => {
                self.at += self.count_while(start, |byte| byte.is_ascii_digit());
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
                if !(self.is_zsh() && matches!(self.byte(start + 1), Some(b'{' | b'('))) =>
            {
                self.at += 1;
            }
            Some(b'$' | b'"') if self.is_zsh() => {
                let mut builder = WordBuilder { parts: OneOrMany::default(), literal_start: start };
                let byte = self.peek().unwrap_or_default();
                if byte == b'"' {
                    self.quote_or_expansion(byte, &mut builder)?;
                } else {
                    self.dollar(&mut builder, quoted)?;
                }
                self.flush(&mut builder)?;
                let word = Word { parts: builder.parts, span: self.span(start, self.at) };
                parameter.nested = Some(Box::new(word));
                return self.parameter_subscript(parameter);
            }
            _ => {}
        }
        parameter.name = self.slice(start, self.at).into();
        self.parameter_subscript(parameter)
    }

    fn parameter_subscript(&mut self, mut parameter: TransformedParameter) -> Outcome<TransformedParameter> {
        let has_name = !parameter.name.is_empty() || parameter.nested.is_some();
        if self.peek() == Some(b'[') && has_name && self.is_extended() {
            let end = self.find_close(self.at + 1, b'[', b']')?.ok_or_else(|| self.unclosed("`[`"))?;
            self.at += 1;
            parameter.subscript = Some(self.subscript(end)?);
            self.at = end + 1;
        }
        Ok(parameter)
    }

    /// `${(f)…}`, `${=…}`, `${~…}`, `${^…}`, `${+…}`
    fn zsh_flags(&mut self, parameter: &mut TransformedParameter) -> Outcome {
        let start = self.at;
        if self.peek() == Some(b'(') {
            let end = self.find_close(self.at + 1, b'(', b')')?.ok_or_else(|| self.unclosed("flags"))?;
            self.at = end + 1;
        }
        self.at += self.count_while(self.at, |byte| matches!(byte, b'=' | b'~' | b'^' | b'+'));
        if self.at > start {
            parameter.zsh_flags = Some(self.slice(start, self.at).into());
        }
        Ok(())
    }

    fn parameter_operator(
        &mut self,
        parameter: &TransformedParameter,
        quoted: bool,
    ) -> Outcome<ParameterOperator> {
        let text = OperandRules { quoted, pattern: false, stops_at_slash: false };
        let pattern = OperandRules { quoted, pattern: true, stops_at_slash: false };
        let Some(byte) = self.peek() else { return Err(self.unclosed("`${`")) };
        let next = self.byte(self.at + 1);
        if parameter.name.is_empty() && parameter.nested.is_none() {
            return if byte == b'}' { Ok(ParameterOperator::None) } else { self.other_operator(text) };
        }
        if let Some((action, or_empty, length)) = default_action(byte, next) {
            self.at += length;
            let word = self.operand(text)?;
            return Ok(ParameterOperator::Default { action, or_empty, word });
        }
        let doubled = next == Some(byte);
        match byte {
            b'}' => Ok(ParameterOperator::None),
            b'#' | b'%' => {
                self.at += 1 + usize::from(doubled);
                let (longest, pattern) = (doubled, self.operand(pattern)?);
                Ok(if byte == b'#' {
                    ParameterOperator::RemovePrefix { longest, pattern }
                } else {
                    ParameterOperator::RemoveSuffix { longest, pattern }
                })
            }
            _ if !self.is_extended() => self.other_operator(text),
            b':' if self.is_zsh() && next.is_none_or(|next| !next.is_ascii_digit() && !b" $(-".contains(&next)) => {
                self.other_operator(text)
            }
            b':' => self.substring(),
            b'/' => self.replace(next, quoted),
            b'^' | b',' | b'~' => {
                self.at += 1 + usize::from(doubled);
                let change = match byte {
                    b'^' => CaseChange::Upper,
                    b',' => CaseChange::Lower,
                    _ => CaseChange::Toggle,
                };
                let pattern = self.operand(pattern)?;
                Ok(ParameterOperator::ChangeCase { change, all: doubled, pattern })
            }
            b'@' | b'*' if parameter.is_indirect && next == Some(b'}') => {
                self.at += 1;
                Ok(ParameterOperator::Names { joined: byte == b'*' })
            }
            b'@' if next.is_some_and(|next| next.is_ascii_alphabetic()) && self.byte(self.at + 2) == Some(b'}') => {
                self.at += 2;
                Ok(ParameterOperator::Transform(char::from(next.unwrap_or_default())))
            }
            _ => self.other_operator(text),
        }
    }

    fn other_operator(&mut self, rules: OperandRules) -> Outcome<ParameterOperator> {
        self.operand(rules).map(ParameterOperator::Other)
    }

    /// `/pattern/replacement`
    fn replace(&mut self, next: Option<u8>, quoted: bool) -> Outcome<ParameterOperator> {
        let scope = match next {
            Some(b'/') => ReplaceScope::All,
            Some(b'#') => ReplaceScope::Prefix,
            Some(b'%') => ReplaceScope::Suffix,
            _ => ReplaceScope::First,
        };
        self.at += 1 + usize::from(scope != ReplaceScope::First);
        let pattern = self.operand(OperandRules { quoted, pattern: true, stops_at_slash: true })?;
        let replacement = if self.take(b'/') {
            Some(self.operand(OperandRules { quoted, pattern: true, stops_at_slash: false })?)
        } else {
            None
        };
        Ok(ParameterOperator::Replace { scope, pattern, replacement })
    }

    /// The word after an operator, up to `}`.
    fn operand(&mut self, rules: OperandRules) -> Outcome<Word> {
        self.node()?;
        let start = self.at;
        let mut builder = WordBuilder { parts: OneOrMany::default(), literal_start: start };
        // In double quotes, single quotes are characters that nevertheless come in pairs.
        let mut in_single_quotes = false;
        loop {
            self.at += self.count_while(self.at, |byte| {
                !matches!(byte, b'}' | b'/' | b'\'' | b'"' | b'$' | b'`' | b'\\' | b'*' | b'?' | b'[' | b'~' | b'!')
            });
            let Some(byte) = self.peek() else { return Err(self.unclosed("`${`")) };
            match byte {
                b'\'' if rules.quoted && !rules.pattern => {
                    in_single_quotes = !in_single_quotes && self.end_of_quote(self.at, b'\'').is_some();
                    self.at += 1;
                }
                b'"' | b'}' | b'/' if in_single_quotes => self.at += 1,
                b'}' => break,
                b'/' if rules.stops_at_slash && self.at > start => break,
                b'/' => self.at += 1,
                b'*' | b'?' if rules.pattern || !rules.quoted => self.glob_character(byte, &mut builder)?,
                b'[' if rules.pattern => self.bracket(&mut builder)?,
                b'~' if self.at == start && !rules.quoted => self.operand_tilde(&mut builder)?,
                b'*' | b'?' | b'[' | b'~' => self.at += 1,
                b'!' => self.exclamation(&mut builder)?,
                b'\'' | b'"' => self.quote_or_expansion(byte, &mut builder)?,
                b'\\' if rules.quoted && !matches!(self.byte(self.at + 1), Some(b'}')) => {
                    self.inside_double_quotes(byte, &mut builder, b'"')?;
                }
                b'\\' => self.quote_or_expansion(byte, &mut builder)?,
                _ if rules.quoted => self.inside_double_quotes(byte, &mut builder, b'"')?,
                _ => self.quote_or_expansion(byte, &mut builder)?,
            }
        }
        self.flush(&mut builder)?;
        Ok(Word { parts: builder.parts, span: self.span(start, self.at) })
    }

    fn operand_tilde(&mut self, builder: &mut WordBuilder) -> Outcome {
        let start = self.at;
        let length = self.count_while(start + 1, |byte| is_name_byte(byte) || matches!(byte, b'-' | b'+' | b'.'));
        self.at += 1;
        if matches!(self.byte(start + 1 + length), Some(b'}' | b'/')) {
            self.at += length;
            let user = self.slice(start + 1, self.at).into();
            let tilde = crate::ast::Tilde { user, span: self.span(start, self.at) };
            self.push_part(builder, WordPart::Tilde(tilde))?;
        }
        Ok(())
    }

    /// `:offset:length`
    fn substring(&mut self) -> Outcome<ParameterOperator> {
        self.at += 1;
        let offset = self.substring_text()?;
        let length = if self.take(b':') { Some(self.substring_text()?) } else { None };
        Ok(ParameterOperator::Substring { offset, length })
    }

    /// An arithmetic expression up to `:` or `}`.
    fn substring_text(&mut self) -> Outcome<ArithmeticText> {
        self.node()?;
        let start = self.at;
        let mut builder = WordBuilder { parts: OneOrMany::default(), literal_start: start };
        let (mut parentheses, mut choices) = (0_u32, 0_u32);
        loop {
            match self.peek() {
                None => return Err(self.unclosed("`${`")),
                Some(b'}') => break,
                Some(b':') if parentheses == 0 && choices == 0 => break,
                Some(b':') => {
                    choices = choices.saturating_sub(1);
                    self.at += 1;
                }
                Some(b'?') => {
                    choices += 1;
                    self.at += 1;
                }
                Some(b'(') => {
                    parentheses += 1;
                    self.at += 1;
                }
                Some(b')') => {
                    parentheses = parentheses.saturating_sub(1);
                    self.at += 1;
                }
                Some(byte @ (b'\'' | b'"')) => self.quote_or_expansion(byte, &mut builder)?,
                Some(byte @ (b'$' | b'`' | b'\\')) => self.inside_double_quotes(byte, &mut builder, b'"')?,
                Some(_) => self.at += 1,
            }
        }
        self.flush(&mut builder)?;
        Ok(ArithmeticText { parts: builder.parts, span: self.span(start, self.at) })
    }
}

/// The action of `-`, `=`, `?`, `+`, whether `:` stands before it, and the length of both.
fn default_action(byte: u8, next: Option<u8>) -> Option<(DefaultAction, bool, usize)> {
    let or_empty = byte == b':';
    let sign = if or_empty { next? } else { byte };
    let action = match sign {
        b'-' => DefaultAction::Use,
        b'=' => DefaultAction::Assign,
        b'?' => DefaultAction::Fail,
        b'+' => DefaultAction::Alternative,
        _ => return None,
    };
    Some((action, or_empty, 1 + usize::from(or_empty)))
}
