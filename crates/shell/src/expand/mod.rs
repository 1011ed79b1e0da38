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
mod expander;
mod field;
mod operators;
mod parameter_value;
mod pattern_match;

pub use alternatives::sequence;
pub use environment::{Environment, Variable, Variables};
pub use field::{Expansion, Field, Segment};
pub use pattern_match::Pattern;

use crate::{Span, Word, WordPart};
use expander::{Expander, Mode};
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
