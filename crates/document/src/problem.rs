// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Describes problems in configuration files, as shown to users.

use std::fmt;

use serde::Serialize;

/// A problem in a file. The entry with the problem is not used; the rest of the file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Path or name of the file.
    pub source: String,
    /// Line of the problem, counted from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Column of the problem, counted from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The entry with the problem, if its id is known: ``rule `x` ``, ``hook `y` ``.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Description of the problem.
    pub message: String,
    /// Hint on how to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A position in a file; zero if unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Line, counted from 1.
    pub line: usize,
    /// Column, counted from 1.
    pub column: usize,
}

// === impl Problem ===

impl Problem {
    /// Creates a problem at a position.
    pub fn new(source: &str, spot: Spot, message: impl Into<String>) -> Self {
        Self {
            source: source.to_owned(),
            line: (spot.line > 0).then_some(spot.line),
            column: (spot.column > 0).then_some(spot.column),
            about: None,
            message: message.into(),
            hint: None,
        }
    }

    /// Creates a problem with a whole file.
    pub fn for_file(source: &str, message: impl Into<String>) -> Self {
        Self::new(source, Spot::default(), message)
    }

    /// Names the entry with the problem by its `kind` and id.
    #[must_use]
    pub fn about(self, kind: &str, id: Option<&str>) -> Self {
        Self { about: id.map(|id| format!("{kind} `{id}`")), ..self }
    }

    /// Adds a hint on how to fix the problem.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source)?;
        for number in [self.line, self.column].into_iter().map_while(|number| number) {
            write!(f, ":{number}")?;
        }
        if let Some(about) = &self.about {
            write!(f, ": {about}")?;
        }
        write!(f, ": {}", self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_like_a_compiler_message() {
        let spot = Spot { line: 12, column: 3 };
        let problem = Problem::new("rules.yaml", spot, "no such key").about("rule", Some("x"));
        assert_eq!(problem.to_string(), "rules.yaml:12:3: rule `x`: no such key");
        assert_eq!(Problem::new("r.yaml", Spot::default(), "empty").to_string(), "r.yaml: empty");
    }
}
