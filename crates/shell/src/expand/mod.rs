// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Expands words to arguments, as far as that is possible without running anything.
//!
//! The order is the same as in the shell: braces; then tilde, parameters, commands and arithmetic from left to right;
//! then field splitting. File names are not looked up: patterns stay [`FieldSegment::Glob`]. Unknown values become
//! [`FieldSegment::Unknown`]; nothing is guessed.
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
mod expander;
mod field;
mod operators;
mod parameter_value;
mod pattern_match;

pub use alternatives::sequence;
pub use environment::{Environment, ShellVariable, Variables};
pub use field::{Expansion, Field, FieldSegment};
pub use pattern_match::ShellPattern;

use crate::{Span, Word, WordPart};
use expander::{ExpandMode, Expander};
use field::FieldBuilder;

/// Maximum number of value combinations in [`expand_each`].
const MAX_COMBINATIONS: usize = 64;

/// Expands words to arguments.
pub fn expand(words: &[Word], environment: &dyn Environment) -> Expansion {
    Expander::new(environment).run(words)
}

/// Expands words once for each combination of values of variables that have [one of several](ShellVariable::OneOf).
/// `None` if there are too many combinations.
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

/// Expands a word that is not split: the value of an assignment, the subject of `case`, a here-string, or the text of
/// a here-document.
pub fn expand_value(parts: &[WordPart], environment: &dyn Environment) -> Field {
    let mut expander = Expander::new(environment);
    let mut out = FieldBuilder::new();
    expander.expand_parts(parts, ExpandMode::Value, &mut out);
    let mut field = Field::default();
    let truncated = out.truncated;
    out.end_field();
    for each in out.done {
        field.segments.extend(each.segments);
    }
    if truncated {
        field.segments.push(FieldSegment::Unknown { span: Span::default(), splits: false });
    }
    field
}

/// Expands a word to a pattern; `None` if part of it is unknown.
pub fn expand_pattern(word: &Word, environment: &dyn Environment) -> Option<ShellPattern> {
    Expander::new(environment).expand_pattern(word)
}

/// Evaluates an arithmetic expression; `None` if the value is unknown or an error.
pub fn expand_arithmetic(text: &crate::ArithmeticText, environment: &dyn Environment) -> Option<i64> {
    Expander::new(environment).evaluate_arithmetic(text)
}
