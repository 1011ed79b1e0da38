// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A compiled rule, as the rest of the program sees it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tenterhook_event::Decision;

use crate::compile::Matcher;
use crate::source::Layer;

/// A compiled rule.
#[derive(Debug)]
pub struct Rule {
    pub(crate) id: Arc<str>,
    pub(crate) description: String,
    pub(crate) severity: Severity,
    pub(crate) mode: Mode,
    pub(crate) layer: Layer,
    pub(crate) source: Arc<str>,
    pub(crate) line: usize,
    pub(crate) matcher: Matcher,
    pub(crate) verdict: Decision,
    /// What to say about an unread text that mentions what the rule looks for; `None` says nothing.
    pub(crate) unread: Option<Decision>,
    pub(crate) reason: Option<String>,
    pub(crate) nudge: Option<String>,
}

/// How bad it would be if the thing happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Severity {
    /// A nuisance.
    Low,
    /// Worth a look.
    #[default]
    Medium,
    /// Hard to undo.
    High,
    /// Cannot be undone.
    Critical,
}

/// Whether a rule decides or only watches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Mode {
    /// What the rule says counts.
    #[default]
    Enforce,
    /// What the rule would have said is recorded and changes nothing.
    Monitor,
}

// === impl Rule ===

impl Rule {
    /// Its name, unique in the set.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it is for.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// How bad it would be.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// What it says when it matches.
    pub fn verdict(&self) -> Decision {
        self.verdict
    }

    /// Whether it decides or only watches.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whose rule it is.
    pub fn layer(&self) -> Layer {
        self.layer
    }

    /// The name of the file it comes from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The line of that file on which it begins.
    pub fn line(&self) -> usize {
        self.line
    }
}

// === impl Severity ===

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        })
    }
}

// === impl Mode ===

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Enforce => "enforce",
            Self::Monitor => "monitor",
        })
    }
}
