// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Queries of the ledger.

use serde::{Deserialize, Serialize};
use tenterhook_event::Decision;

/// Which records match.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LedgerFilter {
    /// Only records of this session.
    pub session: Option<String>,
    /// Only records of this harness.
    pub harness: Option<String>,
    /// Only records about this tool, as the harness names it.
    pub tool: Option<String>,
    /// Only records with this verdict.
    pub verdict: Option<Decision>,
    /// Only records that this rule decided.
    pub rule: Option<String>,
    /// Only records of this kind.
    pub kind: Option<RecordKind>,
    /// Only records since then: `15m`, `24h`, `7d`, `2026-11-15` or `2026-11-15T08:00:00Z`.
    pub since: Option<String>,
    /// Only records before then.
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
    /// The key changed.
    Rotate,
    /// Records were pruned.
    Prune,
}

/// Makes a query of the fields of [`LedgerFilter`] and more: query strings cannot be read through `flatten`.
macro_rules! ledger_query {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident),* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// Only records of this session.
            pub session: Option<String>,
            /// Only records of this harness.
            pub harness: Option<String>,
            /// Only records about this tool, as the harness names it.
            pub tool: Option<String>,
            /// Only records with this verdict.
            pub verdict: Option<Decision>,
            /// Only records that this rule decided.
            pub rule: Option<String>,
            /// Only records of this kind.
            pub kind: Option<RecordKind>,
            /// Only records since then: `15m`, `24h`, `7d`, `2026-11-15` or `2026-11-15T08:00:00Z`.
            pub since: Option<String>,
            /// Only records before then.
            pub until: Option<String>,
            /// Only records with this text in the envelope or the payload.
            pub text: Option<String>,
            $($(#[$doc])* pub $field: Option<u64>,)*
        }

        impl $name {
            /// Which records match.
            pub fn filter(self) -> LedgerFilter {
                let Self { session, harness, tool, verdict, rule, kind, since, until, text, .. } = self;
                LedgerFilter { session, harness, tool, verdict, rule, kind, since, until, text }
            }
        }
    };
}

ledger_query! {
    /// Which records to return, and how many.
    LedgerQuery {
        /// Number of records; 50 by default (100 in `/v1/ledger/lines`), 1000 at most.
        limit,
        /// Only records before this one: the `next` of the previous page.
        before
    }
}

ledger_query! {
    /// Which records to count.
    LedgerStatsQuery {}
}

ledger_query! {
    /// Which records to follow.
    LedgerTailQuery {
        /// Start with this record; by default with the next one.
        from
    }
}

/// Format of an export.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportQuery {
    /// The format; `jsonl` by default.
    pub format: Option<ExportFormat>,
}

/// Format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    /// One JSON object per line, which `tenterhook ledger verify --file` checks.
    Jsonl,
    /// A table with one row per record.
    Csv,
}

/// What a report covers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportQuery {
    /// Only records since then: `24h`, `7d`, `2026-11-15`.
    pub since: Option<String>,
    /// Only records of this session.
    pub session: Option<String>,
}
