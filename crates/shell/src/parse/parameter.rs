// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `${…}`

use super::keyword::{Ends, Keyword};
use super::operand::OperandRules;
use super::scan::{is_name_byte, is_name_start};
use super::word::WordBuilder;
use super::{Outcome, Parser};
use crate::ast::{
    CaseChange, CommandSubstitution, DefaultAction, Parameter, ParameterOperator, ReplaceScope,
    TransformedParameter, Word, WordPart,
};

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
            Some(byte) if is_name_start(byte) => {
                let (name, end) = self.variable_name(start);
                parameter.name = name.into();
                self.at = self.skip_joined(end);
                return self.parameter_subscript(parameter);
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
        if self.peek() == Some(b'[')
            && has_name
            && self.is_extended()
            && let Some(end) = self.find_subscript_close(self.at + 1)?
        {
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
            b':' if self.is_zsh()
                && next.is_none_or(|next| !next.is_ascii_digit() && !b" $(-".contains(&next)) =>
            {
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
            b'@' if next.is_some_and(|next| next.is_ascii_alphabetic())
                && self.byte(self.at + 2) == Some(b'}') =>
            {
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
