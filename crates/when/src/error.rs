// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines the errors of conditions.

use cel::{ExecutionError, ParseErrors};

use crate::limits::{MAX_CONDITION_BYTES, MAX_DEPTH, MAX_LOOP_DEPTH, MAX_LOOP_ITEMS};

/// Maximum length of an error message from the library; the rest is cut off.
const MAX_MESSAGE_CHARS: usize = 240;

/// Why a condition was rejected, or could not be evaluated for an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WhenError {
    /// The text is longer than the limit.
    #[error("the condition has {0} bytes; the maximum is {MAX_CONDITION_BYTES}")]
    TooLong(usize),
    /// The expression is nested deeper than the limit.
    #[error("the condition is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// The text is not an expression.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// Line, counted from one.
        line: usize,
        /// Column, counted from one, in characters.
        column: usize,
        /// Message of the parser.
        message: String,
    },
    /// The expression is invalid regardless of the event.
    #[error("column {column}: {message}")]
    Refused {
        /// Column, counted from one, in characters of the whole text.
        column: usize,
        /// What is wrong, and what would be valid.
        message: String,
    },
    /// The event has no such field.
    #[error("the event has no `{0}` (test with `has({0})` first)")]
    Missing(String),
    /// The result is neither true nor false.
    #[error("the condition gave a value of type {0}, not a bool")]
    NotBoolean(String),
    /// The list of a loop is too long.
    #[error("a loop over more than {MAX_LOOP_ITEMS} elements")]
    TooManyItems,
    /// The evaluation exceeded its budget.
    #[error("the condition exceeds its cost limit for this event")]
    TooExpensive,
    /// The evaluation failed.
    #[error("{0}")]
    Failed(String),
    /// The library panicked; the panic was contained.
    #[error("the expression library panicked: {0}")]
    Panicked(String),
}

/// Returns the message for loops that are nested too deeply.
pub(crate) fn too_many_loops() -> String {
    format!("loops nested deeper than {MAX_LOOP_DEPTH}")
}

impl WhenError {
    /// Converts the first error of the parser. Later errors are usually caused by the first one.
    pub(crate) fn from_parser(errors: &ParseErrors) -> Self {
        let Some(first) = errors.errors.first() else {
            return Self::Syntax { line: 1, column: 1, message: "not an expression".to_owned() };
        };
        // The depth limit stops the parser. The parser reports this as an error of its own.
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

    /// Converts an error of the library. Its errors contain whole values, but text from the agent must not appear in
    /// a log. So only types and names are kept.
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

/// Formats a message: one line, lower case, limited length.
pub(crate) fn one_line(text: &str) -> String {
    let text = text.trim_start_matches("Syntax error: ");
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).take(MAX_MESSAGE_CHARS).collect()
}
