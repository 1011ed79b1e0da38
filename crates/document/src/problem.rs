// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What is wrong with a file, said so that a person can mend it.

use std::fmt;

use serde::Serialize;

/// One thing that is wrong in a file. What it names was refused; everything else stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file.
    pub source: String,
    /// Line, counted from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Column, counted from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The entry it is about, where its id could be read: ``rule `x` ``, ``hook `y` ``.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A place in a file; zero means unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
}

// === impl Problem ===

impl Problem {
    /// A problem at a place.
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

    /// A problem with a whole file.
    pub fn whole(source: &str, message: impl Into<String>) -> Self {
        Self::new(source, Spot::default(), message)
    }

    /// The entry it is about: a `kind` and its id.
    #[must_use]
    pub fn about(self, kind: &str, id: Option<&str>) -> Self {
        Self { about: id.map(|id| format!("{kind} `{id}`")), ..self }
    }

    /// What to do about it.
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
