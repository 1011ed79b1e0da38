// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Summarizes the recorded session, briefly enough for one page.

use std::fmt::Write as _;

use tenterhook_api::{SessionDetails, SessionList};

use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, BOLD, DIM, GOOD, Terminal, WARN, tame};
use tenterhook_terminal_text::fit;

/// Width of a rule's name, in columns.
const RULE_COLUMNS: usize = 24;

/// Returns the summary of the latest session.
pub(super) fn latest_session_text(context: &Context) -> Result<String, CommandError> {
    let home = context.home()?;
    let none = || CommandError::internal("the demo's daemon has no session");
    let list: SessionList = ask::get_as(home, "/v1/sessions")?.ok_or_else(none)?;
    let id = &list.sessions.first().ok_or_else(none)?.id;
    let session = ask::get_as(home, &format!("/v1/sessions/{id}"))?.ok_or_else(none)?;
    Ok(session_summary(&session, Terminal::width().min(100)))
}

fn session_summary(session: &SessionDetails, width: usize) -> String {
    let mut out = format!("\n{BOLD}What the daemon recorded{BOLD:#}\n  {}\n", session_counts(session));
    let _ = writeln!(out, "\n{BOLD}Files changed{BOLD:#}");
    for file in &session.changed_files {
        let (added, removed) = (file.added, file.removed);
        let change = if file.deleted {
            "deleted".to_owned()
        } else {
            format!("{GOOD}+{added}{GOOD:#} {BAD}−{removed}{BAD:#}")
        };
        let _ = writeln!(out, "  {} {change}", fit(&tame(&file.shown), 16));
    }
    let marks = [(&session.denials, "Denied", BAD, "✗"), (&session.asks, "Asked", WARN, "?")];
    for (calls, heading, style, mark) in marks {
        if calls.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{BOLD}{heading}{BOLD:#}");
        let text = |text: &Option<String>| text.as_deref().map(tame).unwrap_or_default();
        let mut rows: Vec<_> = calls.iter().map(|call| (text(&call.gist), text(&call.rule))).collect();
        // The rules ask about a call before it is made, and again when permission is requested.
        rows.dedup();
        for (gist, rule) in rows {
            let gist = fit(&gist, width.saturating_sub(RULE_COLUMNS + 6));
            let _ = writeln!(out, "  {style}{mark}{style:#} {gist}  {DIM}{rule}{DIM:#}");
        }
    }
    out
}

/// Formats the session's counts: `12 calls: 8 ok, 1 failed, 3 denied; 7323 tokens`.
fn session_counts(session: &SessionDetails) -> String {
    let calls = session.summary.calls;
    let parts =
        [(calls.ok, "ok"), (calls.failed, "failed"), (calls.asked, "asked"), (calls.denied, "denied")];
    let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let usage = &session.summary.usage;
    let tokens = usage.input_tokens + usage.output_tokens;
    format!("{} calls: {}; {tokens} tokens", calls.calls, parts.collect::<Vec<_>>().join(", "))
}
