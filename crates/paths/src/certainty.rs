// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines the certainty of facts.

use serde::Serialize;

/// Whether a fact is certain or only possible.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// The fact is true whenever the call runs: every word it was derived from is known.
    #[default]
    Certain,
    /// The fact may be true. There are three reasons for doubt: a word is a pattern or is known only at run time, only
    /// zsh parses the text as this fact assumes, or the command is in a function that is never called by name.
    Possible,
}

impl Certainty {
    /// Whether the fact is true whenever the call runs.
    pub fn is_certain(&self) -> bool {
        *self == Self::Certain
    }
}
