// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where rules come from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One rule file: its text, and what to call it in messages.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The file's name, for messages.
    pub name: &'a str,
    /// Its YAML text.
    pub text: &'a str,
    /// Whose rules these are.
    pub layer: Layer,
}

/// Whose rules they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// The packs compiled in.
    Baseline,
    /// The organisation's.
    Organisation,
    /// The person's.
    User,
    /// The project's own.
    Project,
}

// === impl Layer ===

impl Layer {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Organisation => "organisation",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
