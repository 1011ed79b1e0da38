// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Options that select records.

use tenterhook_event::Timestamp;
use tenterhook_home::call_meta::now_ms;
use tenterhook_ledger::{Filter, LeafKind};
use tenterhook_records::time_spec::{TimeSpecError, parse_time_spec};

use crate::context::Context;
use crate::error::CommandError;
use crate::sessions::resolve_session_id;

/// Filter options of `tail`, `query`, `stats` and `report`.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct FilterArgs {
    /// Only this session: its id or a part of it, a record number in it, or `last`
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Only this harness, such as claude-code
    #[arg(long, value_name = "HARNESS")]
    harness: Option<String>,
    /// Only this tool; use the harness's name for it
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Only this verdict
    #[arg(long, value_parser = ["none", "allow", "defer", "ask", "deny"])]
    verdict: Option<String>,
    /// Only decisions by this rule
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// Only this kind of record
    #[arg(long, value_parser = ["start", "decision", "seen", "change", "erase", "rotate", "prune"])]
    kind: Option<String>,
    /// Only records since: 15m, 24h, 7d, 2026-11-15 or 2026-11-15T08:00:00Z
    #[arg(long, value_name = "WHEN", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Only records before this time
    #[arg(long, value_name = "WHEN", value_parser = parse_time)]
    until: Option<Timestamp>,
    /// Only records that contain this text, in the record or its payload
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

impl FilterArgs {
    /// Returns the filter, with the session resolved.
    pub(super) fn filter(&self, context: &Context) -> Result<Filter, CommandError> {
        let Self { session, harness, tool, verdict, rule, kind, since, until, text } = self.clone();
        let session = session.map(|session| resolve_session_id(context, &session)).transpose()?;
        Ok(Filter {
            session,
            harness,
            tool,
            verdict,
            rule,
            kind: kind.as_deref().and_then(kind_of),
            from_ms: since.map(Timestamp::unix_ms),
            until_ms: until.map(Timestamp::unix_ms),
            text,
            before: None,
        })
    }
}

fn kind_of(word: &str) -> Option<LeafKind> {
    LeafKind::ALL.iter().copied().find(|kind| kind.as_str() == word)
}

/// Parses a time: an age such as `15m`, a day in UTC, or a timestamp.
pub fn parse_time(text: &str) -> Result<Timestamp, TimeSpecError> {
    parse_time_spec(text, now_ms())
}
