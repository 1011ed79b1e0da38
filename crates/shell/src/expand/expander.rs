// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Expands the parts of words from left to right.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::alternatives::expand_braces;
use super::field::FieldBuilder;
use super::{Environment, Expansion, ShellPattern, ShellVariable};
use crate::limits::{MAX_ASSIGNED, MAX_EXPANSION_STEPS};
use crate::{GlobKind, Span, Word, WordPart};

/// The context of a word part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpandMode {
    /// In an argument, outside quotes.
    Argument,
    /// In the word after an operator of an unquoted `${…}`, where text is split as well.
    Operand,
    /// In double quotes.
    Quoted,
    /// The value of an assignment: it is not split, and lists are joined.
    Value,
}

pub(super) struct Expander<'e> {
    pub(super) environment: &'e dyn Environment,
    /// Variables assigned so far; the last assignment wins.
    pub(super) assigned: Vec<(String, Option<String>)>,
    /// The chosen value of variables with several values; `None` if such variables are unknown.
    pub(super) choices: Option<BTreeMap<String, usize>>,
    /// Variables with several values that were not in `choices`, with the number of values.
    pub(super) met: Vec<(String, usize)>,
    /// Number of remaining steps.
    pub(super) steps: usize,
    /// Whether assignments were dropped because of the limit.
    pub(super) lost_assignments: bool,
}

impl<'e> Expander<'e> {
    pub(super) fn new(environment: &'e dyn Environment) -> Self {
        Self {
            environment,
            assigned: Vec::new(),
            choices: None,
            met: Vec::new(),
            steps: MAX_EXPANSION_STEPS,
            lost_assignments: false,
        }
    }

