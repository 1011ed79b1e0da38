// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Words → the arguments a shell makes of them, as far as that is known without running anything.
//!
//! Order as in the shell: braces; then tilde, parameters, commands and arithmetic from left to right; then field
//! splitting. File names are not looked up: patterns stay [`Segment::Glob`]. What is not known is
//! [`Segment::Unknown`]; nothing is guessed.
//!
//! ```
//! use tenterhook_shell::expand::{Variables, expand};
//! use tenterhook_shell::{Command, Dialect, parse};
//!
//! let parsed = parse("cp $files ${dir%/}/{a,b} $(date)", Dialect::Bash);
//! let Command::Simple(command) = &parsed.script.statements[0].first.stages[0].command else { panic!() };
//! let mut known = Variables::default();
//! known.set("files", "x y");
//! known.set("dir", "/srv/");
//! let fields = expand(&command.words, &known).fields;
//! let texts: Vec<_> = fields.iter().map(|field| field.render("‹unknown›")).collect();
//! assert_eq!(texts, ["cp", "x", "y", "/srv/a", "/srv/b", "‹unknown›"]);
//! ```

mod alternatives;
mod environment;
mod evaluate;
mod field;
mod operators;
mod parameter_value;
mod pattern_match;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use environment::{Environment, Variable, Variables};
pub use field::{Expansion, Field, Segment};
pub use pattern_match::Pattern;

use crate::limits::{MAX_ASSIGNED, MAX_EXPANSION_STEPS};
use crate::{GlobKind, Span, Word, WordPart};
use field::FieldBuilder;

/// How many combinations of values [`expand_each`] looks at.
const MAX_COMBINATIONS: usize = 64;

/// The arguments that these words become.
pub fn expand(words: &[Word], environment: &dyn Environment) -> Expansion {
    Expander::new(environment).run(words)
}

/// The same for each combination of the values of variables that have [one of several](Variable::OneOf). `None` if
/// there are too many combinations.
pub fn expand_each(words: &[Word], environment: &dyn Environment) -> Option<Vec<Expansion>> {
    let mut all = Vec::new();
    let mut choices: Vec<(String, usize, usize)> = Vec::new();
    loop {
        let mut expander = Expander::new(environment);
        expander.choices = Some(choices.iter().map(|(name, taken, _)| (name.clone(), *taken)).collect());
        all.push(expander.run(words));
        choices.extend(expander.met.into_iter().map(|(name, ways)| (name, 0, ways)));
        // The next combination: count up from the last choice.
        while let Some((_, taken, ways)) = choices.last_mut() {
            *taken += 1;
            if *taken < *ways {
                break;
            }
            choices.pop();
        }
        if choices.is_empty() {
            return Some(all);
        }
        if all.len() >= MAX_COMBINATIONS {
            return None;
        }
    }
}

/// The value of a word that is not split: an assignment, the subject of `case`, a here-string, the text of a
/// here-document.
pub fn expand_value(parts: &[WordPart], environment: &dyn Environment) -> Field {
    let mut expander = Expander::new(environment);
    let mut out = FieldBuilder::new();
    expander.parts(parts, Mode::Value, &mut out);
    let mut field = Field::default();
    let truncated = out.truncated;
    out.end_field();
    for each in out.done {
        field.segments.extend(each.segments);
    }
    if truncated {
        field.segments.push(Segment::Unknown { span: Span::default(), splits: false });
    }
    field
}

/// The pattern that a word is after expansion; `None` if part of it is unknown.
pub fn expand_pattern(word: &Word, environment: &dyn Environment) -> Option<Pattern> {
    Expander::new(environment).pattern(word)
}

/// The value of an arithmetic expression; `None` if it is unknown or an error.
pub fn expand_arithmetic(text: &crate::ArithmeticText, environment: &dyn Environment) -> Option<i64> {
    Expander::new(environment).arithmetic(text)
}

/// Where a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// In an argument, outside quotes.
    Argument,
    /// In the word after an operator of an unquoted `${…}`: text is split, too.
    Operand,
    /// In double quotes.
    Quoted,
    /// In an assignment: nothing is split, lists are joined.
    Value,
}

struct Expander<'e> {
    environment: &'e dyn Environment,
    /// Variables assigned so far, the last one counts.
    assigned: Vec<(String, Option<String>)>,
    /// Which of several values a variable has; `None` if such variables are unknown.
    choices: Option<BTreeMap<String, usize>>,
    /// Variables with several values that were not in `choices`, with the number of values.
    met: Vec<(String, usize)>,
    /// Steps that are left.
    steps: usize,
    /// Whether assignments were left out because there are too many.
    lost_assignments: bool,
}

impl<'e> Expander<'e> {
    fn new(environment: &'e dyn Environment) -> Self {
        Self {
            environment,
            assigned: Vec::new(),
            choices: None,
            met: Vec::new(),
            steps: MAX_EXPANSION_STEPS,
            lost_assignments: false,
        }
    }

    /// Counts steps; `false` if there are too many.
    fn spend(&mut self, steps: usize) -> bool {
        let left = self.steps.checked_sub(steps.saturating_add(1));
        self.steps = left.unwrap_or_default();
        left.is_some()
    }

