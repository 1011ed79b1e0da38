// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Findings: the result of one hook or rule for one event.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Decision, Flow, Modification};

/// Where a finding comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub enum Origin {
    /// A hook, by its id; written `hook:<id>`.
    Hook(Arc<str>),
    /// A rule, by its id; written `rule:<id>`.
    Rule(Arc<str>),
    /// Tenterhook itself, if a failure caused the decision; written `engine`.
    Engine,
}

/// The error for a string that is not a valid origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid origin `{0}` (expected `hook:<id>`, `rule:<id>` or `engine`)")]
pub struct ParseOriginError(String);

/// A value together with the hook or rule that produced it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Said"))]
pub struct Attributed<T> {
    /// The hook or rule that produced the value.
    pub by: Origin,
    /// The reason, suggestion, text or modification.
    #[serde(rename = "said")]
    pub value: T,
}

/// The result of one hook or rule for one event. [`Finding::silent`] is the empty result.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The hook or rule that produced the finding.
    pub by: Origin,
    /// Decision about the tool call, prompt or other action.
    pub decision: Decision,
    /// Whether the agent may continue.
    pub flow: Flow,
    /// Reason for the decision, shown to the model and the user.
    pub reason: Option<String>,
    /// Suggestion of what the agent could do instead.
    pub nudge: Option<String>,
    /// Changes to the tool call, the model request or their results.
    pub modifications: Vec<Modification>,
    /// Additional text for the model.
    pub context: Option<String>,
    /// Message for the user.
    pub message: Option<String>,
    /// Whether the output is hidden from the user.
    pub suppress_output: bool,
}

// === impl Origin ===

impl Origin {
    /// Creates the origin of the hook with this id.
    pub fn hook(id: &str) -> Self {
        Self::Hook(id.into())
    }

    /// Creates the origin of the rule with this id.
    pub fn rule(id: &str) -> Self {
        Self::Rule(id.into())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hook(id) => write!(f, "hook:{id}"),
            Self::Rule(id) => write!(f, "rule:{id}"),
            Self::Engine => f.write_str("engine"),
        }
    }
}

impl FromStr for Origin {
    type Err = ParseOriginError;

    fn from_str(text: &str) -> Result<Self, ParseOriginError> {
        match text.split_once(':') {
            Some(("hook", id)) => Ok(Self::hook(id)),
            Some(("rule", id)) => Ok(Self::rule(id)),
            None if text == "engine" => Ok(Self::Engine),
            _ => Err(ParseOriginError(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Origin {
    type Error = ParseOriginError;

    fn try_from(text: String) -> Result<Self, ParseOriginError> {
        text.parse()
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> Self {
        origin.to_string()
    }
}

// === impl Finding ===

impl Finding {
    /// Creates a finding without a decision and without changes.
    pub fn silent(by: Origin) -> Self {
        Self {
            by,
            decision: Decision::None,
            flow: Flow::Go,
            reason: None,
            nudge: None,
            modifications: Vec::new(),
            context: None,
            message: None,
            suppress_output: false,
        }
    }

    /// Creates a finding with a decision and its reason.
    pub fn decided(by: Origin, decision: Decision, reason: impl Into<String>) -> Self {
        Self { decision, reason: Some(reason.into()), ..Self::silent(by) }
    }
}
