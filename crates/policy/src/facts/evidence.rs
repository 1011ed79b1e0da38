// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How sure a fact is, and which part of the call it comes from.

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

/// The part of a call's shell text that a fact was read from. What runs inside another command, such as the script
/// of `bash -c`, has the span of the outermost command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct TextSpan {
    /// Number of the text among the commands of the call; the first is 0.
    pub text: u32,
    /// First byte.
    pub start: u32,
    /// First byte after it.
    pub end: u32,
}
