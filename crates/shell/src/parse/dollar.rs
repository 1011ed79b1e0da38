// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses expansions that start with `$`, and process substitution.

use super::keyword::ListEnds;
use super::scan::{is_name_byte, is_name_start};
use super::word::WordBuilder;
use super::{ParseResult, ShellParser};
use crate::ast::{
    ArithmeticExpansion, CommandSubstitution, Parameter, ParameterOperator, ProcessDirection,
    ProcessSubstitution, TransformedParameter, WordPart,
};

impl ShellParser<'_> {
    /// Parses an expansion, or a literal `$`.
    pub(super) fn parse_dollar(&mut self, builder: &mut WordBuilder, quoted: bool) -> ParseResult {
        let start = self.at;
        let next_at = self.skip_joined(start + 1);
        let Some(next) = self.byte(next_at) else {
            self.at = start + 1;
            return Ok(());
        };
        let is_expansion = match next {
            b'[' => self.is_extended(),
            b'\'' => !quoted && self.is_extended() && next_at == start + 1,
            b'"' => !quoted && self.options.dialect == crate::Dialect::Bash && next_at == start + 1,
            b'(' | b'{' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'0'..=b'9' => true,
            b'+' | b'=' | b'~' | b'^' => self.is_zsh() && self.byte(next_at + 1).is_some_and(is_name_start),
            _ => is_name_start(next),
        };
        if !is_expansion {
            self.at = start + 1;
            return Ok(());
        }
        self.flush_literal(builder)?;
        let part = match next {
            b'(' => self.parse_dollar_parenthesis(start, next_at)?,
            b'{' => self.parse_braced_parameter(start, next_at, quoted)?,
            b'[' => {
                let end = self.find_close(next_at + 1, b'[', b']')?.ok_or_else(|| self.unclosed("`$[`"))?;
                self.at = next_at + 1;
                let expression = self.parse_arithmetic_text(end)?;
                self.at = end + 1;
                let span = self.span(start, self.at);
                WordPart::Arithmetic(Box::new(ArithmeticExpansion { expression, span }))
            }
            b'\'' => self.parse_ansi_quoted()?,
            b'"' => self.parse_double_quoted(true)?,
            _ => self.parse_plain_parameter(start, next_at)?,
        };
        self.push_part(builder, part)
    }

    /// Parses `$((…))` or `$(…)`.
    fn parse_dollar_parenthesis(&mut self, start: usize, open: usize) -> ParseResult<WordPart> {
        if self.byte(open + 1) == Some(b'(')
            && let Some(end) = self.find_arithmetic_end(open + 2)?
        {
            self.at = open + 2;
            let expression = self.parse_arithmetic_text(end)?;
            self.at = end + 2;
            let span = self.span(start, self.at);
            return Ok(WordPart::Arithmetic(Box::new(ArithmeticExpansion { expression, span })));
        }
        self.count_node()?;
        self.at = open + 1;
        let script = self.parse_script(ListEnds::PAREN)?;
        self.expect(b')', "`$(`")?;
        let span = self.span(start, self.at);
        Ok(WordPart::Command(Box::new(CommandSubstitution { script, is_backticks: false, span })))
    }

    /// Parses `<(…)`, `>(…)` and `=(…)`.
    pub(super) fn parse_process_substitution(&mut self, byte: u8) -> ParseResult<WordPart> {
        let start = self.at;
        self.at += 2;
        let script = self.parse_script(ListEnds::PAREN)?;
        self.expect(b')', "process substitution")?;
        let direction = match byte {
            b'<' => ProcessDirection::Read,
            b'>' => ProcessDirection::Write,
            _ => ProcessDirection::TemporaryFile,
        };
        let span = self.span(start, self.at);
        Ok(WordPart::Process(Box::new(ProcessSubstitution { direction, script, span })))
    }

    /// Parses `$name`, `$1` and `$@`.
    fn parse_plain_parameter(&mut self, start: usize, name_at: usize) -> ParseResult<WordPart> {
        let mut parameter = TransformedParameter::default();
        let mut from = name_at;
        let mut first = self.byte(from).unwrap_or_default();
        if self.is_zsh() {
            // `$#name`, `$+name`, `$=name`, `$~name`, `$^name`
            let names = self.byte(from + 1).is_some_and(is_name_start);
            if matches!(first, b'#' | b'+' | b'=' | b'~' | b'^') && names {
                parameter.is_length = first == b'#';
                parameter.zsh_flags = (first != b'#').then(|| self.slice(from, from + 1).into());
                from += 1;
                first = self.byte(from).unwrap_or_default();
            }
        }
        if is_name_start(first) {
            let (name, end) = self.variable_name(from);
            parameter.name = name.into();
            self.at = end;
        } else {
            self.at = from + 1;
            parameter.name = self.slice(from, self.at).into();
        }
        if self.is_zsh() && self.peek() == Some(b'[') {
            self.parse_zsh_subscript(&mut parameter)?;
        }
        let operator = if self.is_zsh() { self.parse_zsh_modifiers() } else { ParameterOperator::None };
        let span = self.span(start, self.at);
        Ok(WordPart::Parameter(Box::new(Parameter { parameter, operator, braced: false, span })))
    }

    /// Parses `$name[…]`, an array subscript in zsh.
    fn parse_zsh_subscript(&mut self, parameter: &mut TransformedParameter) -> ParseResult {
        let Some(end) = self.find_close(self.at + 1, b'[', b']')? else { return Ok(()) };
        let blank = self.slice(self.at, end).bytes().any(|byte| byte.is_ascii_whitespace());
        if !blank {
            self.at += 1;
            parameter.subscript = Some(self.parse_subscript(end)?);
            self.at = end + 1;
        }
        Ok(())
    }

    /// Parses `$name:h:t`.
    fn parse_zsh_modifiers(&mut self) -> ParameterOperator {
        let start = self.at;
        while self.peek() == Some(b':')
            && self.byte(self.at + 1).is_some_and(|byte| b"aAcehlpPqQrtux".contains(&byte))
            && !self.byte(self.at + 2).is_some_and(is_name_byte)
        {
            self.at += 2;
        }
        if self.at == start {
            return ParameterOperator::None;
        }
        let literal = WordPart::Literal(self.make_literal(start, self.at));
        let parts = crate::SmallList::One(literal);
        ParameterOperator::Other(crate::ast::Word { parts, span: self.span(start, self.at) })
    }
}
