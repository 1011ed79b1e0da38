// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How sure a fact is.

use serde::Serialize;

/// How sure a fact is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// It holds whenever the call runs: every word it was read from is known.
    #[default]
    Certain,
    /// It may hold: a word is a pattern or only known when it runs, only zsh reads the text this way, or it is in a
    /// function that is not called by its name.
    Possible,
}

impl Certainty {
    /// Whether the fact holds whenever the call runs.
    pub fn is_certain(&self) -> bool {
        *self == Self::Certain
    }
}