    /// Uses up steps; `false` if none are left.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        let left = self.steps.checked_sub(steps.saturating_add(1));
        self.steps = left.unwrap_or_default();
        left.is_some()
    }

    /// Records an assignment made by the expansion itself.
    pub(super) fn assign(&mut self, name: &str, value: Option<String>) {
        if self.assigned.len() >= MAX_ASSIGNED {
            self.lost_assignments = true;
        } else {
            self.assigned.push((name.to_owned(), value));
        }
    }

    pub(super) fn run(&mut self, words: &[Word]) -> Expansion {
        let mut out = FieldBuilder::new();
        for word in words {
            if ends_in_stray_dollar(word) {
                out.push_unknown(word.span, true);
                out.end_field();
                continue;
            }
            let has_braces = word.parts.iter().any(|part| matches!(part, WordPart::Brace(_)));
            if !has_braces {
                self.expand_parts(&word.parts, ExpandMode::Argument, &mut out);
                out.end_field();
                continue;
            }
            let Some(words) = expand_braces(word) else {
                out.push_unknown(word.span, true);
                out.end_field();
                continue;
            };
            for word in words {
                self.expand_parts(&word.parts, ExpandMode::Argument, &mut out);
                out.end_field();
            }
        }
        Expansion { truncated: out.truncated, fields: out.done, assigned: std::mem::take(&mut self.assigned) }
    }

    pub(super) fn expand_parts(&mut self, parts: &[WordPart], mode: ExpandMode, out: &mut FieldBuilder) {
        for part in parts {
            if out.truncated {
                return;
            }
            self.expand_part(part, mode, out);
        }
    }

    pub(super) fn expand_part(&mut self, part: &WordPart, mode: ExpandMode, out: &mut FieldBuilder) {
        let splits = matches!(mode, ExpandMode::Argument | ExpandMode::Operand);
        match part {
            WordPart::Literal(literal) if mode == ExpandMode::Operand => {
                let separators = self.separators();
                match separators {
                    Some(separators) => out.push_split(&literal.text, &separators, false),
                    None => out.push_unknown(literal.span, true),
                }
            }
            WordPart::Literal(literal) | WordPart::SingleQuoted(literal) => out.push_quoted(&literal.text),
            WordPart::Escaped(escaped) => out.push_quoted(escaped.character.encode_utf8(&mut [0; 4])),
            WordPart::AnsiQuoted(quoted) if quoted.is_text => out.push_quoted(&quoted.text),
            WordPart::DoubleQuoted(quoted) if quoted.parts.is_empty() => out.push_quoted(""),
            WordPart::DoubleQuoted(quoted) => {
                let mode = if mode == ExpandMode::Value { ExpandMode::Value } else { ExpandMode::Quoted };
                self.expand_parts(&quoted.parts, mode, out);
            }
            WordPart::Tilde(tilde) => match self.environment.home(&tilde.user) {
                Some(home) => out.push_quoted(&home),
                None => out.push_unknown(tilde.span, false),
            },
            WordPart::Glob(glob) => match self.glob_text(&glob.kind) {
                Some(text) => out.push_glob(&text),
                None => out.push_unknown(glob.span, true),
            },
            WordPart::Parameter(parameter) => self.expand_parameter(parameter, mode, out),
            WordPart::Command(command) => match self.environment.output(command) {
                Some(output) => self.push_text(output.trim_end_matches('\n'), command.span, mode, out),
                None => out.push_unknown(command.span, splits),
            },
            WordPart::Arithmetic(arithmetic) => match self.evaluate_arithmetic(&arithmetic.expression) {
                Some(value) => self.push_text(&value.to_string(), arithmetic.span, mode, out),
                None => out.push_unknown(arithmetic.span, false),
            },
            WordPart::AnsiQuoted(_) | WordPart::Process(_) | WordPart::ProgramPath(_) => {
                out.push_unknown(part.span(), false);
            }
            WordPart::Brace(_) | WordPart::Array(_) | WordPart::History(_) | WordPart::Unparsed(_) => {
                out.push_unknown(part.span(), true);
            }
        }
    }

    /// Adds the result of an expansion.
    pub(super) fn push_text(&mut self, text: &str, span: Span, mode: ExpandMode, out: &mut FieldBuilder) {
        if matches!(mode, ExpandMode::Quoted | ExpandMode::Value) {
            return out.push_quoted(text);
        }
        match self.separators() {
            Some(separators) => out.push_split(text, &separators, true),
            None => out.push_unknown(span, true),
        }
    }

    /// Returns the characters of `IFS`; `None` if they are unknown.
    pub(super) fn separators(&self) -> Option<Cow<'static, str>> {
        match self.environment.variable("IFS") {
            ShellVariable::Value(text) => Some(Cow::Owned(text.into_owned())),
            ShellVariable::Unset => Some(Cow::Borrowed(" \t\n")),
            // In an unknown environment `IFS` has its default value, because a shell sets it at startup.
            ShellVariable::Unknown if !self.assigned.iter().any(|(name, _)| name == "IFS") => {
                Some(Cow::Borrowed(" \t\n"))
            }
            _ => None,
        }
    }

    pub(super) fn glob_text(&mut self, kind: &GlobKind) -> Option<String> {
        Some(match kind {
            GlobKind::Star => "*".to_owned(),
            GlobKind::Question => "?".to_owned(),
            GlobKind::Bracket(text) => format!("[{text}]"),
            GlobKind::BracketStart => "[".to_owned(),
            GlobKind::NumericRange(text) => format!("<{text}>"),
            GlobKind::Extended { operator, alternatives } => {
                let mut all = Vec::new();
                for word in alternatives {
                    all.push(self.expand_text(&word.parts)?);
                }
                let operator = if *operator == '(' { String::new() } else { operator.to_string() };
                format!("{operator}({})", all.join("|"))
            }
        })
    }

    /// Expands parts to one text; `None` if part of it is unknown.
    pub(super) fn expand_text(&mut self, parts: &[WordPart]) -> Option<String> {
        let mut out = FieldBuilder::new();
        self.expand_parts(parts, ExpandMode::Value, &mut out);
        out.into_text()
    }

    pub(super) fn expand_pattern(&mut self, word: &Word) -> Option<ShellPattern> {
        let mut pattern = ShellPattern::default();
        for part in &word.parts {
            match part {
                WordPart::Glob(glob) => match &glob.kind {
                    GlobKind::BracketStart | GlobKind::NumericRange(_) => return None,
                    GlobKind::Extended { operator, alternatives } => {
                        let inner: Option<Vec<_>> =
                            alternatives.iter().map(|word| self.expand_pattern(word)).collect();
                        pattern.push_group(*operator, inner?);
                    }
                    kind => pattern.push_pattern(&self.glob_text(kind)?),
                },
                WordPart::Parameter(_) | WordPart::Command(_) | WordPart::Arithmetic(_) => {
                    pattern.push_pattern(&self.expand_text(std::slice::from_ref(part))?);
                }
                part => pattern.push_literal(&self.expand_text(std::slice::from_ref(part))?),
            }
        }
        Some(pattern)
    }
}

/// Whether a `$` that starts no expansion follows an unquoted expansion (`$x$.`). Bash 5.2 does not split
/// such a word; other versions do.
fn ends_in_stray_dollar(word: &Word) -> bool {
    let mut expands = false;
    let mut is_stray = false;
    for part in &word.parts {
        match part {
            WordPart::Parameter(_) | WordPart::Command(_) | WordPart::Arithmetic(_) => {
                expands = true;
                is_stray = false;
            }
            WordPart::Literal(literal) if expands => is_stray |= literal.text.contains('$'),
            _ => {}
        }
    }
    is_stray
}
