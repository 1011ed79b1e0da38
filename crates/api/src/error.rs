// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Error responses and problems found in files.

use serde::{Deserialize, Serialize};

use crate::PolicyValidation;

/// Body of every error response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorResponse {
    /// What went wrong.
    pub error: ErrorDetail,
    /// Result of the policy check, if a policy was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<PolicyValidation>,
    /// Problems in the policy, if it was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problems: Option<Vec<FileProblem>>,
}

/// What went wrong, and what to do next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorDetail {
    /// What went wrong.
    pub message: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// One problem in a file. The entry with the problem is ignored; the rest of the file is in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileProblem {
    /// File with the problem.
    pub source: String,
    /// Line, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Column, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The entry with the problem, such as ``rule `x` ``.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Description of the problem.
    pub message: String,
    /// How to fix the problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Empty response body.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EmptyResponse {}
