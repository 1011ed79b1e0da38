// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses parameter expansions `${…}`.

use super::keyword::{Keyword, ListEnds};
use super::operand::OperandRules;
use super::scan::{is_name_byte, is_name_start};
use super::word::WordBuilder;
use super::{ParseResult, ShellParser};
use crate::ast::{
    CaseChange, CommandSubstitution, DefaultAction, Parameter, ParameterOperator, ReplaceScope,
    TransformedParameter, Word, WordPart,
};

impl ShellParser<'_> {
    /// Parses `${…}`; `open` is the offset of the brace.
    pub(super) fn parse_braced_parameter(
        &mut self,
        start: usize,
        open: usize,
        quoted: bool,
    ) -> ParseResult<WordPart> {
        self.with_depth(|parser| {
            parser.at = open + 1;
            // `${ list; }` and `${| list; }` run commands since bash 5.3; older versions reject them.
            if matches!(parser.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) && parser.is_extended() {
                parser.at += 1;
                let script = parser.parse_script(ListEnds::BRACE)?;
                parser.expect_keyword(Keyword::CloseBrace, "`${`")?;
                let span = parser.span(start, parser.at);
                let command = CommandSubstitution { script, is_backticks: false, span };
                return Ok(WordPart::Command(Box::new(command)));
            }
            let parameter = parser.parse_parameter_name(quoted)?;
            let operator = parser.parse_parameter_operator(&parameter, quoted)?;
            if !parser.take(b'}') {
                return Err(parser.unclosed("`${`"));
            }
            let span = parser.span(start, parser.at);
            Ok(WordPart::Parameter(Box::new(Parameter { parameter, operator, braced: true, span })))
        })
    }

    /// Parses prefixes, name and subscript.
    fn parse_parameter_name(&mut self, quoted: bool) -> ParseResult<TransformedParameter> {
        let mut parameter = TransformedParameter::default();
        if self.is_zsh() {
            self.parse_zsh_flags(&mut parameter)?;
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
            Some(byte) if is_name_start(byte) => {
                let (name, end) = self.variable_name(start);
                parameter.name = name.into();
                self.at = self.skip_joined(end);
                return self.parse_parameter_subscript(parameter);
            }
            Some(byte) if byte.is_ascii_digit() => {
                self.at += self.count_while(start, |byte| byte.is_ascii_digit());
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
                if !(self.is_zsh() && matches!(self.byte(start + 1), Some(b'{' | b'('))) =>
            {
                self.at += 1;
            }
            Some(b'$' | b'"') if self.is_zsh() => {
                let mut builder = WordBuilder::new(start);
                let byte = self.peek().unwrap_or_default();
                if byte == b'"' {
                    self.parse_quote_or_expansion(byte, &mut builder)?;
                } else {
                    self.parse_dollar(&mut builder, quoted)?;
                }
                self.flush_literal(&mut builder)?;
                let word = Word { parts: builder.parts, span: self.span(start, self.at) };
                parameter.nested = Some(Box::new(word));
                return self.parse_parameter_subscript(parameter);
            }
            _ => {}
        }
        parameter.name = self.slice(start, self.at).into();
        self.parse_parameter_subscript(parameter)
    }

    fn parse_parameter_subscript(
        &mut self,
        mut parameter: TransformedParameter,
    ) -> ParseResult<TransformedParameter> {
        let has_name = !parameter.name.is_empty() || parameter.nested.is_some();
        if self.peek() == Some(b'[')
            && has_name
            && self.is_extended()
            && let Some(end) = self.find_subscript_close(self.at + 1)?
        {
            self.at += 1;
            parameter.subscript = Some(self.parse_subscript(end)?);
            self.at = end + 1;
        }
        Ok(parameter)
    }

    /// Parses `${(f)…}`, `${=…}`, `${~…}`, `${^…}` and `${+…}`.
    fn parse_zsh_flags(&mut self, parameter: &mut TransformedParameter) -> ParseResult {
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

    fn parse_parameter_operator(
        &mut self,
        parameter: &TransformedParameter,
        quoted: bool,
    ) -> ParseResult<ParameterOperator> {
        let text = OperandRules { quoted, pattern: false, stops_at_slash: false };
        let pattern = OperandRules { quoted, pattern: true, stops_at_slash: false };
        let Some(byte) = self.peek() else { return Err(self.unclosed("`${`")) };
        let next = self.byte(self.at + 1);
        if parameter.name.is_empty() && parameter.nested.is_none() {
            return if byte == b'}' { Ok(ParameterOperator::None) } else { self.parse_other_operator(text) };
        }
        if let Some((action, or_empty, length)) = default_action(byte, next) {
            self.at += length;
            let word = self.parse_operand(text)?;
            return Ok(ParameterOperator::Default { action, or_empty, word });
        }
        let doubled = next == Some(byte);
        match byte {
            b'}' => Ok(ParameterOperator::None),
            b'#' | b'%' => {
                self.at += 1 + usize::from(doubled);
                let (longest, pattern) = (doubled, self.parse_operand(pattern)?);
                Ok(if byte == b'#' {
                    ParameterOperator::RemovePrefix { longest, pattern }
                } else {
                    ParameterOperator::RemoveSuffix { longest, pattern }
                })
            }
            _ if !self.is_extended() => self.parse_other_operator(text),
            b':' if self.is_zsh()
                && next.is_none_or(|next| !next.is_ascii_digit() && !b" $(-".contains(&next)) =>
            {
                self.parse_other_operator(text)
            }
            b':' => self.parse_substring(),
            b'/' => self.parse_replace(next, quoted),
            b'^' | b',' | b'~' => {
                self.at += 1 + usize::from(doubled);
                let change = match byte {
                    b'^' => CaseChange::Upper,
                    b',' => CaseChange::Lower,
                    _ => CaseChange::Toggle,
                };
                let pattern = self.parse_operand(pattern)?;
                Ok(ParameterOperator::ChangeCase { change, all: doubled, pattern })
            }
            b'@' | b'*' if parameter.is_indirect && next == Some(b'}') => {
                self.at += 1;
                Ok(ParameterOperator::Names { joined: byte == b'*' })
            }
            b'@' if next.is_some_and(|next| next.is_ascii_alphabetic())
                && self.byte(self.at + 2) == Some(b'}') =>
            {
                self.at += 2;
                Ok(ParameterOperator::Transform(char::from(next.unwrap_or_default())))
            }
            _ => self.parse_other_operator(text),
        }
    }

    fn parse_other_operator(&mut self, rules: OperandRules) -> ParseResult<ParameterOperator> {
        self.parse_operand(rules).map(ParameterOperator::Other)
    }

    /// Parses `/pattern/replacement`.
    fn parse_replace(&mut self, next: Option<u8>, quoted: bool) -> ParseResult<ParameterOperator> {
        let scope = match next {
            Some(b'/') => ReplaceScope::All,
            Some(b'#') => ReplaceScope::Prefix,
            Some(b'%') => ReplaceScope::Suffix,
            _ => ReplaceScope::First,
        };
        self.at += 1 + usize::from(scope != ReplaceScope::First);
        let pattern = self.parse_operand(OperandRules { quoted, pattern: true, stops_at_slash: true })?;
        let replacement = if self.take(b'/') {
            Some(self.parse_operand(OperandRules { quoted, pattern: true, stops_at_slash: false })?)
        } else {
            None
        };
        Ok(ParameterOperator::Replace { scope, pattern, replacement })
    }
}

/// Returns the action of `-`, `=`, `?` or `+`, whether `:` precedes it, and the length of both.
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
