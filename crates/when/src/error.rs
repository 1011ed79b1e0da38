// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What can be wrong with a condition, in one line each.

use cel::{ExecutionError, ParseErrors};

use crate::limits::{MAX_DEPTH, MAX_ITEMS, MAX_LOOPS, MAX_TEXT};

/// Longest text of the library's that is passed on; the rest is cut.
const MAX_MESSAGE: usize = 240;

/// Why a condition was refused, or could not be answered for an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WhenError {
    /// The text is longer than the limit.
    #[error("the condition has {0} bytes; {MAX_TEXT} is the limit")]
    TooLong(usize),
    /// The expression is nested deeper than the limit.
    #[error("the condition is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// The text is not an expression.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// Counted from one.
        line: usize,
        /// Counted from one, in characters.
        column: usize,
        /// What the parser said.
        message: String,
    },
    /// The expression says something that can be known to be wrong before any event comes.
    #[error("column {column}: {message}")]
    Refused {
        /// Counted from one, in characters of the whole text.
        column: usize,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// The event has no such field.
    #[error("the event has no `{0}` (test with `has({0})` first)")]
    Missing(String),
    /// The expression gave something other than true or false.
    #[error("the condition gave a value of type {0}, not a bool")]
    NotBoolean(String),
    /// A loop would run over too long a list.
    #[error("a loop over more than {MAX_ITEMS} elements")]
    TooManyItems,
    /// The evaluation cost more than it may.
    #[error("the condition costs more than it may for this event")]
    TooExpensive,
    /// The evaluation failed.
    #[error("{0}")]
    Failed(String),
    /// The library panicked; the panic was contained.
    #[error("the expression library panicked: {0}")]
    Panicked(String),
}

/// Said when loops stand in loops in loops.
pub(crate) fn too_many_loops() -> String {
    format!("loops nested deeper than {MAX_LOOPS}")
}

impl WhenError {
    /// The first of the parser's complaints: the others are mostly its echo.
    pub(crate) fn from_parser(errors: &ParseErrors) -> Self {
        let Some(first) = errors.errors.first() else {
            return Self::Syntax { line: 1, column: 1, message: "not an expression".to_owned() };
        };
        // The depth limit stops the parser from inside, which it reports as a failure of its own.
        if first.msg.contains("Recursion limit") {
            return Self::TooDeep;
        }
        let (line, column) = first.pos;
        Self::Syntax {
            line: usize::try_from(line).unwrap_or(1).max(1),
            column: usize::try_from(column).unwrap_or(1).max(1),
            message: one_line(&first.msg),
        }
    }

    /// The library's errors carry whole values; what the agent wrote has no place in a log line, so
    /// only types and names are told.
    pub(crate) fn from_library(error: &ExecutionError) -> Self {
        use ExecutionError as E;
        let text = match error {
            E::NoSuchKey(key) => format!("no such key `{key}`"),
            E::DivisionByZero(_) | E::RemainderByZero(_) => "division by zero".to_owned(),
            E::Overflow(operator, ..) => format!("`{operator}` overflows"),
            E::IndexOutOfBounds(_) => "an index outside the list".to_owned(),
            E::DuplicateKey(_) => "a map with the same key twice".to_owned(),
            E::UnsupportedKeyType(_) => "a value that cannot be a map key".to_owned(),
            E::UnsupportedBinaryOperator(operator, ..) => {
                format!("`{operator}` does not take values of these types")
            }
            E::ValuesNotComparable(..) => "values that cannot be compared".to_owned(),
            E::UnexpectedType { got, want } => format!("a value of type {got} where {want} is needed"),
            E::NoSuchOverload(overload) => one_line(&overload.to_string()),
            E::FunctionError { function, .. } => format!("`{function}` failed"),
            _ => "the condition cannot be evaluated".to_owned(),
        };
        Self::Failed(text)
    }
}

/// One line in our manner: no line breaks, no capital, not too long.
pub(crate) fn one_line(text: &str) -> String {
    let text = text.trim_start_matches("Syntax error: ");
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).take(MAX_MESSAGE).collect()
}
