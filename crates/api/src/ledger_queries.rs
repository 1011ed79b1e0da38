// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Queries on the ledger.

use serde::{Deserialize, Serialize};
use tenterhook_event::Decision;

/// Selects records. A record must match all given fields.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LedgerFilter {
    /// Only records from this session.
    pub session: Option<String>,
    /// Only records from this harness.
    pub harness: Option<String>,
    /// Only records about this tool, by the harness's name for it.
    pub tool: Option<String>,
    /// Only records with this verdict.
    pub verdict: Option<Decision>,
    /// Only records decided by this rule.
    pub rule: Option<String>,
    /// Only records of this kind.
    pub kind: Option<RecordKind>,
    /// Only records since this time: `15m`, `24h`, `7d`, `2026-11-15` or `2026-11-15T08:00:00Z`.
    pub since: Option<String>,
    /// Only records before this time.
    pub until: Option<String>,
    /// Only records with this text in the envelope or the payload.
    pub text: Option<String>,
}

/// Kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// A daemon started.
    Start,
    /// An event was decided.
    Decision,
    /// An event was imported from a transcript.
    Seen,
    /// A setting changed.
    Change,
    /// Payloads were erased.
    Erase,
    /// The signing key changed.
    Rotate,
    /// Records were pruned.
    Prune,
}

/// Defines a query type with the fields of [`LedgerFilter`] and more. The fields are repeated, because query strings
/// cannot be read through `flatten`.
macro_rules! ledger_query {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty),* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// Only records from this session.
            pub session: Option<String>,
            /// Only records from this harness.
            pub harness: Option<String>,
            /// Only records about this tool, by the harness's name for it.
            pub tool: Option<String>,
            /// Only records with this verdict.
            pub verdict: Option<Decision>,
            /// Only records decided by this rule.
            pub rule: Option<String>,
            /// Only records of this kind.
            pub kind: Option<RecordKind>,
            /// Only records since this time: `15m`, `24h`, `7d`, `2026-11-15` or `2026-11-15T08:00:00Z`.
            pub since: Option<String>,
            /// Only records before this time.
            pub until: Option<String>,
            /// Only records with this text in the envelope or the payload.
            pub text: Option<String>,
            $($(#[$doc])* pub $field: Option<$type>,)*
        }

        impl $name {
            /// Returns the part of the query that selects records.
            pub fn filter(self) -> LedgerFilter {
                let Self { session, harness, tool, verdict, rule, kind, since, until, text, .. } = self;
                LedgerFilter { session, harness, tool, verdict, rule, kind, since, until, text }
            }
        }
    };
}

ledger_query! {
    /// Selects the records to return and their maximum number.
    LedgerQuery {
        /// Maximum number of records; default 50 (100 in `/v1/ledger/lines`), maximum 1000.
        limit: u64,
        /// Only records before this record number: the `next` of the previous page.
        before: u64
    }
}

ledger_query! {
    /// Selects the records to count.
    LedgerStatsQuery {}
}

ledger_query! {
    /// Selects the records to follow.
    LedgerTailQuery {
        /// Number of the first record to send; by default the next record to be written.
        from: u64
    }
}

ledger_query! {
    /// Selects the tool calls to return and their maximum number.
    CallQuery {
        /// Which calls to return; all by default.
        show: CallSelection,
        /// Maximum number of rows; default 100, maximum 500.
        limit: u64,
        /// Only records before this record number: the `next` of the previous page.
        before: u64
    }
}

ledger_query! {
    /// Selects the records whose activity to summarize.
    ActivityQuery {
        /// Maximum number of time buckets; default 60, maximum 240.
        buckets: u64
    }
}

/// Which tool calls a list contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CallSelection {
    /// Calls that were asked about, denied, rewritten, or failed.
    Notable,
    /// All calls. Other records between them are counted in one row.
    #[default]
    All,
}

/// Query parameters of an export.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportQuery {
    /// The export format; `jsonl` by default.
    pub format: Option<ExportFormat>,
}

/// Format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    /// One JSON object per line; `tenterhook ledger verify --file` can check this format.
    Jsonl,
    /// Comma-separated values, one row per record.
    Csv,
}

/// Selects the records that a report covers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportQuery {
    /// Only records since this time: `24h`, `7d`, `2026-11-15`.
    pub since: Option<String>,
    /// Only records from this session.
    pub session: Option<String>,
}
