// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Regular expressions that are built when they are first needed: building one takes longer than
//! judging a call by all rules.

use std::fmt;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};

/// A built pattern may take this much memory; only a repetition of repetitions takes more.
const LARGEST: usize = 1 << 20;

/// A regular expression.
pub(crate) struct Pattern {
    text: Box<str>,
    built: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// A pattern that has been tried, or is going to be.
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.into(), built: OnceLock::new() }
    }

    /// Builds it and says what is wrong with it.
    pub(crate) fn attempt(text: &str) -> Result<(), String> {
        build(text).map(drop).map_err(|error| {
            // The library draws a picture of several lines; its last line says what is wrong.
            let long = error.to_string();
            let last = long.lines().last().unwrap_or_default();
            let what = last.trim().trim_start_matches("error: ").to_ascii_lowercase();
            format!("`{text}` is no regular expression: {what}")
        })
    }

    /// Whether it matches somewhere in the text. One that cannot be built matches everything: a rule
    /// that cannot be asked counts as matched.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        let built = self.built.get_or_init(|| build(&self.text).ok());
        built.as_ref().is_none_or(|pattern| pattern.is_match(text))
    }
}

fn build(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).size_limit(LARGEST).build()
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.text)
    }
}
