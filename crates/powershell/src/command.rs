// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses commands: a name with parameters, arguments and redirections.

use crate::ast::{CommandElement, InvocationKind, PowerShellCommand, PowerShellExpression};
use crate::scan::{ScriptParser, is_dash, is_double_quote, is_line_end, is_name_char, is_single_quote};
use crate::string::PartCollector;

impl ScriptParser<'_> {
    /// Parses a command up to the end of its pipeline stage. `None` if there is no name.
    pub(crate) fn parse_command(&mut self) -> Option<PowerShellCommand> {
        let start = self.at;
        let invocation = self.read_invocation();
        self.skip_spaces();
        let name = self.parse_argument()?;
        let mut elements = Vec::new();
        loop {
            self.skip_spaces();
            let before = self.at;
            if self.at_command_end() {
                break;
            }
            if let Some(redirect) = self.read_redirect() {
                elements.extend(redirect);
            } else if self.skip_text("--%") {
                // After `--%`, the rest of the line is passed to the program unchanged.
                let line = self.take_while(|c| !is_line_end(c) && c != '|');
                let words = line.split_whitespace().map(|word| word.trim_matches('"'));
                elements
                    .extend(words.map(|word| CommandElement::Argument(PowerShellExpression::literal(word))));
            } else if let Some(parameter) = self.read_parameter() {
                elements.push(parameter);
            } else if let Some(argument) = self.parse_argument_list() {
                elements.push(CommandElement::Argument(argument));
            }
            if self.at == before {
                self.next_char();
            }
        }
        let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Some(PowerShellCommand { invocation, name, elements, start: position(start), end: position(self.at) })
    }

    fn read_invocation(&mut self) -> InvocationKind {
        let kind = match self.peek() {
            Some('&') => InvocationKind::Call,
            Some('.') if self.peek_second().is_some_and(|c| c.is_whitespace() || c == '{' || c == '(') => {
                InvocationKind::DotSource
            }
            _ => return InvocationKind::Name,
        };
        self.next_char();
        kind
    }

    /// Whether the command ends here.
    pub(crate) fn at_command_end(&mut self) -> bool {
        match self.peek() {
            None | Some('\n' | '\r' | ';' | '|' | '}' | ')' | '&') => true,
            Some('#') => {
                self.skip_line();
                true
            }
            _ => false,
        }
    }

    /// Reads a redirection: `> file`, `2>> file`, `*> file`, `2>&1`. The last form names no file.
    pub(crate) fn read_redirect(&mut self) -> Option<Vec<CommandElement>> {
        let rest = self.rest();
        let sign = rest.strip_prefix(|c: char| c.is_ascii_digit() || c == '*').unwrap_or(rest);
        let after = sign.strip_prefix('>')?;
        self.at += rest.len() - after.len();
        let appends = self.skip_text(">");
        if self.peek() == Some('&') {
            self.next_char();
            self.take_while(|c| c.is_ascii_digit());
            return Some(Vec::new());
        }
        self.skip_spaces();
        let target = self.parse_argument();
        Some(target.map(|target| CommandElement::Redirect { appends, target }).into_iter().collect())
    }

    /// Reads `-Name` or `-Name:value`. Other words that begin with a dash are arguments.
    fn read_parameter(&mut self) -> Option<CommandElement> {
        let start = self.at;
        let is_start = self.peek().is_some_and(is_dash)
            && self.peek_second().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '?'));
        if !is_start {
            return None;
        }
        self.next_char();
        let name = self.take_while(|c| is_name_char(c) || matches!(c, '-' | '?'));
        let name = format!("-{name}");
        match self.peek() {
            Some(':') => {
                self.next_char();
                self.skip_spaces();
                let value = self.parse_argument_list();
                Some(CommandElement::Parameter(name, value))
            }
            Some(letter) if !ends_word(letter) && !is_double_quote(letter) && !is_single_quote(letter) => {
                self.at = start;
                None
            }
            _ => Some(CommandElement::Parameter(name, None)),
        }
    }

    /// Parses arguments that are separated by commas.
    fn parse_argument_list(&mut self) -> Option<PowerShellExpression> {
        let first = self.parse_argument()?;
        let mut items = Vec::new();
        loop {
            let before = self.at;
            self.skip_spaces();
            if self.peek() != Some(',') {
                self.at = before;
                break;
            }
            self.next_char();
            self.skip_blanks();
            match self.parse_argument() {
                Some(item) => items.push(item),
                None => break,
            }
        }
        if items.is_empty() {
            return Some(first);
        }
        items.insert(0, first);
        Some(PowerShellExpression::List(items))
    }

    /// Parses one argument: an expression in brackets, a block, a variable, or a word with quoted parts.
    pub(crate) fn parse_argument(&mut self) -> Option<PowerShellExpression> {
        match self.peek()? {
            '(' | '{' => return Some(self.parse_primary()),
            '@' if self.peek_second().is_some_and(|c| is_name_char(c) || matches!(c, '(' | '{')) => {
                return Some(self.parse_primary());
            }
            _ => {}
        }
        let start = self.at;
        let mut parts = PartCollector::default();
        let mut is_word = false;
        // A variable is an argument by itself, with its members, or the start of a longer word: `$x\a`.
        if self.peek() == Some('$') {
            let value = self.parse_primary();
            if self.peek().is_none_or(ends_word) {
                return Some(value);
            }
            parts.push_value(value);
            is_word = true;
        }
        while let Some(letter) = self.peek() {
            if is_single_quote(letter) || is_double_quote(letter) || letter == '@' {
                if let Some(text) = self.read_string() {
                    parts.append(text);
                } else {
                    self.next_char();
                    parts.push(letter);
                }
            } else if letter == '{' && is_word && self.rest().starts_with("{}") {
                // `HEAD@{}` and `{}` as placeholders.
                self.at += 2;
                parts.push('{');
                parts.push('}');
            } else if ends_word(letter) {
                break;
            } else {
                self.read_expandable(&mut parts);
            }
            is_word = true;
        }
        (self.at > start).then(|| PowerShellExpression::Text(parts.into_parts()))
    }
}

/// Whether a character ends a bare word.
fn ends_word(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, ';' | '|' | '&' | '(' | ')' | '{' | '}' | ',' | '<' | '>')
}