    /// Notes an assignment that the expansion itself makes.
    fn assign(&mut self, name: &str, value: Option<String>) {
        if self.assigned.len() >= MAX_ASSIGNED {
            self.lost_assignments = true;
        } else {
            self.assigned.push((name.to_owned(), value));
        }
    }

    fn run(&mut self, words: &[Word]) -> Expansion {
        let mut out = FieldBuilder::new();
        for word in words {
            let has_braces = word.parts.iter().any(|part| matches!(part, WordPart::Brace(_)));
            if !has_braces {
                self.parts(&word.parts, Mode::Argument, &mut out);
                out.end_field();
                continue;
            }
            let Some(words) = alternatives::expand_braces(word) else {
                out.push_unknown(word.span, true);
                out.end_field();
                continue;
            };
            for word in words {
                self.parts(&word.parts, Mode::Argument, &mut out);
                out.end_field();
            }
        }
        Expansion { truncated: out.truncated, fields: out.done, assigned: std::mem::take(&mut self.assigned) }
    }

    fn parts(&mut self, parts: &[WordPart], mode: Mode, out: &mut FieldBuilder) {
        for part in parts {
            if out.truncated {
                return;
            }
            self.part(part, mode, out);
        }
    }

    fn part(&mut self, part: &WordPart, mode: Mode, out: &mut FieldBuilder) {
        let splits = matches!(mode, Mode::Argument | Mode::Operand);
        match part {
            WordPart::Literal(literal) if mode == Mode::Operand => {
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
                let mode = if mode == Mode::Value { Mode::Value } else { Mode::Quoted };
                self.parts(&quoted.parts, mode, out);
            }
            WordPart::Tilde(tilde) => match self.environment.home(&tilde.user) {
                Some(home) => out.push_quoted(&home),
                None => out.push_unknown(tilde.span, false),
            },
            WordPart::Glob(glob) => match self.glob_text(&glob.kind) {
                Some(text) => out.push_glob(&text),
                None => out.push_unknown(glob.span, true),
            },
            WordPart::Parameter(parameter) => self.parameter(parameter, mode, out),
            WordPart::Command(command) => match self.environment.output(command) {
                Some(output) => self.push_text(output.trim_end_matches('\n'), command.span, mode, out),
                None => out.push_unknown(command.span, splits),
            },
            WordPart::Arithmetic(arithmetic) => match self.arithmetic(&arithmetic.expression) {
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

    /// Text that an expansion has made.
    fn push_text(&mut self, text: &str, span: Span, mode: Mode, out: &mut FieldBuilder) {
        if matches!(mode, Mode::Quoted | Mode::Value) {
            return out.push_quoted(text);
        }
        match self.separators() {
            Some(separators) => out.push_split(text, &separators, true),
            None => out.push_unknown(span, true),
        }
    }

    /// The characters that separate fields; `None` if they are unknown.
    fn separators(&self) -> Option<Cow<'static, str>> {
        match self.environment.variable("IFS") {
            Variable::Value(text) => Some(Cow::Owned(text.into_owned())),
            Variable::Unset => Some(Cow::Borrowed(" \t\n")),
            // An unknown environment has the usual one: a shell sets it when it starts.
            Variable::Unknown if !self.assigned.iter().any(|(name, _)| name == "IFS") => {
                Some(Cow::Borrowed(" \t\n"))
            }
            _ => None,
        }
    }

    fn glob_text(&mut self, kind: &GlobKind) -> Option<String> {
        Some(match kind {
            GlobKind::Star => "*".to_owned(),
            GlobKind::Question => "?".to_owned(),
            GlobKind::Bracket(text) => format!("[{text}]"),
            GlobKind::BracketStart => "[".to_owned(),
            GlobKind::NumericRange(text) => format!("<{text}>"),
            GlobKind::Extended { operator, alternatives } => {
                let mut all = Vec::new();
                for word in alternatives {
                    all.push(self.text(&word.parts)?);
                }
                let operator = if *operator == '(' { String::new() } else { operator.to_string() };
                format!("{operator}({})", all.join("|"))
            }
        })
    }

    /// The parts as one text; `None` if it is unknown.
    fn text(&mut self, parts: &[WordPart]) -> Option<String> {
        let mut out = FieldBuilder::new();
        self.parts(parts, Mode::Value, &mut out);
        out.into_text()
    }

    fn pattern(&mut self, word: &Word) -> Option<Pattern> {
        let mut pattern = Pattern::default();
        for part in &word.parts {
            match part {
                WordPart::Glob(glob) => match &glob.kind {
                    GlobKind::BracketStart | GlobKind::NumericRange(_) => return None,
                    GlobKind::Extended { operator, alternatives } => {
                        let inner: Option<Vec<_>> =
                            alternatives.iter().map(|word| self.pattern(word)).collect();
                        pattern.push_group(*operator, inner?);
                    }
                    kind => pattern.push_pattern(&self.glob_text(kind)?),
                },
                WordPart::Parameter(_) | WordPart::Command(_) | WordPart::Arithmetic(_) => {
                    pattern.push_pattern(&self.text(std::slice::from_ref(part))?);
                }
                part => pattern.push_literal(&self.text(std::slice::from_ref(part))?),
            }
        }
        Some(pattern)
    }
}
