// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Activity: decisions over time, and what stopped them.

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;

/// Decisions in a time range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Activity {
    /// Start of the first bucket. It is not before the first matching record.
    pub from: Timestamp,
    /// End of the time range.
    pub until: Timestamp,
    /// Duration of a bucket, in milliseconds.
    pub bucket_ms: u64,
    /// The buckets, oldest first; buckets without decisions are left out.
    pub buckets: Vec<ActivityBucket>,
    /// Counts for the whole range.
    pub total: DecisionCounts,
    /// Decision time over the whole range; absent without decisions.
    pub decision_time: Option<DecisionTime>,
    /// Rules that denied or asked, most frequent first.
    pub rules: Vec<NamedCounts>,
    /// Harnesses, most frequent first.
    pub harnesses: Vec<NamedCounts>,
    /// Tools, most frequent first.
    pub tools: Vec<NamedCounts>,
    /// Whether the decision times come from a sample of the records. Counts are always exact.
    pub sampled: bool,
}

/// Decisions in one bucket of a time range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActivityBucket {
    /// Start of the bucket.
    pub at: Timestamp,
    /// Number of decisions.
    pub counts: DecisionCounts,
    /// Decision time; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_time: Option<DecisionTime>,
}

/// Number of decisions by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionCounts {
    /// Number of all decisions.
    pub all: u64,
    /// Number of calls that a user was asked about.
    pub asked: u64,
    /// Number of denials.
    pub denied: u64,
}

/// Number of decisions for one rule, harness or tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedCounts {
    /// Name of the rule, harness or tool.
    pub name: String,
    /// Number of decisions.
    pub counts: DecisionCounts,
}

/// Percentiles of the decision time, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionTime {
    /// Median of the decision time.
    pub p50_us: u64,
    /// 95th percentile of the decision time.
    pub p95_us: u64,
    /// 99th percentile of the decision time.
    pub p99_us: u64,
}
