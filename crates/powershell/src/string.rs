// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses strings, here-strings and variables.

use crate::ast::{PowerShellExpression, StringPart};
use crate::scan::{ScriptParser, is_double_quote, is_line_end, is_name_char, is_single_quote};

/// Scopes that may precede the name of a variable.
const VARIABLE_SCOPES: &[&str] = &["global", "script", "local", "private", "using", "variable"];

/// Collects the parts of a word or string.
#[derive(Default)]
pub(crate) struct PartCollector {
    parts: Vec<StringPart>,
    literal: String,
}

impl PartCollector {
    pub(crate) fn push(&mut self, letter: char) {
        self.literal.push(letter);
    }

    pub(crate) fn push_value(&mut self, value: PowerShellExpression) {
        self.end_literal();
        self.parts.push(StringPart::Value(value));
    }

    pub(crate) fn append(&mut self, parts: Vec<StringPart>) {
        for part in parts {
            match part {
                StringPart::Literal(text) => self.literal.push_str(&text),
                StringPart::Value(value) => self.push_value(value),
            }
        }
    }

    fn end_literal(&mut self) {
        if !self.literal.is_empty() {
            self.parts.push(StringPart::Literal(std::mem::take(&mut self.literal)));
        }
    }

    pub(crate) fn into_parts(mut self) -> Vec<StringPart> {
        self.end_literal();
        self.parts
    }
}

impl ScriptParser<'_> {
    /// Reads a quoted string or here-string; `None` if none begins here.
    pub(crate) fn read_string(&mut self) -> Option<Vec<StringPart>> {
        match self.peek()? {
            letter if is_single_quote(letter) => {
                self.next_char();
                Some(self.read_single_quoted())
            }
            letter if is_double_quote(letter) => {
                self.next_char();
                Some(self.read_double_quoted())
            }
            '@' => self.read_here_string(),
            _ => None,
        }
    }

    fn read_single_quoted(&mut self) -> Vec<StringPart> {
        let mut text = String::new();
        while let Some(letter) = self.next_char() {
            if is_single_quote(letter) {
                if !self.peek().is_some_and(is_single_quote) {
                    break;
                }
                self.next_char();
            }
            text.push(letter);
        }
        vec![StringPart::Literal(text)]
    }

    fn read_double_quoted(&mut self) -> Vec<StringPart> {
        let mut parts = PartCollector::default();
        while let Some(letter) = self.peek() {
            if is_double_quote(letter) {
                self.next_char();
                if !self.peek().is_some_and(is_double_quote) {
                    break;
                }
                self.next_char();
                parts.push('"');
            } else {
                self.read_expandable(&mut parts);
            }
        }
        parts.into_parts()
    }

    /// Reads `@'…'@` or `@"…"@`. The closing delimiter must be at the start of a line.
    fn read_here_string(&mut self) -> Option<Vec<StringPart>> {
        let quote = self.peek_second()?;
        let (expands, end) = match quote {
            '"' => (true, "\"@"),
            '\'' => (false, "'@"),
            _ => return None,
        };
        let body = self.rest().get(2..)?;
        let blanks = body.find(|c: char| !c.is_whitespace() || is_line_end(c))?;
        if !body.get(blanks..)?.starts_with(is_line_end) {
            return None;
        }
        self.at += 2 + blanks;
        self.skip_line_end();
        let mut parts = PartCollector::default();
        let mut at_line_start = true;
        while let Some(letter) = self.peek() {
            if at_line_start && self.skip_text(end) {
                break;
            }
            at_line_start = is_line_end(letter);
            if expands {
                self.read_expandable(&mut parts);
            } else {
                parts.push(letter);
                self.next_char();
            }
        }
        Some(parts.into_parts())
    }

    fn skip_line_end(&mut self) {
        self.skip_text("\r");
        self.skip_text("\n");
    }

    /// Reads one character, escape, variable or sub-expression of an expandable string.
    pub(crate) fn read_expandable(&mut self, parts: &mut PartCollector) {
        match self.peek() {
            Some('`') => {
                self.next_char();
                if let Some(letter) = self.next_char() {
                    self.push_escaped(letter, parts);
                }
            }
            Some('$') => {
                if let Some(value) = self.read_variable_or_statements() {
                    parts.push_value(value);
                } else {
                    self.next_char();
                    parts.push('$');
                }
            }
            Some(letter) => {
                self.next_char();
                parts.push(letter);
            }
            None => {}
        }
    }

    fn push_escaped(&mut self, letter: char, parts: &mut PartCollector) {
        match letter {
            'n' => parts.push('\n'),
            'r' => parts.push('\r'),
            't' => parts.push('\t'),
            '0' => parts.push('\0'),
            '\n' => {}
            '\r' => _ = self.skip_text("\n"),
            letter => parts.push(letter),
        }
    }

    /// Reads `$name`, `${name}`, `$drive:name` or `$( … )`; `None` if the dollar sign is plain text.
    pub(crate) fn read_variable_or_statements(&mut self) -> Option<PowerShellExpression> {
        match self.peek_second()? {
            '(' => {
                self.at += 2;
                Some(PowerShellExpression::Statements(self.parse_enclosed(')')))
            }
            '{' => {
                self.at += 2;
                let name = self.take_while(|c| c != '}');
                self.next_char();
                Some(PowerShellExpression::Variable(fold_variable(name)))
            }
            letter @ ('$' | '?' | '^') => {
                self.at += 2;
                Some(PowerShellExpression::Variable(letter.to_string()))
            }
            letter if is_name_char(letter) => {
                self.next_char();
                let start = self.at;
                self.take_while(is_name_char);
                // A drive such as `env:` belongs to the name; `::` does not.
                let after = self.rest();
                let is_drive = after.strip_prefix(':').is_some_and(|rest| rest.starts_with(is_name_char));
                if is_drive {
                    self.next_char();
                    self.take_while(is_name_char);
                }
                Some(PowerShellExpression::Variable(fold_variable(self.text_between(start, self.at))))
            }
            _ => None,
        }
    }
}

/// Returns the name of a variable in lower case, without its scope.
fn fold_variable(name: &str) -> String {
    let name = name.to_lowercase();
    match name.split_once(':') {
        Some((scope, rest)) if VARIABLE_SCOPES.contains(&scope) => rest.to_owned(),
        _ => name,
    }
}
