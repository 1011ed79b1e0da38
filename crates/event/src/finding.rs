// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What one hook or rule said about one event.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Decision, Flow, Modification};

/// Who said something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub enum Origin {
    /// A hook, by its id; written `hook:<id>`.
    Hook(Arc<str>),
    /// A rule, by its id; written `rule:<id>`.
    Rule(Arc<str>),
    /// Tenterhook itself: a failure that had to become a decision; written `engine`.
    Engine,
}

/// The text names no hook, rule or engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no origin (`hook:<id>`, `rule:<id>` or `engine`)")]
pub struct ParseOriginError(String);

/// Something said, and who said it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Said<T> {
    /// Who said it.
    pub by: Origin,
    /// What was said.
    #[serde(rename = "said")]
    pub what: T,
}

/// What one hook or rule said about one event. [`Finding::silent`] objects to nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Who says it.
    pub by: Origin,
    /// About the thing itself.
    pub decision: Decision,
    /// About the agent going on.
    pub flow: Flow,
    /// Why.
    pub reason: Option<String>,
    /// What the agent could do instead.
    pub nudge: Option<String>,
    /// What should be different.
    pub modifications: Vec<Modification>,
    /// What the model should know.
    pub context: Option<String>,
    /// What the person should know.
    pub message: Option<String>,
    /// Keep the output from the person's eyes.
    pub suppress_output: bool,
}

// === impl Origin ===

impl Origin {
    /// A hook of this id.
    pub fn hook(id: &str) -> Self {
        Self::Hook(id.into())
    }

    /// A rule of this id.
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
    /// Nothing to object, nothing to add.
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

    /// A decision with its reason.
    pub fn decided(by: Origin, decision: Decision, reason: impl Into<String>) -> Self {
        Self { decision, reason: Some(reason.into()), ..Self::silent(by) }
    }
}
