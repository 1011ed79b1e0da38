// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs a client once against a scripted model on loopback, and reports whether its hook fired and its denial was obeyed.
//!
//! A [`ProofStage`] is a temporary state directory with a rule that denies one of two harmless commands. A [`Canary`] is
//! one client with a copy of its settings there, an empty home and a clean environment. The user's own settings, ledger
//! and daemon are not used.

mod canary;
mod stage;

use serde::Serialize;

pub use canary::Canary;
pub use stage::ProofStage;

/// What a run of a client has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofResult {
    /// The hook fired, and the client obeyed its denial.
    Proven,
    /// The hook was not called for the tool call.
    NotFired,
    /// The hook denied the command, and it ran.
    NotObeyed,
    /// The client could not be run this way.
    NotProvable,
}

/// A result with the sentence that explains it.
#[derive(Debug)]
pub struct ProofVerdict {
    /// The result.
    pub result: ProofResult,
    /// What happened.
    pub reason: String,
    /// What to do about it.
    pub fix: Option<String>,
}

impl ProofVerdict {
    pub(crate) fn new(result: ProofResult, reason: impl Into<String>) -> Self {
        Self { result, reason: reason.into(), fix: None }
    }

    /// The client could not be run this way.
    pub fn not_provable(reason: impl Into<String>) -> Self {
        Self::new(ProofResult::NotProvable, reason)
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}
