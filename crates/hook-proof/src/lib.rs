// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs a client once against a scripted model on loopback. Reports whether the client called its hook and obeyed the
//! hook's deny.
//!
//! A [`ProofStage`] is a temporary state directory with a rule that denies one of two harmless commands. A [`Canary`]
//! is one client with a copy of its settings, an empty home directory and a clean environment. The proof does not use
//! the user's settings, ledger or daemon.

mod canary;
mod stage;

use serde::Serialize;

pub use canary::Canary;
pub use stage::ProofStage;

/// Result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofResult {
    /// The client called the hook and obeyed its deny.
    Proven,
    /// The hook was not called for the tool call.
    NotFired,
    /// The hook denied the command, but the client ran it.
    NotObeyed,
    /// The client could not be run against the scripted model.
    NotProvable,
}

/// A result with its explanation.
#[derive(Debug)]
pub struct ProofVerdict {
    /// The result itself.
    pub result: ProofResult,
    /// Explanation of the result.
    pub reason: String,
    /// Hint for the user.
    pub fix: Option<String>,
}

impl ProofVerdict {
    pub(crate) fn new(result: ProofResult, reason: impl Into<String>) -> Self {
        Self { result, reason: reason.into(), fix: None }
    }

    /// A result for a client that could not be run.
    pub fn not_provable(reason: impl Into<String>) -> Self {
        Self::new(ProofResult::NotProvable, reason)
    }

    /// Adds a hint for the user.
    #[must_use]
    pub fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}
