// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tool calls: one row for a call, its decision and its result.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::LedgerLine;

/// A page of tool calls, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallPage {
    /// The rows of this page.
    pub rows: Vec<ToolCallRow>,
    /// Value of `before` that requests the next page.
    pub next: Option<u64>,
    /// Total number of records in the ledger.
    pub size: u64,
}

/// A tool call, a prompt, or several other records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCallRow {
    /// The record of the decision; the newest record of a row of several records.
    #[serde(flatten)]
    pub line: LedgerLine,
    /// The harness's id for the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Whether the decision changed the arguments of the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rewritten: bool,
    /// Result of the call; absent if the call was denied or its result is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ToolRunResult>,
    /// Records that are not tool calls; absent in the row of a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<FoldedRecords>,
}

/// Result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolRunResult {
    /// Number of the record of the result.
    pub seq: u64,
    /// Whether the call failed.
    pub failed: bool,
    /// Run time of the tool, in milliseconds.
    pub ran_ms: Option<u64>,
    /// The error of a call that failed.
    pub error: Option<String>,
}

/// Neighbouring records that are not tool calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldedRecords {
    /// Number of the oldest record.
    pub first: u64,
    /// Number of the records.
    pub count: u64,
    /// Number of the records by kind of event, or by kind of record if a record has no event.
    pub events: BTreeMap<String, u64>,
}
