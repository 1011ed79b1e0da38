// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Errors, and problems in files.

use serde::{Deserialize, Serialize};

use crate::PolicyValidation;

/// Body of every response that is not a success.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorResponse {
    /// What went wrong.
    pub error: ErrorDetail,
    /// Result of the check, if a policy was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<PolicyValidation>,
    /// Problems of the policy, if one was rejected.
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

/// One problem in a file. The entry it names was rejected; everything else is in force.
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
    /// The entry it is about, such as ``rule `x` ``.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Response without content.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EmptyResponse {}
